import type { FormEvent } from 'react';
import { Form } from 'react-aria-components';
import { useAccount } from '../../api/account.ts';
import { api } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { formText } from '../../ui/form-text.ts';
import { formatBytes } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { announce } from '../../ui/Toasts.tsx';
import styles from './operations.module.css';
import { ACCOUNTS, type AccountDetails, operatorData } from './operator-api.ts';
import { useSending } from './useSending.ts';

interface EraseDialogProps {
  readonly account: AccountDetails;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onErased: () => void;
}

/** Says what is destroyed, then asks for the password of the operator and for the address, typed again. */
export function EraseDialog({ account, isOpen, onClose, onErased }: EraseDialogProps) {
  return (
    <Dialog title={`Erase the account of ${account.email}?`} isOpen={isOpen} onClose={onClose}>
      <Notice kind="warning">This cannot be undone by anybody.</Notice>
      <ul className={styles.consequences}>
        <li>All API keys, sessions and links of the account end at once.</li>
        <li>Conversions that are not finished fail, and new ones are refused.</li>
        <li>
          All stored documents are deleted: {formatBytes(account.stored_bytes)} of PDFs and
          requests.
        </li>
        <li>
          The data key of the account is destroyed: nobody can read its address, names or texts in
          the log any more.
        </li>
        <li>
          The log keeps ids, times, plan, credits, sizes and hashes of PDFs. Copies that customers
          downloaded, and backups of the keyring, are not reached.
        </li>
      </ul>
      <EraseForm account={account} onClose={onClose} onErased={onErased} />
    </Dialog>
  );
}

function EraseForm({ account: { id }, onClose, onErased }: Omit<EraseDialogProps, 'isOpen'>) {
  const own = useAccount().data?.email ?? '';
  const { isPending, errorOf, otherError, clear, send } = useSending(['email', 'password']);
  const erase = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = {
      email: formText(form, 'email'),
      password: formText(form, 'password'),
    };
    void send(async () => {
      const params = { path: { id } };
      await operatorData(api.POST('/api/v1/operator/accounts/{id}/erase/', { params, body }));
      announce('The account is erased.');
      onClose();
      onErased();
      queryClient.removeQueries({ queryKey: [...ACCOUNTS, 'one', id] });
      await queryClient.invalidateQueries({ queryKey: [...ACCOUNTS, 'list'] });
    });
  };
  return (
    <Form className={styles.form} onSubmit={erase}>
      {otherError !== undefined && <Notice kind="danger">{otherError}</Notice>}
      <TextField
        label="Address of the account to erase"
        name="email"
        inputMode="email"
        hint="Type it again, whole."
        error={errorOf('email')}
        onChange={clear}
        autoComplete="off"
        isRequired
      />
      <input type="hidden" name="username" autoComplete="username" value={own} readOnly />
      <TextField
        label="Your own password"
        name="password"
        type="password"
        error={errorOf('password')}
        onChange={clear}
        autoComplete="current-password"
        isRequired
      />
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        <Button look="danger" type="submit" isPending={isPending}>
          Erase the account for good
        </Button>
      </DialogActions>
    </Form>
  );
}
