import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { recentUsageQuery, type UsageDay } from '../../api/usage.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { EndedDays } from '../usage/UsageDays.tsx';

export const USAGE_DAYS = 14;

/** The usage of the last days as small bars. The page of usage has all of it. */
export function RecentUsage() {
  const [now] = useState(Date.now);
  const usage = useQuery(recentUsageQuery(USAGE_DAYS, now));
  return (
    <Section
      title={`Last ${USAGE_DAYS} days`}
      lead="Days are in UTC."
      actions={
        <ButtonLink to="/usage" small>
          Credits and usage
        </ButtonLink>
      }
    >
      <Loaded query={usage} what="the usage" lines={3}>
        {(days) => <Days days={days} />}
      </Loaded>
    </Section>
  );
}

const sum = (
  days: readonly UsageDay[],
  of: 'completed' | 'failed' | 'cancelled' | 'pages',
): number => days.reduce((total, day) => total + day[of], 0);

function Days({ days }: { readonly days: readonly UsageDay[] }) {
  const totals = (['completed', 'failed', 'cancelled'] as const)
    .map((of) => [of, sum(days, of)] as const)
    .filter(([of, total]) => of !== 'cancelled' || total > 0)
    .map(([of, total]) => `${formatNumber(total)} ${of}`);
  return (
    <>
      <p>{[...totals, counted(sum(days, 'pages'), 'page')].join(' · ')}</p>
      <EndedDays days={days} />
    </>
  );
}
