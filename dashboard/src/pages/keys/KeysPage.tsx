import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { type ApiKey, keysQuery } from '../../api/keys.ts';
import { queryClient } from '../../api/queries.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Page } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { CreateKeyDialog } from './CreateKeyDialog.tsx';
import styles from './KeysPage.module.css';

const forgetKeys = () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });

async function revoke({ id, name }: ApiKey): Promise<void> {
  try {
    await dataOf(api.DELETE('/api/v1/api-keys/{id}/', { params: { path: { id } } }));
    announce(`The key ${name} is revoked.`);
  } finally {
    // A refusal may say that it was revoked elsewhere: then the list must not go on showing it.
    await forgetKeys();
  }
}

const columnsFor = (onRevoke: (key: ApiKey) => void): readonly Column<ApiKey>[] => [
  { header: 'Name', cell: ({ name }) => name, isRowHeader: true },
  { header: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
  { header: 'Created', cell: ({ created_at: at }) => <Time iso={at} /> },
  {
    header: 'Last used',
    cell: ({ last_used_at: at }) =>
      at === null ? <span className={styles.never}>Never</span> : <Time iso={at} />,
  },
  {
    header: 'Actions',
    isActions: true,
    cell: (key) => (
      <Button small icon="trash" aria-label={`Revoke ${key.name}`} onPress={() => onRevoke(key)}>
        Revoke
      </Button>
    ),
  },
];

export default function KeysPage() {
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey>();
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
      {keys.isPending && <Loading label="Loading the keys" />}
      {keys.isError && <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />}
      {keys.data?.length === 0 && (
        <EmptyState icon="key" title="There is no key yet" action={create}>
          Create one for the first program that makes PDFs with this account.
        </EmptyState>
      )}
      {keys.data !== undefined && keys.data.length > 0 && (
        <Table
          label="API keys"
          columns={columnsFor(setRevoked)}
          rows={keys.data}
          rowKey={({ id }) => id}
        />
      )}
      <CreateKeyDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={forgetKeys}
      />
      <ConfirmDialog
        title={`Revoke the key ${revoked?.name ?? ''}?`}
        action="Revoke the key"
        isOpen={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        onConfirm={async () => revoked && (await revoke(revoked))}
      >
        <p>
          Requests with this key are refused at once, with status 401. Programs that still use it
          stop working until they are given another.
        </p>
        <p>Conversions that it requested are not touched. A revoked key cannot be brought back.</p>
      </ConfirmDialog>
    </Page>
  );
}
