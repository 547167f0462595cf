import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { fetchSignedIn } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { lastDays, recentUsageQuery, type UsageDay } from '../../api/usage.ts';
import { Bars } from '../../ui/Bars.tsx';
import { Figures } from '../../ui/Figures.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { SaveButton } from '../../ui/SaveButton.tsx';
import { Select } from '../../ui/Select.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { type Span, SPANS } from './search.ts';
import styles from './Usage.module.css';

const COUNTS = [
  { name: 'Accepted', of: 'accepted', format: formatNumber },
  { name: 'Completed', of: 'completed', format: formatNumber, tone: 'accent' },
  { name: 'Failed', of: 'failed', format: formatNumber, tone: 'danger' },
  { name: 'Cancelled', of: 'cancelled', format: formatNumber, tone: 'neutral' },
  { name: 'Pages', of: 'pages', format: formatNumber },
  { name: 'Size of the PDFs', of: 'bytes', format: formatBytes },
  { name: 'Tests', of: 'tests', format: formatNumber },
] as const;

const COLUMNS: readonly Column<UsageDay>[] = [
  { header: 'Day (UTC)', cell: ({ day }) => day, isRowHeader: true },
  ...COUNTS.map(
    ({ name, of, format }): Column<UsageDay> => ({
      header: name,
      cell: (day) => format(day[of]),
      align: 'end',
    }),
  ),
];

interface UsageSectionProps {
  readonly span: Span;
  readonly onSpan: (span: Span) => void;
}

/** The conversions by day and result. */
export function UsageSection({ span, onSpan }: UsageSectionProps) {
  const [now] = useState(Date.now);
  const usage = useQuery({ ...recentUsageQuery(span, now), placeholderData: keepPreviousData });
  return (
    <Section
      title="Conversions by day"
      lead="Days are in UTC."
      actions={
        <div className={styles.controls}>
          <Select
            label="Days"
            choices={SPANS.map((days) => ({ value: String(days), label: `Last ${days} days` }))}
            value={String(span)}
            onChange={(value) => onSpan(Number(value) as Span)}
          />
          <ExportButton
            path={`/api/v1/account/usage/?${new URLSearchParams({ ...lastDays(span, now) })}`}
            fileName={`usage-${span}-days.csv`}
            what="usage"
          />
        </div>
      }
    >
      <Loaded query={usage} what="the usage" lines={8}>
        {(days) => <Days days={days} />}
      </Loaded>
    </Section>
  );
}

function Days({ days }: { readonly days: readonly UsageDay[] }) {
  if (days.every((day) => day.accepted + day.completed + day.failed + day.cancelled === 0)) {
    return (
      <EmptyState icon="chart" title="No conversions in these days">
        Convert a document in the playground or through the API, and it is counted here.
      </EmptyState>
    );
  }
  return (
    <>
      <Figures
        figures={COUNTS.map(({ of, format, ...count }) => ({
          ...count,
          value: format(days.reduce((sum, day) => sum + day[of], 0)),
        }))}
      />
      {/* Screen readers read the table below instead. */}
      <div className={styles.charts} aria-hidden="true">
        <figure>
          <figcaption className={styles.caption}>Conversions that ended, by result</figcaption>
          <Bars days={days} counts={['failed', 'cancelled', 'completed']} />
        </figure>
        <figure>
          <figcaption className={styles.caption}>Pages made</figcaption>
          <Bars days={days} counts={['pages']} />
        </figure>
      </div>
      <details className={styles.numbers}>
        <summary>The same as a table</summary>
        <Table
          label="Conversions by day"
          columns={COLUMNS}
          rows={days.toReversed()}
          rowKey={({ day }) => day}
        />
      </details>
    </>
  );
}

interface ExportButtonProps {
  /** The path of the API, with its query. */
  readonly path: string;
  readonly fileName: string;
  /** The name of the exported list, such as "ledger". */
  readonly what: string;
}

/** Downloads a list of the API as CSV. A link could not send the credential. */
export function ExportButton({ path, fileName, what }: ExportButtonProps) {
  const load = async () => {
    const headers = { Accept: 'text/csv' };
    const response = await fetchSignedIn(new Request(new URL(path, location.origin), { headers }));
    if (!response.ok) throw await ApiError.from(response);
    return { file: await response.blob(), name: fileName };
  };
  return (
    <SaveButton
      small
      icon="download"
      aria-label={`Export as CSV: the ${what}`}
      what={what}
      load={load}
    >
      Export as CSV
    </SaveButton>
  );
}
