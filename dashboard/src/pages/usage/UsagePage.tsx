import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useAccount } from '../../api/account.ts';
import { Figures } from '../../ui/Figures.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Page, Section } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { Loaded } from '../../ui/states.tsx';
import { LedgerSection } from './LedgerSection.tsx';
import type { UsageSearch } from './search.ts';
import { UsageSection } from './UsageSection.tsx';

const route = getRouteApi('/signed-in/usage');

const LEAD = 'A conversion costs 1 credit. One that fails gives it back.';

export default function UsagePage() {
  const account = useAccount();
  const search = route.useSearch();
  const { days = 30, page = 1 } = search;
  const navigate = useNavigate();
  const show = (next: UsageSearch) =>
    void navigate({ to: '/usage', search: next, resetScroll: false });
  return (
    <Page title="Credits and usage" lead={LEAD}>
      <Section title="Balance">
        <Loaded query={account} what="the balance" lines={2}>
          {({ credits, plan, rate_limit: limit }) => (
            <Figures
              figures={[
                { name: 'Credits left', value: formatNumber(credits) },
                { name: 'Plan', value: planName(plan) },
                { name: 'Requests a minute with API keys', value: formatNumber(limit) },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <UsageSection span={days} onSpan={(span) => show({ ...search, days: span })} />
      <LedgerSection page={page} onPage={(next) => show({ ...search, page: next })} />
    </Page>
  );
}
