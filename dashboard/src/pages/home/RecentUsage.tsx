import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { recentUsageQuery, type UsageDay } from '../../api/usage.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/states.tsx';
import styles from './home.module.css';

export const USAGE_DAYS = 14;

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

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
        {(days) => <Bars days={days} />}
      </Loaded>
    </Section>
  );
}

const sum = (days: readonly UsageDay[], of: 'completed' | 'failed' | 'pages'): number =>
  days.reduce((total, day) => total + day[of], 0);

const labelOf = ({ day, completed, failed }: UsageDay): string =>
  `${DAY.format(new Date(day))}: ${formatNumber(completed)} completed, ${formatNumber(failed)} failed`;

function Bars({ days }: { readonly days: readonly UsageDay[] }) {
  const highest = Math.max(1, ...days.map(({ completed, failed }) => completed + failed));
  const height = (count: number) => ({ height: `${(count / highest) * 100}%` });
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
        <span>{counted(sum(days, 'pages'), 'page')}</span>
      </p>
      <ol className={styles.bars}>
        {days.map((day) => (
          <li key={day.day} className={styles.day} title={labelOf(day)}>
            <span className="visually-hidden">{labelOf(day)}</span>
            <span className={styles.bar} data-tone="danger" style={height(day.failed)} />
            <span className={styles.bar} data-tone="accent" style={height(day.completed)} />
          </li>
        ))}
      </ol>
      <p className={styles.ends} aria-hidden="true">
        <span>{days[0] && DAY.format(new Date(days[0].day))}</span>
        <span>Today</span>
      </p>
    </>
  );
}
