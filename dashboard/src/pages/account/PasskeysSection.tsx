/** The passkeys of the person who is signed in. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { PERSON, queryClient } from '../../api/client.ts';
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
import { Checkbox } from '../../ui/choices.tsx';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { PresentPassword, passwordIn, TextField, type TextOf } from '../../ui/forms.tsx';
import { Loaded, Notice, Section } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';
import { clientName, SESSIONS } from './SessionsSection.tsx';

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

function Add() {
  const { fields, proofOf } = useProof();
  return (
    <ConfirmButton
      small
      text={t('Add a passkey')}
      action={t('Add the passkey')}
      actionLook="primary"
      onConfirm={async (textOf) => {
        const { name } = await addPasskey(textOf('name'), await proofOf(textOf));
        await refresh();
        return t('The passkey “{name}” is added.', { name });
      }}
    >
      <TextField
        label={t('Name')}
        name="name"
        defaultValue={clientName(navigator.userAgent) ?? ''}
        hint={t('So that you know later which one it is. Your browser asks next where to keep it.')}
        isRequired
        autoFocus
      />
      {fields}
    </ConfirmButton>
  );
}

function Rename({ passkey }: { readonly passkey: Passkey }) {
  return (
    <ConfirmButton
      small
      text={t('Rename')}
      aria-label={t('Rename {name}', { name: passkey.name })}
      title={t('Rename the passkey “{name}”', { name: passkey.name })}
      actionLook="primary"
      onConfirm={async (textOf) => {
        const { name } = await renamePasskey(passkey, textOf('name'));
        await refresh();
        return t('The passkey is called “{name}” now.', { name });
      }}
    >
      <TextField label={t('Name')} name="name" defaultValue={passkey.name} isRequired autoFocus />
    </ConfirmButton>
  );
}

function Remove({ passkey }: { readonly passkey: Passkey }) {
  const { name } = passkey;
  const { fields, proofOf } = useProof();
  return (
    <ConfirmButton
      small
      text={t('Remove')}
      aria-label={t('Remove {name}', { name })}
      title={t('Remove the passkey “{name}”?', { name })}
      action={t('Remove the passkey')}
      onConfirm={async (textOf) => {
        await removePasskey(passkey, await proofOf(textOf));
        await refresh();
        return t('The passkey “{name}” is removed.', { name });
      }}
    >
      {t(
        'It does not sign in any more. Remove it from the device or password manager too. Sessions that it has opened go on: end them below.',
      )}
      {fields}
    </ConfirmButton>
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
        <Rename passkey={passkey} />
        <Remove passkey={passkey} />
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
      actions={lacking === undefined && <Add />}
    >
      {lacking !== undefined && <Notice kind="info">{lacking}</Notice>}
      <Loaded query={passkeys} what={t('your passkeys')} lines={2}>
        {(rows) => (
          <Table
            label={t('Passkeys')}
            columns={COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
            empty={<p>{t('You have none yet.')}</p>}
          />
        )}
      </Loaded>
    </Section>
  );
}
