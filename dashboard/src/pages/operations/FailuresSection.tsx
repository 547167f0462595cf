import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf, pageQuery } from '../../api/client.ts';
import { useAccount } from '../../api/people.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Calm, Section } from '../../ui/Page.tsx';
import { type Column, RecordLink, Records, Table } from '../../ui/records.tsx';
import { formatTime, Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';
import { failureTitle } from '../conversions/words.ts';
import { periodOf } from './OverTime.tsx';
import styles from './operations.module.css';
import { repeated, useSteadyOrder } from './operator-api.ts';
import { SPANS, type SpanSearch } from './search.ts';

type Failure = components['schemas']['Failure'];
type Group = components['schemas']['FailureGroup'];
type Filter = Pick<Group, 'code' | 'renderer' | 'source'>;

const PAGE_SIZE = 10;
const FAILURES = ['operator', 'failures'];

/** @param look counts how often the person asked for newer failures: in between, the list stands still */
const pageOfFailures = (
  look: number | 'latest',
  page: number,
  size: number,
  of: Filter | undefined,
) => ({
  key: [...FAILURES, look, of],
  page,
  size,
  ask: (paging: { readonly page: number; readonly page_size: number }, signal: AbortSignal) => {
    const { source, ...others } = of ?? {};
    const query = { ...paging, ...others, ...(source && { source }) };
    return api.GET('/api/v1/operator/failures/', { params: { query }, signal });
  },
});

/** Stands still until it is asked for again. */
const STILL = { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 } as const;

/** A failure by what no other one has. */
const keyOf = ({ conversion_id: id, attempt }: Failure): string => `${id}/${attempt}`;
const keyOfGroup = ({ code, source, renderer }: Filter): string => `${code}/${source}/${renderer}`;

const KINDS = { html: 'HTML', url: 'URL', document: t('Documents') } as const;
const kindText = ({ source }: Filter): string => (source === null ? t('Unknown') : KINDS[source]);

/** The end of a long id tells it from others; the whole one is shown where the pointer rests. */
const ShortId = ({ id }: { readonly id: string }) => (
  <code className={styles.id} title={id}>
    {id.replace(/(?<=[_-]).{9,}(?=.{6}$)/, '…')}
  </code>
);

const columnsOf = (own: string | undefined): readonly Column<Failure>[] => [
  {
    header: t('Conversion'),
    isRowHeader: true,
    // The others are for their accounts alone.
    cell: ({ conversion_id: id, account_id: account }) => {
      const text = <code className={styles.id}>{id}</code>;
      return account === own ? <RecordLink id={id} name={text} /> : text;
    },
  },
  { header: t('Failed'), cell: ({ time }) => <Time iso={time} look="short" /> },
  { header: t('Reason'), cell: ({ code }) => failureTitle(code) },
  { header: t('Made from'), cell: kindText },
  { header: t('Renderer'), cell: ({ renderer }) => <ShortId id={renderer} /> },
  {
    header: t('Account'),
    cell: ({ account_id: id, email }) => (
      <Link to="/operations/accounts/$id" params={{ id }}>
        {email ?? <ShortId id={id} />}
      </Link>
    ),
  },
];

interface FailuresSectionProps {
  /** The time whose failures are counted. */
  readonly search: SpanSearch;
  readonly isPaused: boolean;
}

export function FailuresSection({ search, isPaused }: FailuresSectionProps) {
  const [filter, setFilter] = useState<Filter>();
  const { span = 'hour', until } = search;
  const query = useQuery({
    queryKey: [...FAILURES, 'groups', span, until],
    queryFn: ({ signal }) => {
      const params = { query: periodOf(search, Date.now()) };
      return dataOf(api.GET('/api/v1/operator/failures/groups/', { params, signal }));
    },
    ...repeated(isPaused),
    placeholderData: keepPreviousData,
  });
  const groups = useSteadyOrder(query.data ?? [], keyOfGroup);
  const columns: readonly Column<Group>[] = [
    { header: t('Reason'), isRowHeader: true, cell: ({ code }) => failureTitle(code) },
    { header: t('Made from'), cell: kindText },
    { header: t('Renderer'), cell: ({ renderer }) => <ShortId id={renderer} /> },
    { header: t('Failures'), align: 'end', cell: ({ count }) => formatNumber(count) },
    { header: t('Last'), cell: ({ last_at: at }) => <Time iso={at} look="short" /> },
    {
      header: t('Actions'),
      isActions: true,
      cell: ({ code, source, renderer }) => (
        <Button
          small
          look="quiet"
          aria-label={t('Show these: {code}', { code: failureTitle(code) })}
          onPress={() => setFilter({ code, source, renderer })}
        >
          {t('Show these')}
        </Button>
      ),
    },
  ];
  return (
    <Section
      title={t('Failures')}
      lead={t(
        '{label}{value}, by reason, document and renderer. What customers wrote is only for their accounts.',
        {
          label: SPANS[span].label,
          value: until === undefined ? '' : t(' up to {until}', { until: formatTime(until) }),
        },
      )}
    >
      <div className={styles.steady}>
        <Table
          label={t('Failures by reason, document and renderer')}
          columns={columns}
          rows={groups}
          rowKey={keyOfGroup}
          empty={<Calm>{t('Nothing has failed in this time.')}</Calm>}
        />
      </div>
      <NewestFailures
        key={filter && keyOfGroup(filter)}
        isPaused={isPaused}
        filter={filter}
        onAll={() => setFilter(undefined)}
      />
    </Section>
  );
}

interface NewestFailuresProps {
  readonly isPaused: boolean;
  readonly filter: Filter | undefined;
  readonly onAll: () => void;
}

function NewestFailures({ isPaused, filter, onAll }: NewestFailuresProps) {
  const account = useAccount();
  const [look, setLook] = useState(0);
  const [page, setPage] = useState(1);
  const first = useQuery({ ...pageQuery(pageOfFailures(look, 1, PAGE_SIZE, filter)), ...STILL });
  const shown = useQuery({ ...pageQuery(pageOfFailures(look, page, PAGE_SIZE, filter)), ...STILL });
  const latest = useQuery({
    ...pageQuery(pageOfFailures('latest', 1, 1, filter)),
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
  // That nothing has failed is said once, above.
  if (filter === undefined && first.data?.items.length === 0 && !hasNewer) return null;
  return (
    <div className={`${styles.group} stack`}>
      <div className={`${styles.offer} line`}>
        <h3>
          {filter === undefined
            ? t('Newest failures')
            : `${failureTitle(filter.code)}: ${kindText(filter)}, ${filter.renderer}`}
        </h3>
        {filter !== undefined && (
          <Button small onPress={onAll}>
            {t('Show all')}
          </Button>
        )}
        {hasNewer && (
          <Button small icon="refresh" onPress={showNewer}>
            {t('Show newer failures')}
          </Button>
        )}
      </div>
      <Records
        list={{ query: shown, page, size: PAGE_SIZE }}
        of={t('failures')}
        label={t('Newest failures')}
        columns={columnsOf(account.data?.id)}
        rowKey={keyOf}
        onPage={setPage}
        empty={undefined}
      />
    </div>
  );
}
