import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { recentUsageQuery, type UsageDay } from '../../api/usage.ts';
import { RENEWED } from '../../api/live-conversions.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { Loaded, Section } from '../../ui/Page.tsx';
import { EndedDays } from '../usage/UsageDays.tsx';
import { t } from '../../words/words.ts';

export const USAGE_DAYS = 14;

/** The usage of the last days as small bars. The page of usage has all of it. */
export function RecentUsage() {
  const [now] = useState(Date.now);
  const usage = useQuery({ ...recentUsageQuery(USAGE_DAYS, now), ...RENEWED });
  return (
    <Section
      title={t('Last {USAGE_DAYS} days', { USAGE_DAYS })}
      lead={t('Days are in UTC.')}
      actions={
        <ButtonLink to="/usage" small>
          {t('Credits and usage')}
        </ButtonLink>
      }
    >
      <Loaded query={usage} what={t('the usage')} lines={3}>
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
  const cancelled = sum(days, 'cancelled');
  const totals = [
    t('{completed} completed', { completed: formatNumber(sum(days, 'completed')) }),
    t('{failed} failed', { failed: formatNumber(sum(days, 'failed')) }),
    ...(cancelled > 0 ? [t('{cancelled} cancelled', { cancelled: formatNumber(cancelled) })] : []),
  ];
  return (
    <>
      <p>{[...totals, counted(sum(days, 'pages'), 'page')].join(' · ')}</p>
      <EndedDays days={days} />
    </>
  );
}
