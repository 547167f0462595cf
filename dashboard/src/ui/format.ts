/** Numbers, sizes, durations and names of standards as the pages write them. */
import { LOCALE, t, translated } from '../words/words.ts';

const NUMBER = new Intl.NumberFormat(LOCALE);
const ONE_DECIMAL = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 });

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const formatNumber = (value: number): string => NUMBER.format(value);

/** @param credits null: the service runs without credits */
export const formatCredits = (credits: number | null): string =>
  credits === null ? t('Not counted') : formatNumber(credits);

/** 820 B, 12.3 kB, 4.1 MB: in powers of 1000, on one line. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes}\u00a0B`;
  if (bytes < 1_000_000) return `${ONE_DECIMAL.format(bytes / 1000)}\u00a0kB`;
  if (bytes < 1_000_000_000) return `${ONE_DECIMAL.format(bytes / 1_000_000)}\u00a0MB`;
  return `${ONE_DECIMAL.format(bytes / 1_000_000_000)}\u00a0GB`;
}

/** 340 ms, 2.4 s, 3 min 20 s, 2 h 5 min. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)}\u00a0ms`;
  if (ms < MINUTE) return `${ONE_DECIMAL.format(ms / SECOND)}\u00a0s`;
  const [big, bigUnit, small, smallUnit] =
    ms < HOUR
      ? [Math.floor(ms / MINUTE), 'min', Math.floor((ms % MINUTE) / SECOND), 's']
      : [Math.floor(ms / HOUR), 'h', Math.floor((ms % HOUR) / MINUTE), 'min'];
  const rest = small === 0 ? '' : `\u00a0${small}\u00a0${smallUnit}`;
  return `${NUMBER.format(big)}\u00a0${bigUnit}${rest}`;
}

/** 1 page, 1,200 pages. Both words are in the catalogues. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${translated(count === 1 ? one : many)}`;

/** The number of bytes that a text in base64 stands for. */
export const decodedBytes = (base64: string): number =>
  Math.floor((base64.replace(/=+$/, '').length * 3) / 4);

/** `pdfa-3b` → PDF/A-3b, `pdfua-1` → PDF/UA-1. Other names stay as they are. */
export const conformanceName = (name: string): string =>
  name.replace(/^pdf(a|ua)-/, (_, family: string) => `PDF/${family.toUpperCase()}-`);

/** team → Team */
export const planName = (plan: string): string => plan.charAt(0).toUpperCase() + plan.slice(1);

/** The roles, within a sentence. */
export const ROLE_NAMES = {
  owner: t('owner'),
  member: t('member'),
  auditor: t('auditor'),
} as const;
