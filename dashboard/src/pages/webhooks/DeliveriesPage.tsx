import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, given, usePage } from '../../api/client.ts';
import { DELIVERIES, type Delivery, nextLook, webhooksQuery } from '../../api/webhooks.ts';
import { FilterSelect } from '../../ui/choices.tsx';
import { formatNumber } from '../../ui/format.ts';
import { EmptyState, Page } from '../../ui/Page.tsx';
import { type Column, Records } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { type DeliveriesSearch, STATUSES } from './search.ts';
import styles from './webhooks.module.css';
import { DeliveryBadge, outcomeText, STATUS_TEXTS, typeText, webhookName } from './words.tsx';

const route = getRouteApi('/signed-in/webhooks/deliveries');

export default function DeliveriesPage() {
  const navigate = route.useNavigate();
  return (
    <Page
      title={t('Deliveries')}
      lead={rich(
        'All that was sent to the <link>endpoints</link> and to addresses of single requests, newest first.',
        { link: <Link to="/webhooks" /> },
      )}
    >
      <DeliveryList
        search={route.useSearch()}
        onSearch={(search) =>
          void navigate({ to: '/webhooks/deliveries', search, resetScroll: false })
        }
      />
    </Page>
  );
}

const STATUS_CHOICES = STATUSES.map((value) => ({ value, label: STATUS_TEXTS[value].text }));

const NOTHING = <span className="muted">–</span>;

const COLUMNS: readonly Column<Delivery>[] = [
  { header: t('About'), cell: ({ name, batch_id: batch }) => name ?? batch ?? NOTHING },
  {
    header: t('Status'),
    cell: ({ status, next_try_at: next }) => (
      <span className={`${styles.endpoint} named`}>
        <DeliveryBadge status={status} />
        {next !== undefined && (
          <span className="note">{rich('Next try {time}', { time: <Time iso={next} /> })}</span>
        )}
      </span>
    ),
  },
  {
    header: t('Last answer'),
    cell: ({ last_status: status, last_failure: failure }) =>
      outcomeText(status, failure) ?? NOTHING,
  },
  { header: t('Tries'), align: 'end', cell: ({ tries }) => formatNumber(tries) },
  { header: t('Time'), cell: ({ created_at: at }) => <Time iso={at} /> },
];

/** @param note a second line: where it goes, if that is not said by the page */
const columnsWith = (
  note: (delivery: Delivery) => string | undefined = () => undefined,
): readonly Column<Delivery>[] => [
  {
    header: t('Delivery'),
    isRowHeader: true,
    cell: (delivery) => (
      <span className={`${styles.endpoint} named`}>
        <Link to="/webhooks/deliveries/$id" params={{ id: delivery.id }}>
          {typeText(delivery.type)}
        </Link>
        <span className="note">{note(delivery)}</span>
      </span>
    ),
  },
  ...COLUMNS,
];

const TO_ALL = columnsWith(({ url }) => url ?? t('The endpoint was deleted'));
const TO_ONE = columnsWith();

interface DeliveryListProps {
  /** The id of the endpoint whose page this is; others are chosen by a filter. */
  readonly endpoint?: string;
  readonly search: DeliveriesSearch;
  readonly onSearch: (search: DeliveriesSearch) => void;
  /** Stands beside the filters. */
  readonly action?: React.ReactNode;
}

/** Deliveries, newest first, with their filters. */
export function DeliveryList({ endpoint, search, onSearch, action }: DeliveryListProps) {
  const { page = 1, ...filter } = search;
  const { status, webhook = endpoint } = filter;
  const endpoints = useQuery({ ...webhooksQuery, enabled: endpoint === undefined }).data ?? [];
  const list = usePage({
    key: [...DELIVERIES, 'list', webhook, status],
    page,
    size: 20,
    ask: (paging, signal) => {
      const query = { ...paging, ...(webhook && { webhook }), ...(status && { status }) };
      return api.GET('/api/v1/webhooks/deliveries/', { params: { query }, signal });
    },
    again: nextLook,
  });
  return (
    <>
      <div role="search" aria-label={t('Deliveries')} className={styles.filters}>
        {endpoint === undefined && (
          <FilterSelect
            label={t('Endpoint')}
            choices={endpoints.map((each) => ({ value: each.id, label: webhookName(each) }))}
            value={webhook}
            onChange={(next) => onSearch(given({ status, webhook: next }))}
          />
        )}
        <FilterSelect
          label={t('Status')}
          choices={STATUS_CHOICES}
          value={status}
          onChange={(next) => onSearch(given({ webhook: search.webhook, status: next }))}
        />
        {action !== undefined && <div className={styles.again}>{action}</div>}
      </div>
      <Records
        list={list}
        of={t('deliveries')}
        label={t('Deliveries')}
        columns={endpoint === undefined ? TO_ALL : TO_ONE}
        rowKey={({ id }) => id}
        onPage={(next) => onSearch({ ...search, page: next })}
        empty={
          <EmptyState icon="send" title={t('No deliveries')}>
            {Object.keys(filter).length > 0
              ? t('No delivery matches the filters.')
              : t('What is sent appears here, as long as documents are kept.')}
          </EmptyState>
        }
      />
    </>
  );
}
