import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { recentUsageQuery, type UsageDay } from '../../api/usage.ts';
import { Bars } from '../../ui/Bars.tsx';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/states.tsx';
import styles from './home.module.css';

export const USAGE_DAYS = 14;

/** The usage of the last days as small bars. The page of usage has all of it. */
export function RecentUsage() {
  const [now] = useState(Date.now);
  const usage = useQuery(recentUsageQuery(USAGE_DAYS, now));
  return (
    <Section
      title={`Last ${USAGE_DAYS} days`}
      lead="Conversions that ended, by days in UTC."
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
  const cancelled = sum(days, 'cancelled');
  return (
    <>
      <p className={styles.totals}>
        <span>
          <span className="mark" data-tone="accent" />
          {formatNumber(sum(days, 'completed'))} completed
        </span>
        <span>
          <span className="mark" data-tone="danger" />
          {formatNumber(sum(days, 'failed'))} failed
        </span>
        {cancelled > 0 && (
          <span>
            <span className="mark" data-tone="neutral" />
            {formatNumber(cancelled)} cancelled
          </span>
        )}
        <span>{counted(sum(days, 'pages'), 'page')}</span>
      </p>
      <Bars days={days} counts={['failed', 'cancelled', 'completed']} />
    </>
  );
}
