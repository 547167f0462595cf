import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { formText } from '../../ui/form-text.ts';
import { Notice } from '../../ui/Notice.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { PLAN_CHOICES, type Plan } from '../../ui/plans.ts';
import { Select } from '../../ui/Select.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { announce } from '../../ui/Toasts.tsx';
import styles from './operations.module.css';
import { forgetAccounts, operatorData } from './operator-api.ts';
import { useSending } from './useSending.ts';

type OpenedAccount = components['schemas']['OpenedAccount'];

/** The shortest that the service takes. */
const SHORTEST_PASSWORD = 12;

interface OpenAccountDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Asks for the account, then shows the password where the service made it: it is never shown again. */
export function OpenAccountDialog({ isOpen, onClose }: OpenAccountDialogProps) {
  const navigate = useNavigate();
  const [opened, setOpened] = useState<OpenedAccount>();
  const goTo = async ({ id }: OpenedAccount) => {
    setOpened(undefined);
    onClose();
    await navigate({ to: '/operations/accounts/$id', params: { id } });
  };
  if (opened?.password !== undefined) {
    return (
      <Dialog title="The account is open" isOpen={isOpen} onClose={onClose} keep>
        <Notice kind="warning">
          Copy the password of {opened.email} now and pass it on safely. It is shown only this once.
        </Notice>
        <Code code={opened.password} copyLabel="Copy the password" wrap />
        <DialogActions>
          <Button look="primary" onPress={() => void goTo(opened)}>
            I have copied the password
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <Dialog title="Open an account" isOpen={isOpen} onClose={onClose}>
      <OpeningForm
        onCancel={onClose}
        onOpened={async (account) => {
          announce(`The account of ${account.email} is open.`);
          if (account.password === undefined) await goTo(account);
          else setOpened(account);
          await forgetAccounts();
        }}
      />
    </Dialog>
  );
}

interface OpeningFormProps {
  readonly onCancel: () => void;
  readonly onOpened: (account: OpenedAccount) => Promise<void>;
}

function OpeningForm({ onCancel, onOpened }: OpeningFormProps) {
  const [plan, setPlan] = useState<Plan>('free');
  const { isPending, errorOf, otherError, clear, send } = useSending([
    'email',
    'plan',
    'credits',
    'password',
  ]);
  const open = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const credits = formText(form, 'credits');
    const password = formText(form, 'password');
    const body = {
      email: formText(form, 'email'),
      plan,
      ...(credits !== '' && { credits: Number(credits) }),
      ...(password !== '' && { password }),
    };
    void send(async () => {
      await onOpened(await operatorData(api.POST('/api/v1/operator/accounts/', { body })));
    });
  };
  return (
    <Form className={styles.form} onSubmit={open}>
      {otherError !== undefined && <Notice kind="danger">{otherError}</Notice>}
      <TextField
        label="Email"
        name="email"
        inputMode="email"
        error={errorOf('email')}
        onChange={clear}
        maxLength={320}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <Select
        label="Plan"
        choices={PLAN_CHOICES}
        value={plan}
        onChange={setPlan}
        error={errorOf('plan')}
      />
      <NumberField
        label="Credits to begin with"
        name="credits"
        hint="Without a number, as many as new accounts get."
        minValue={0}
        error={errorOf('credits')}
        onChange={clear}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        hint={`At least ${SHORTEST_PASSWORD} characters. Without one, the service makes it and shows it once.`}
        minLength={SHORTEST_PASSWORD}
        error={errorOf('password')}
        onChange={clear}
        autoComplete="new-password"
      />
      <DialogActions>
        <Button onPress={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isPending={isPending}>
          Open the account
        </Button>
      </DialogActions>
    </Form>
  );
}
