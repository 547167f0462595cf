import { useAccount } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { DialogButton } from '../../ui/Dialog.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { OwnProof, proofIn } from '../../ui/passwords.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { ACCOUNTS, type AccountDetails } from './operator-api.ts';
import { rich, t } from '../../words/rich.ts';

interface ErasureSectionProps {
  readonly account: AccountDetails;
  readonly onErased: () => void;
}

/** Why the account cannot be erased. */
function obstacle({ hold }: AccountDetails, isOwn: boolean): string | undefined {
  if (hold !== null) {
    return t('A hold is in force, which keeps the account from being erased. Release it first.');
  }
  return isOwn
    ? t('This is your own account. Another operator can erase it, or pressledger account erase.')
    : undefined;
}

export function ErasureSection({ account, onErased }: ErasureSectionProps) {
  const isOwn = useAccount().data?.id === account.id;
  const reason = obstacle(account, isOwn);
  return (
    <Section
      title={t('Erase the account')}
      lead={t('Destroys the account with all its documents, for good.')}
      actions={
        <DialogButton
          look="danger"
          icon="trash"
          isDisabled={reason !== undefined}
          text={t('Erase the account')}
          title={t('Erase the account of {email}?', { email: account.email })}
        >
          {(close) => (
            <>
              <Notice kind="warning">{t('This cannot be undone by anybody.')}</Notice>
              <ul className="bullets">
                <li>{t('All API keys, sessions and links of the account end at once.')}</li>
                <li>{t('Conversions that are not finished fail, and new ones are refused.')}</li>
                <li>
                  {rich('All stored documents are deleted: {stored_bytes} of PDFs and requests.', {
                    stored_bytes: formatBytes(account.stored_bytes),
                  })}
                </li>
                <li>
                  {t(
                    'The data key of the account is destroyed: nobody can read its address, names or texts in the log any more.',
                  )}
                </li>
                <li>
                  {t(
                    'The log keeps ids, times, plan, credits, sizes and hashes of PDFs. Copies that customers downloaded, and backups of the keyring, are not reached.',
                  )}
                </li>
              </ul>
              <EraseForm account={account} onErased={onErased} onCancel={close} />
            </>
          )}
        </DialogButton>
      }
    >
      {reason === undefined ? (
        <p>{t('You are told what is destroyed, and asked for your password, before it begins.')}</p>
      ) : (
        <Notice kind="warning">{reason}</Notice>
      )}
    </Section>
  );
}

interface EraseFormProps extends ErasureSectionProps {
  readonly onCancel: () => void;
}

/** Asks for the password of the operator, and for the address, typed again. */
function EraseForm({ account: { id }, onErased, onCancel }: EraseFormProps) {
  return (
    <SendForm
      action={t('Erase the account for good')}
      look="danger"
      onCancel={onCancel}
      onSend={async (textOf) => {
        const body = { email: textOf('email'), ...proofIn(textOf) };
        const params = { path: { id } };
        await dataOf(api.POST('/api/v1/operator/accounts/{id}/erase/', { params, body }));
        onErased();
        queryClient.removeQueries({ queryKey: [...ACCOUNTS, 'one', id] });
        void queryClient.invalidateQueries({ queryKey: [...ACCOUNTS, 'list'] });
        return t('The account is erased.');
      }}
    >
      <TextField
        label={t('Address of the account to erase')}
        name="email"
        inputMode="email"
        hint={t('Type it again, whole.')}
        autoComplete="off"
        isRequired
      />
      <OwnProof />
    </SendForm>
  );
}
