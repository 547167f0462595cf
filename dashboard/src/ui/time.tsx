/** Points in time, and how long ago they were. */
import { useSyncExternalStore } from 'react';
import styles from './time.module.css';
import { LOCALE, t } from '../words/words.ts';

const TICK_MS = 15_000;
/** The clock of the service may be ahead of the browser's. */
const CLOCK_SKEW_SECONDS = 5;

const ABSOLUTE = new Intl.DateTimeFormat(LOCALE, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
/** Whole units, and no words such as "yesterday": a day and a half ago may be two calendar days ago. */
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'always' });

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** 23 Nov 2026, 04:12:16 UTC: in the zone of the person, which it names. */
export const formatTime = (iso: string): string => ABSOLUTE.format(new Date(iso));

function formatRelative(iso: string): string {
  const seconds = Math.round((Date.parse(iso) - Date.now()) / 1000);
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  if (unit === undefined) return seconds > CLOCK_SKEW_SECONDS ? t('in a moment') : t('just now');
  const units = seconds / unit[1];
  // A session of 7 days that has just begun ends in 7 days, not in 6.
  return RELATIVE.format(units > 0 ? Math.round(units) : Math.trunc(units), unit[0]);
}

let ticks = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** One clock for all times on the page, which stands still while none is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    ticks += 1;
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

interface TimeProps {
  /** ISO 8601. */
  readonly iso: string;
  /** How long ago it was, beside it. */
  readonly relative?: boolean;
  /** `short`: how long ago it was alone, and the time itself where a mouse points at it. */
  readonly look?: 'whole' | 'short';
}

/** A point in time, with its zone. */
export function Time({ iso, relative = true, look = 'whole' }: TimeProps) {
  useSyncExternalStore(subscribe, () => ticks);
  if (look === 'short') {
    return (
      <time dateTime={iso} title={formatTime(iso)} className={styles.time}>
        {formatRelative(iso)}
      </time>
    );
  }
  return (
    <time dateTime={iso} className={styles.time}>
      {formatTime(iso)}
      {relative && (
        <>
          {' '}
          <span className="note">{formatRelative(iso)}</span>
        </>
      )}
    </time>
  );
}
