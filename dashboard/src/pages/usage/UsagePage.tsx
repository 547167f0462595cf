/** The statement of a month that is over, as a PDF. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useAccount, useRights } from '../../api/people.ts';
import { answerOf, api, usePage } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { type Column, Figures, RecordLink, Records } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { formatCredits, formatNumber, planName } from '../../ui/format.ts';
import { EmptyState, Loaded, Page, Section } from '../../ui/Page.tsx';
import { type Span, SPANS, type UsageSearch } from './search.ts';
import { t } from '../../words/words.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { lastDays, recentUsageQuery } from '../../api/usage.ts';
import { ExportButton, SaveButton } from '../../ui/Dialog.tsx';
import { Select } from '../../ui/choices.tsx';
import { UsageDays } from './UsageDays.tsx';

const route = getRouteApi('/signed-in/usage');

const LEAD = t('A conversion costs 1 credit. One that fails gives it back.');
const FREE = t('The service runs without credits: a conversion costs nothing.');

export default function UsagePage() {
  const account = useAccount();
  const { isOwner } = useRights();
  const search = route.useSearch();
  const { days = 30, page = 1 } = search;
  const navigate = useNavigate();
  const show = (next: UsageSearch) =>
    void navigate({ to: '/usage', search: next, resetScroll: false });
  return (
    <Page title={t('Credits and usage')} lead={account.data?.credits === null ? FREE : LEAD}>
      <Section title={t('Balance')}>
        <Loaded query={account} what={t('the balance')} lines={2}>
          {({ credits, plan, rate_limit: limit }) => (
            <Figures
              figures={[
                { name: t('Credits left'), value: formatCredits(credits) },
                { name: t('Plan'), value: planName(plan) },
                { name: t('Requests a minute with API keys'), value: formatNumber(limit) },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <UsageSection span={days} onSpan={(span) => show({ ...search, days: span })} />
      {isOwner && account.data !== undefined && (
        <StatementSection since={account.data.created_at} />
      )}
      <LedgerSection page={page} onPage={(next) => show({ ...search, page: next })} />
    </Page>
  );
}

type LedgerEntry = components['schemas']['LedgerEntry'];

const KIND = { grant: t('Grant'), debit: t('Conversion'), refund: t('Refund') } as const;

/** +5, −1: the sign says more than a colour. */
const formatChange = (amount: number): string =>
  `${amount < 0 ? '−' : '+'}${formatNumber(Math.abs(amount))}`;

const COLUMNS: readonly Column<LedgerEntry>[] = [
  {
    header: t('Time'),
    cell: ({ created_at: time }) => <Time iso={time} relative={false} />,
    isRowHeader: true,
  },
  { header: t('Entry'), cell: ({ type }) => KIND[type] },
  { header: t('Credits'), cell: ({ amount }) => formatChange(amount), align: 'end' },
  { header: t('Balance'), cell: ({ balance }) => formatNumber(balance), align: 'end' },
  {
    header: t('Conversion'),
    cell: ({ conversion_id: id, name }) =>
      id === undefined ? (
        '–'
      ) : (
        <RecordLink id={id} name={<bdi className="anywhere">{name ?? id}</bdi>} />
      ),
  },
];

type LedgerSectionProps = { readonly page: number; readonly onPage: (page: number) => void };

/** Each change of the credits, newest first. */
function LedgerSection({ page, onPage }: LedgerSectionProps) {
  const list = usePage({
    key: ['ledger'],
    page,
    size: 20,
    ask: (query, signal) => api.GET('/api/v1/account/ledger/', { params: { query }, signal }),
  });
  return (
    <Section
      title={t('Ledger')}
      lead={t('Each change of the credits, newest first.')}
      fold={page === 1 ? 'closed' : 'open'}
      actions={
        <ExportButton path="/api/v1/account/ledger/" fileName="ledger.csv" what={t('ledger')} />
      }
    >
      <Records
        list={list}
        of={t('entries')}
        label={t('Ledger')}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onPage={onPage}
        empty={
          <EmptyState icon="list" title={t('No entries yet')}>
            {t('Credits that an operator grants and that conversions cost are listed here.')}
          </EmptyState>
        }
      />
    </Section>
  );
}

type UsageSectionProps = { readonly span: Span; readonly onSpan: (span: Span) => void };

/** The conversions by day and result. */
export function UsageSection({ span, onSpan }: UsageSectionProps) {
  const [now] = useState(Date.now);
  const usage = useQuery({ ...recentUsageQuery(span, now), placeholderData: keepPreviousData });
  return (
    <Section
      title={t('Conversions by day')}
      lead={t(
        'Days are in UTC, as statements count them. In the table, a day leads to the conversions that were accepted on it.',
      )}
      actions={
        <div className="line">
          <Select
            label={t('Days')}
            choices={SPANS.map((days) => ({
              value: String(days),
              label: t('Last {days} days', { days }),
            }))}
            value={String(span)}
            onChange={(value) => onSpan(Number(value) as Span)}
          />
          <ExportButton
            path={`/api/v1/account/usage/?${new URLSearchParams({ ...lastDays(span, now) })}`}
            fileName={`usage-${span}-days.csv`}
            what={t('usage')}
          />
        </div>
      }
    >
      <Loaded query={usage} what={t('the usage')} lines={8}>
        {(days) => <UsageDays days={days} isOwn />}
      </Loaded>
    </Section>
  );
}

const MONTHS = 24;

/** The months that are over since the account was opened, such as 2026-10, the newest first. */
function monthsSince(since: string, now: Date): readonly string[] {
  const months = Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1 - ago)).toISOString().slice(0, 7),
  );
  return months.filter((month) => month >= since.slice(0, 7));
}

export function StatementSection({ since }: { readonly since: string }) {
  const [months] = useState(() => monthsSince(since, new Date()));
  const [month = '', setMonth] = useState(months[0]);
  const load = async () => {
    const { data, response } = await answerOf(
      api.POST('/api/v1/usage/statements/', {
        body: { month },
        headers: { Accept: 'application/pdf', Prefer: 'wait=30' },
        parseAs: 'blob',
      }),
    );
    if (response.status === 202) throw new Error(t('It takes longer: look under Conversions.'));
    return { file: data, name: `statement-${month}.pdf` };
  };
  return (
    <Section
      title={t('Monthly statement')}
      lead={t(
        'A PDF of what a month used, with the events of the log that prove it. It costs no credit.',
      )}
      actions={
        month !== '' && (
          <div className="line">
            <Select
              label={t('Month (UTC)')}
              choices={months.map((value) => ({ value, label: value }))}
              value={month}
              onChange={setMonth}
            />
            <SaveButton small icon="download" what={t('statement')} load={load}>
              {t('Make the statement')}
            </SaveButton>
          </div>
        )
      }
    >
      {month === '' && <p>{t('There is one once the first month of the account is over.')}</p>}
    </Section>
  );
}
