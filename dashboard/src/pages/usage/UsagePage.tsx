import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useAccount } from '../../api/account.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Loading } from '../../ui/Loading.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { LedgerSection } from './LedgerSection.tsx';
import styles from './Usage.module.css';
import { Figure, UsageSection } from './UsageSection.tsx';

const route = getRouteApi('/signed-in/usage');

const LEAD = 'A conversion costs 1 credit. One that fails gives it back.';

export default function UsagePage() {
  const account = useAccount();
  const search = route.useSearch();
  const { days = 30, page = 1 } = search;
  const navigate = useNavigate();
  return (
    <Page title="Credits and usage" lead={LEAD}>
      <Section title="Balance">
        {account.isError ? (
          <ErrorState error={account.error} onRetry={() => void account.refetch()} />
        ) : account.data === undefined ? (
          <Loading label="Loading the balance" lines={2} />
        ) : (
          <dl className={styles.totals}>
            <Figure label="Credits left" value={formatNumber(account.data.credits)} />
            <Figure label="Plan" value={planName(account.data.plan)} />
            <Figure
              label="Requests a minute with API keys"
              value={formatNumber(account.data.rate_limit)}
            />
          </dl>
        )}
      </Section>
      <UsageSection
        span={days}
        onSpan={(span) =>
          void navigate({ to: '/usage', search: { ...search, days: span }, resetScroll: false })
        }
      />
      <LedgerSection
        page={page}
        onPage={(next) =>
          void navigate({
            to: '/usage',
            search: { ...search, page: next },
            resetScroll: false,
          })
        }
      />
    </Page>
  );
}
