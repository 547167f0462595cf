import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, dataOf, totalOf } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import type { components } from '../../api/schema.d.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Section } from '../../ui/Page.tsx';
import { Pagination } from '../../ui/Pagination.tsx';
import { Badge } from '../../ui/StatusBadge.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import styles from './AccountPage.module.css';
import { clientName } from './client-name.ts';

type OpenSession = components['schemas']['Session'];

const PAGE_SIZE = 20;
const SESSIONS = ['sessions'];

async function end({ id, current }: OpenSession): Promise<void> {
  try {
    await dataOf(api.DELETE('/api/v1/sessions/{id}/', { params: { path: { id } } }));
  } catch (error) {
    // It may have ended elsewhere: then the list must not go on showing it.
    await queryClient.invalidateQueries({ queryKey: SESSIONS });
    throw error;
  }
  if (current) {
    session.end('ended');
    return;
  }
  announce('The session has ended.');
  await queryClient.invalidateQueries({ queryKey: SESSIONS });
}

async function endAll(): Promise<void> {
  await dataOf(api.DELETE('/api/v1/sessions/'));
  session.end('all-ended');
}

const columnsFor = (onEnd: (open: OpenSession) => void): readonly Column<OpenSession>[] => [
  {
    header: 'Where',
    isRowHeader: true,
    cell: ({ client, kind, current }) => (
      <span className={styles.client}>
        {clientName(client?.user_agent, kind)}
        {current && (
          <Badge tone="ok" icon="check">
            This one
          </Badge>
        )}
      </span>
    ),
  },
  { header: 'Address', cell: ({ client }) => client?.address ?? 'Not recorded' },
  { header: 'Signed in', cell: ({ opened_at: at }) => <Time iso={at} /> },
  { header: 'Ends at the latest', cell: ({ expires_at: at }) => <Time iso={at} /> },
  {
    header: 'Actions',
    isActions: true,
    cell: (open) => (
      <Button
        small
        aria-label={`End the session ${clientName(open.client?.user_agent, open.kind)}`}
        onPress={() => onEnd(open)}
      >
        End
      </Button>
    ),
  },
];

export function SessionsSection() {
  const [page, setPage] = useState(1);
  const [ending, setEnding] = useState<OpenSession>();
  const [isEndingAll, setEndingAll] = useState(false);
  const sessions = useQuery({
    queryKey: [...SESSIONS, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page, page_size: PAGE_SIZE };
      const sent = api.GET('/api/v1/sessions/', { params: { query }, signal });
      const { data, response } = await answerOf(sent);
      return { items: data, total: totalOf(response) };
    },
  });
  return (
    <Section
      title="Sessions"
      lead="Where somebody is signed in to this account. End what you do not know, then change the password."
      actions={
        <Button small onPress={() => setEndingAll(true)}>
          End all sessions
        </Button>
      }
    >
      {sessions.isPending && <Loading label="Loading the sessions" />}
      {sessions.isError && (
        <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />
      )}
      {sessions.data !== undefined && (
        <>
          <Table
            label="Sessions"
            columns={columnsFor(setEnding)}
            rows={sessions.data.items}
            rowKey={({ id }) => id}
            isBusy={sessions.isPlaceholderData}
          />
          <Pagination
            of="sessions"
            page={page}
            pageSize={PAGE_SIZE}
            total={sessions.data.total}
            onPage={setPage}
          />
        </>
      )}
      <ConfirmDialog
        title={ending?.current === true ? 'End this very session?' : 'End this session?'}
        action="End the session"
        isOpen={ending !== undefined}
        onClose={() => setEnding(undefined)}
        onConfirm={async () => ending && (await end(ending))}
      >
        <p>
          {ending?.current === true
            ? 'You are signed out here at once.'
            : 'Anybody who uses it is signed out at once, and needs the password to come back.'}
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        title="End all sessions?"
        action="End all sessions"
        isOpen={isEndingAll}
        onClose={() => setEndingAll(false)}
        onConfirm={endAll}
      >
        <p>
          Everybody who is signed in to this account is signed out at once, also you, here. API keys
          stay valid.
        </p>
      </ConfirmDialog>
    </Section>
  );
}
