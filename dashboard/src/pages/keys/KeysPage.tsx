import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiKey, keysQuery } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmButton, Dialog, SecretDialog } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';

const forgetKeys = () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });

async function revoke({ id, name }: ApiKey): Promise<void> {
  await dataOf(api.DELETE('/api/v1/api-keys/{id}/', { params: { path: { id } } }));
  announce(`The key ${name} is revoked.`);
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { header: 'Name', cell: ({ name }) => name, isRowHeader: true },
  { header: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
  { header: 'Created', cell: ({ created_at: at }) => <Time iso={at} /> },
  {
    header: 'Last used',
    cell: ({ last_used_at: at }) =>
      at === null ? <span className="muted">Never</span> : <Time iso={at} />,
  },
  {
    header: 'Actions',
    isActions: true,
    cell: (key) => (
      <ConfirmButton
        small
        icon="trash"
        text="Revoke"
        aria-label={`Revoke ${key.name}`}
        title={`Revoke the key ${key.name}?`}
        action="Revoke the key"
        onConfirm={() => revoke(key)}
        // A refusal may say that it was revoked elsewhere: then the list must not go on showing it.
        onClosed={() => void forgetKeys()}
      >
        <p>
          Requests with this key are refused at once, with status 401. Programs that still use it
          stop working until they are given another.
        </p>
        <p>Conversions that it requested are not touched. A revoked key cannot be brought back.</p>
      </ConfirmButton>
    ),
  },
];

export default function KeysPage() {
  const [isCreating, setCreating] = useState(false);
  const keys = useQuery(keysQuery);
  const create = (
    <Button look="primary" icon="plus" onPress={() => setCreating(true)}>
      Create a key
    </Button>
  );
  return (
    <Page
      title="Keys"
      lead="A program sends an API key with each request. Give every program a key of its own: then each can be revoked by itself."
      actions={keys.data?.length === 0 ? undefined : create}
    >
      <Loaded query={keys} what="the keys">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="key" title="There is no key yet" action={create}>
              Create one for the first program that makes PDFs with this account.
            </EmptyState>
          ) : (
            <Table label="API keys" columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <CreateKeyDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={forgetKeys}
      />
    </Page>
  );
}

type CreatedKey = components['schemas']['CreatedApiKey'];

interface CreateKeyDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onCreated: () => Promise<void>;
}

/** Asks for a name, then shows the key, which the service never shows again. */
function CreateKeyDialog({ isOpen, onClose, onCreated }: CreateKeyDialogProps) {
  const [created, setCreated] = useState<CreatedKey>();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  if (created !== undefined) {
    return (
      <SecretDialog
        title={`The key ${created.name}`}
        secret={created.key}
        what="key"
        onCopied={close}
      >
        Copy the key now and keep it where secrets are kept.
      </SecretDialog>
    );
  }
  return (
    <Dialog title="Create a key" isOpen={isOpen} onClose={close}>
      <SendForm
        action="Create a key"
        onCancel={close}
        onSend={async (textOf) => {
          const body = { name: textOf('name') };
          setCreated(await dataOf(api.POST('/api/v1/api-keys/', { body })));
          await onCreated();
        }}
      >
        <TextField
          label="Name"
          name="name"
          hint="The program that will use the key, such as build server."
          maxLength={100}
          autoComplete="off"
          isRequired
          autoFocus
        />
      </SendForm>
    </Dialog>
  );
}
