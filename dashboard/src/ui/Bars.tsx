import type { UsageDay } from '../api/usage.ts';
import styles from './Bars.module.css';
import { formatNumber } from './format.ts';

type Count = 'completed' | 'failed' | 'cancelled' | 'pages';

const TONES = {
  completed: 'accent',
  failed: 'danger',
  cancelled: 'neutral',
  pages: 'accent',
} as const;
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
/** The parts of the days at whose ends a day is named. */
const QUARTERS = [0, 0.25, 0.5, 0.75, 1];

const dayText = ({ day }: UsageDay): string => DAY.format(new Date(day));

/** The least round number that is no less than all, and whose half is whole. */
function topOf(values: readonly number[]): number {
  const most = Math.max(2, ...values);
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 6, 8].map((each) => each * power).find((each) => each >= most) ?? 10 * power;
}

interface BarsProps {
  readonly days: readonly UsageDay[];
  /** The counts of a day, from the top of its bar. */
  readonly counts: readonly Count[];
}

/** A bar for each day. It is a list for screen readers; the numbers of a day are shown below the pointer. */
export function Bars({ days, counts }: BarsProps) {
  const top = topOf(days.map((day) => counts.reduce((sum, count) => sum + day[count], 0)));
  return (
    <div className={styles.chart}>
      <p className={styles.scale} aria-hidden="true">
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{formatNumber(value)}</span>
        ))}
      </p>
      <ol className={styles.days}>
        {days.map((day) => (
          <li key={day.day} className={styles.day}>
            <span className={styles.text}>
              {dayText(day)}:{' '}
              {counts.map((count) => `${formatNumber(day[count])} ${count}`).join(', ')}
            </span>
            {counts.map((count) => (
              <span
                key={count}
                className={styles.bar}
                data-tone={TONES[count]}
                style={{ height: `${(day[count] / top) * 100}%` }}
              />
            ))}
          </li>
        ))}
      </ol>
      <p className={styles.names} aria-hidden="true">
        {QUARTERS.map((part) => {
          const day = days[Math.round(part * (days.length - 1))];
          return <span key={part}>{day && dayText(day)}</span>;
        })}
      </p>
    </div>
  );
}
