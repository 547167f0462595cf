import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiKey, keysQuery } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import { queryClient } from '../../api/queries.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { CreateKeyDialog } from './CreateKeyDialog.tsx';
import { boundsOf, scopesText } from './words.ts';

const forgetKeys = () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });

async function revoke({ id, name }: ApiKey): Promise<void> {
  await dataOf(api.DELETE('/api/v1/api-keys/{id}/', { params: { path: { id } } }));
  announce(`The key ${name} is revoked.`);
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { header: 'Name', cell: ({ name }) => name, isRowHeader: true },
  { header: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
  {
    header: 'May',
    cell: (key) => (
      <>
        {scopesText(key)}
        {boundsOf(key).map((bound) => (
          <div key={bound} className="muted">
            {bound}
          </div>
        ))}
      </>
    ),
  },
  {
    header: 'Expires',
    cell: ({ expires_at: at }) =>
      at === undefined ? <span className="muted">Never</span> : <Time iso={at} />,
  },
  { header: 'Created', cell: ({ created_at: at }) => <Time iso={at} look="short" /> },
  {
    header: 'Last used',
    cell: ({ last_used_at: at }) =>
      at === null ? <span className="muted">Never</span> : <Time iso={at} look="short" />,
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
  const { mayWork } = useRights();
  const create = mayWork && (
    <Button look="primary" icon="plus" onPress={() => setCreating(true)}>
      Create a key
    </Button>
  );
  const columns = mayWork ? COLUMNS : COLUMNS.filter(({ isActions }) => !isActions);
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
            <Table label="API keys" columns={columns} rows={rows} rowKey={({ id }) => id} />
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
