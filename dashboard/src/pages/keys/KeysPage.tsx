import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiKey, keysQuery, useRights } from '../../api/people.ts';
import { api, dataOf, queryClient } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { EmptyState, Loaded, Page } from '../../ui/Page.tsx';
import { type Column, Table, Time } from '../../ui/records.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { CreateKeyDialog } from './CreateKeyDialog.tsx';
import { boundsOf, scopesText } from './words.ts';
import { t } from '../../words/words.ts';

const forgetKeys = () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });

async function revoke({ id, name }: ApiKey): Promise<void> {
  await dataOf(api.DELETE('/api/v1/api-keys/{id}/', { params: { path: { id } } }));
  announce(t('The key {name} is revoked.', { name }));
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { header: t('Name'), cell: ({ name }) => name, isRowHeader: true },
  { header: t('Begins with'), cell: ({ prefix }) => <code>{prefix}…</code> },
  {
    header: t('May'),
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
    header: t('Expires'),
    cell: ({ expires_at: at }) =>
      at === undefined ? <span className="muted">{t('Never')}</span> : <Time iso={at} />,
  },
  { header: t('Created'), cell: ({ created_at: at }) => <Time iso={at} look="short" /> },
  {
    header: t('Last used'),
    cell: ({ last_used_at: at }) =>
      at === null ? <span className="muted">{t('Never')}</span> : <Time iso={at} look="short" />,
  },
  {
    header: t('Actions'),
    isActions: true,
    cell: (key) => (
      <ConfirmButton
        small
        icon="trash"
        text={t('Revoke')}
        aria-label={t('Revoke {name}', { name: key.name })}
        title={t('Revoke the key {name}?', { name: key.name })}
        action={t('Revoke the key')}
        onConfirm={() => revoke(key)}
        // A refusal may say that it was revoked elsewhere: then the list must not go on showing it.
        onClosed={() => void forgetKeys()}
      >
        <p>
          {t(
            'Requests with this key are refused at once, with status 401. Programs that still use it stop working until they are given another.',
          )}
        </p>
        <p>
          {t(
            'Conversions that it requested are not touched. A revoked key cannot be brought back.',
          )}
        </p>
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
      {t('Create a key')}
    </Button>
  );
  const columns = mayWork ? COLUMNS : COLUMNS.filter(({ isActions }) => !isActions);
  return (
    <Page
      title={t('Keys')}
      lead={t(
        'A program sends an API key with each request. Give every program a key of its own: then each can be revoked by itself.',
      )}
      actions={keys.data?.length === 0 ? undefined : create}
    >
      <Loaded query={keys} what={t('the keys')}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="key" title={t('There is no key yet')} action={create}>
              {t('Create one for the first program that makes PDFs with this account.')}
            </EmptyState>
          ) : (
            <Table label={t('API keys')} columns={columns} rows={rows} rowKey={({ id }) => id} />
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
