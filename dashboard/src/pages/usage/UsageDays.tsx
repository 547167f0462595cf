import { Link } from '@tanstack/react-router';
import type { UsageDay } from '../../api/usage.ts';
import { Chart, Charts, Numbers } from '../../ui/Chart.tsx';
import { type Column, Figures, Table } from '../../ui/records.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import type { Series } from '../../ui/plot.ts';
import { EmptyState } from '../../ui/Page.tsx';
import { LOCALE, t } from '../../words/words.ts';

const COUNTS = [
  { name: t('Accepted'), of: 'accepted', format: formatNumber },
  { name: t('Completed'), of: 'completed', format: formatNumber },
  { name: t('Failed'), of: 'failed', format: formatNumber },
  { name: t('Cancelled'), of: 'cancelled', format: formatNumber },
  { name: t('Pages'), of: 'pages', format: formatNumber },
  { name: t('Size of the PDFs'), of: 'bytes', format: formatBytes },
  { name: t('Tests'), of: 'tests', format: formatNumber },
] as const;

/** @param isOwn the days lead to the conversions of the account that is signed in */
const columnsOf = (isOwn: boolean): readonly Column<UsageDay>[] => [
  {
    header: t('Day (UTC)'),
    cell: ({ day }) =>
      isOwn ? (
        <Link to="/conversions" search={{ day }}>
          {day}
        </Link>
      ) : (
        day
      ),
    isRowHeader: true,
  },
  ...COUNTS.map(
    ({ name, of, format }): Column<UsageDay> => ({
      header: name,
      cell: (day) => format(day[of]),
      align: 'end',
    }),
  ),
];

/** 23 Nov, UTC: as other charts name the zone of the person. */
const DAY = new Intl.DateTimeFormat(LOCALE, {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
  timeZoneName: 'short',
});

type DaysProps = { readonly days: readonly UsageDay[] };

const bars = (days: readonly UsageDay[], ...series: readonly Series[]) =>
  ({
    look: 'bars',
    times: days.map(({ day }) => Date.parse(day) / 1000),
    timeName: (seconds: number) => DAY.format(seconds * 1000),
    format: formatNumber,
    series,
    least: 2,
  }) as const;

const series = (
  days: readonly UsageDay[],
  of: (typeof COUNTS)[number]['of'],
  name: string,
  tone: Series['tone'],
): Series => ({ name, tone, values: days.map((day) => day[of]) });

/** A bar for each day: what ended, by result. */
export function EndedDays({ days, ...table }: DaysProps & { readonly table?: null }) {
  return (
    <Chart
      title={t('Conversions that ended, by result')}
      {...bars(
        days,
        series(days, 'completed', t('Completed'), 'accent'),
        series(days, 'cancelled', t('Cancelled'), 'text-muted'),
        series(days, 'failed', t('Failed'), 'danger'),
      )}
      {...table}
    />
  );
}

/** The days as figures, charts and a table. */
export function UsageDays({ days, isOwn }: DaysProps & { readonly isOwn: boolean }) {
  if (days.every((day) => day.accepted + day.completed + day.failed + day.cancelled === 0)) {
    return (
      <EmptyState icon="chart" title={t('No conversions in these days')}>
        {t('Convert a document in the playground or through the API, and it is counted here.')}
      </EmptyState>
    );
  }
  return (
    <>
      <Figures
        figures={COUNTS.map(({ name, of, format }) => ({
          name,
          value: format(days.reduce((sum, day) => sum + day[of], 0)),
        }))}
      />
      <Charts>
        <EndedDays days={days} table={null} />
        <Chart
          title={t('Pages made')}
          {...bars(days, series(days, 'pages', t('Pages'), 'accent'))}
          table={null}
        />
      </Charts>
      <Numbers title={t('Conversions by day')}>
        {() => (
          <Table
            label={t('Conversions by day')}
            columns={columnsOf(isOwn)}
            rows={days.toReversed()}
            rowKey={({ day }) => day}
          />
        )}
      </Numbers>
    </>
  );
}
