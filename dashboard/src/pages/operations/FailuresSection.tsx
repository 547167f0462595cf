import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, totalOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatDuration, formatNumber } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Section } from '../../ui/Page.tsx';
import { Pagination } from '../../ui/Pagination.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { failureTitle } from '../conversions/failure-advice.ts';
import { repeated, useSteadyOrder } from './live.ts';
import styles from './operations.module.css';
import { operatorAnswer, type ServiceStatus } from './operator-api.ts';

type Failure = components['schemas']['Failure'];
type Reason = ServiceStatus['recent']['failures'][number];

const PAGE_SIZE = 10;
const FAILURES = ['operator', 'failures'];

const fetchFailures = async (page: number, pageSize: number, signal: AbortSignal) => {
  const query = { page, page_size: pageSize };
  const sent = api.GET('/api/v1/operator/failures/', { params: { query }, signal });
  const { data, response } = await operatorAnswer(sent);
  return { items: data, total: totalOf(response) };
};

/** @param look counts how often the person asked for newer failures: in between, the list stands still */
const listQuery = (look: number, page: number) =>
  queryOptions({
    queryKey: [...FAILURES, 'list', look, page],
    queryFn: ({ signal }) => fetchFailures(page, PAGE_SIZE, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

/** A failure by what no other one has. */
const keyOf = ({ conversion_id: id, attempt }: Failure): string => `${id}/${attempt}`;

const REASON_COLUMNS: readonly Column<Reason>[] = [
  { header: 'Reason', isRowHeader: true, cell: ({ code }) => failureTitle(code) },
  { header: 'Code', cell: ({ code }) => <code>{code}</code> },
  { header: 'Failures', align: 'end', cell: ({ count }) => formatNumber(count) },
];

const COLUMNS: readonly Column<Failure>[] = [
  {
    header: 'Conversion',
    isRowHeader: true,
    cell: ({ conversion_id: id }) => <code className={styles.id}>{id}</code>,
  },
  { header: 'Failed', cell: ({ time }) => <Time iso={time} /> },
  { header: 'Reason', cell: ({ code }) => failureTitle(code) },
  { header: 'Attempt', align: 'end', cell: ({ attempt }) => formatNumber(attempt) },
  { header: 'Renderer', cell: ({ renderer }) => <code className={styles.id}>{renderer}</code> },
  {
    header: 'Account',
    cell: ({ account_id: id, conversion_id: conversion }) => (
      <Link
        to="/operations/accounts/$id"
        params={{ id }}
        aria-label={`Open the account of ${conversion}`}
      >
        Open
      </Link>
    ),
  },
];

interface FailuresSectionProps {
  readonly recent: ServiceStatus['recent'];
  readonly isPaused: boolean;
}

export function FailuresSection({ recent, isPaused }: FailuresSectionProps) {
  const reasons = useSteadyOrder(recent.failures, ({ code }) => code);
  const window = formatDuration(recent.window_seconds * 1000);
  return (
    <Section title="Failures" lead="What customers wrote is for their accounts alone.">
      <div className={`${styles.stack} ${styles.steady}`}>
        <h3>Reasons in the last {window}</h3>
        {reasons.length === 0 ? (
          <p className={styles.calm}>
            <Icon name="check" />
            Nothing has failed in this time.
          </p>
        ) : (
          <Table
            label={`Failures by reason in the last ${window}`}
            columns={REASON_COLUMNS}
            rows={reasons}
            rowKey={({ code }) => code}
          />
        )}
      </div>
      <NewestFailures isPaused={isPaused} />
    </Section>
  );
}

function NewestFailures({ isPaused }: { readonly isPaused: boolean }) {
  const [look, setLook] = useState(0);
  const [page, setPage] = useState(1);
  const first = useQuery(listQuery(look, 1));
  const shown = useQuery({ ...listQuery(look, page), placeholderData: keepPreviousData });
  const latest = useQuery({
    queryKey: [...FAILURES, 'latest'],
    queryFn: ({ signal }) => fetchFailures(1, 1, signal),
    ...repeated(isPaused),
  });
  const [newest] = latest.data?.items ?? [];
  const [newestShown] = first.data?.items ?? [];
  const hasNewer =
    first.data !== undefined &&
    latest.dataUpdatedAt > first.dataUpdatedAt &&
    newest !== undefined &&
    (newestShown === undefined || keyOf(newest) !== keyOf(newestShown));
  const showNewer = () => {
    setPage(1);
    setLook(look + 1);
  };
  return (
    <div className={styles.stack}>
      <div className={styles.offer}>
        <h3>Newest failures</h3>
        {hasNewer && (
          <Button small icon="refresh" onPress={showNewer}>
            Show newer failures
          </Button>
        )}
      </div>
      {shown.isPending && <Loading label="Loading the newest failures" />}
      {shown.isError && <ErrorState error={shown.error} onRetry={() => void shown.refetch()} />}
      {shown.data?.total === 0 && (
        <EmptyState icon="check" title="No conversion has failed">
          The latest failures of all accounts are listed here.
        </EmptyState>
      )}
      {shown.data !== undefined && shown.data.total > 0 && (
        <>
          <Table
            label="Newest failures"
            columns={COLUMNS}
            rows={shown.data.items}
            rowKey={keyOf}
            isBusy={shown.isPlaceholderData}
          />
          <Pagination
            of="failures"
            page={page}
            pageSize={PAGE_SIZE}
            total={shown.data.total}
            onPage={setPage}
          />
        </>
      )}
    </div>
  );
}
