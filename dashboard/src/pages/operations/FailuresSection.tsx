import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { pageQuery } from '../../api/paged.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { formatDuration, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { Calm, EmptyState } from '../../ui/states.tsx';
import { type Column, Records, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { failureTitle } from '../conversions/failure-advice.ts';
import { repeated, useSteadyOrder } from './live.ts';
import styles from './operations.module.css';
import type { ServiceStatus } from './operator-api.ts';

type Failure = components['schemas']['Failure'];
type Reason = ServiceStatus['recent']['failures'][number];

const PAGE_SIZE = 10;
const FAILURES = ['operator', 'failures'];

/** @param look counts how often the person asked for newer failures: in between, the list stands still */
const pageOfFailures = (look: number | 'latest', page: number, size: number) => ({
  key: [...FAILURES, look],
  page,
  size,
  ask: (query: { readonly page: number; readonly page_size: number }, signal: AbortSignal) =>
    api.GET('/api/v1/operator/failures/', { params: { query }, signal }),
});

/** Stands still until it is asked for again. */
const STILL = { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 } as const;

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
      <div className={`${styles.group} ${styles.steady}`}>
        <h3>Reasons in the last {window}</h3>
        {reasons.length === 0 ? (
          <Calm>Nothing has failed in this time.</Calm>
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
  const first = useQuery({ ...pageQuery(pageOfFailures(look, 1, PAGE_SIZE)), ...STILL });
  const shown = useQuery({ ...pageQuery(pageOfFailures(look, page, PAGE_SIZE)), ...STILL });
  const latest = useQuery({
    ...pageQuery(pageOfFailures('latest', 1, 1)),
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
    <div className={styles.group}>
      <div className={styles.offer}>
        <h3>Newest failures</h3>
        {hasNewer && (
          <Button small icon="refresh" onPress={showNewer}>
            Show newer failures
          </Button>
        )}
      </div>
      <Records
        list={{ query: shown, page, size: PAGE_SIZE }}
        of="failures"
        label="Newest failures"
        columns={COLUMNS}
        rowKey={keyOf}
        onPage={setPage}
        empty={
          <EmptyState icon="check" title="No conversion has failed">
            The latest failures of all accounts are listed here.
          </EmptyState>
        }
      />
    </div>
  );
}
