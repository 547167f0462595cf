/** The passkeys of the person who is signed in. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  addPasskey,
  confirmWithPasskey,
  type Passkey,
  passkeysQuery,
  removePasskey,
  renamePasskey,
  whyNone,
} from '../../api/passkeys.ts';
import { usePerson } from '../../api/people.ts';
import { PERSON, queryClient } from '../../api/client.ts';
import { Checkbox } from '../../ui/choices.tsx';
import { DialogButton } from '../../ui/Dialog.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { passwordIn, PresentPassword } from '../../ui/passwords.tsx';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { clientName } from './client-name.ts';
import { SESSIONS } from './SessionsSection.tsx';
import { t } from '../../words/words.ts';

/** A session that has added a passkey has proved it, too. */
const refresh = () =>
  Promise.all(
    [passkeysQuery.queryKey, SESSIONS, PERSON].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  );

/** Asks for the password or a passkey: whoever finds this page open must not get further. */
function useProof() {
  const email = usePerson().data?.email ?? '';
  const has = (useQuery(passkeysQuery).data?.length ?? 0) > 0 && whyNone() === undefined;
  const [byPasskey, setByPasskey] = useState(false);
  const fields = (
    <>
      {!byPasskey && <PresentPassword label={t('Your password')} email={email} />}
      {has && (
        <Checkbox isSelected={byPasskey} onChange={setByPasskey}>
          {t('Use a passkey in place of the password')}
        </Checkbox>
      )}
    </>
  );
  const proofOf = async (textOf: TextOf) =>
    byPasskey ? await confirmWithPasskey() : passwordIn(textOf);
  return { fields, proofOf };
}

function Add({ close }: { readonly close: () => void }) {
  const { fields, proofOf } = useProof();
  const add = async (textOf: TextOf) => {
    const { name } = await addPasskey(textOf('name'), await proofOf(textOf));
    await refresh();
    close();
    return t('The passkey {name} is added.', { name });
  };
  return (
    <SendForm action={t('Add the passkey')} onSend={add} onCancel={close}>
      <TextField
        label={t('Name')}
        name="name"
        defaultValue={clientName(navigator.userAgent) ?? ''}
        hint={t('So that you know later which one it is. Your browser asks next where to keep it.')}
        isRequired
        autoFocus
      />
      {fields}
    </SendForm>
  );
}

function Rename({ passkey, close }: { readonly passkey: Passkey; readonly close: () => void }) {
  const rename = async (textOf: TextOf) => {
    const { name } = await renamePasskey(passkey, textOf('name'));
    await refresh();
    close();
    return t('The passkey is called {name} now.', { name });
  };
  return (
    <SendForm action={t('Rename')} onSend={rename} onCancel={close}>
      <TextField label={t('Name')} name="name" defaultValue={passkey.name} isRequired autoFocus />
    </SendForm>
  );
}

function Remove({ passkey, close }: { readonly passkey: Passkey; readonly close: () => void }) {
  const { fields, proofOf } = useProof();
  const remove = async (textOf: TextOf) => {
    await removePasskey(passkey, await proofOf(textOf));
    await refresh();
    close();
    return t('The passkey {name} is removed.', { name: passkey.name });
  };
  return (
    <SendForm action={t('Remove the passkey')} look="danger" onSend={remove} onCancel={close}>
      <p>
        {t(
          'It does not sign in any more. Remove it from the device or password manager too. Sessions that it has opened go on: end them below.',
        )}
      </p>
      {fields}
    </SendForm>
  );
}

const COLUMNS: readonly Column<Passkey>[] = [
  { header: t('Name'), isRowHeader: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { header: t('Added'), cell: ({ created_at: at }) => <Time iso={at} /> },
  {
    header: t('Last used'),
    cell: ({ last_used_at: at }) => (at === null ? t('Never') : <Time iso={at} />),
  },
  {
    header: t('Actions'),
    isActions: true,
    cell: (passkey) => (
      <span className="line">
        <DialogButton
          small
          text={t('Rename')}
          aria-label={t('Rename {name}', { name: passkey.name })}
          title={t('Rename the passkey {name}', { name: passkey.name })}
        >
          {(close) => <Rename passkey={passkey} close={close} />}
        </DialogButton>
        <DialogButton
          small
          text={t('Remove')}
          aria-label={t('Remove {name}', { name: passkey.name })}
          title={t('Remove the passkey {name}?', { name: passkey.name })}
        >
          {(close) => <Remove passkey={passkey} close={close} />}
        </DialogButton>
      </span>
    ),
  },
];

export function PasskeysSection() {
  const passkeys = useQuery(passkeysQuery);
  const lacking = whyNone();
  return (
    <Section
      title={t('Passkeys')}
      lead={t(
        'A passkey signs you in without a password, and counts as a second factor: your device asks for your finger, your face or a PIN.',
      )}
      actions={
        lacking === undefined && (
          <DialogButton small text={t('Add a passkey')} title={t('Add a passkey')}>
            {(close) => <Add close={close} />}
          </DialogButton>
        )
      }
    >
      {lacking !== undefined && <Notice kind="info">{lacking}</Notice>}
      <Loaded query={passkeys} what={t('your passkeys')} lines={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p>{t('You have none yet.')}</p>
          ) : (
            <Table label={t('Passkeys')} columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Section>
  );
}
