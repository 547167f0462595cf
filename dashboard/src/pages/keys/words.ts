/** What API keys are bounded by, in words for people. */
import type { ApiKey } from '../../api/people.ts';
import type { Choice } from '../../ui/Select.tsx';
import { t } from '../../words/words.ts';

export type Scope = NonNullable<ApiKey['scopes']>[number];

/** Without `keys`: a program that makes PDFs need not make keys. */
export const USUAL_SCOPES: readonly Scope[] = ['convert', 'read', 'history', 'webhooks'];

export const SCOPES: readonly Choice<Scope>[] = [
  { value: 'convert', label: t('Make, repeat and delete PDFs, and read those that it made') },
  { value: 'read', label: t('Read all conversions, their PDFs, credits and usage') },
  { value: 'history', label: t('Read the history, with proofs and evidence') },
  { value: 'webhooks', label: t('Set up webhooks, and read what they were sent') },
  { value: 'templates', label: t('Save and delete templates') },
  { value: 'keys', label: t('Create and revoke keys, and change the certificate') },
];

const SHORT: Readonly<Record<Scope, string>> = {
  convert: t('Convert'),
  read: t('Read'),
  history: t('History'),
  webhooks: t('Webhooks'),
  keys: t('Keys'),
  templates: t('Templates'),
};

export const scopesText = ({ scopes }: ApiKey): string =>
  scopes === undefined ? t('Everything') : scopes.map((each) => SHORT[each]).join(', ');

/** Its other bounds, one a line. */
export function boundsOf(key: ApiKey): readonly string[] {
  const { addresses, rate_limit: rate, credit_limit: credits, credits_used: used } = key;
  return [
    ...(key.test ? [t('For tests')] : []),
    ...(addresses ? [t('From {value}', { value: addresses.join(', ') })] : []),
    ...(rate === undefined ? [] : [t('{rate} requests a minute', { rate })]),
    ...(credits === undefined
      ? []
      : [t('{value} of {credits} credits this month', { value: used ?? 0, credits })]),
  ];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The ends that the form offers, in days; 0: none. */
export const ENDS = [
  { value: '0', label: t('Never') },
  { value: '30', label: t('In 30 days') },
  { value: '90', label: t('In 90 days') },
  { value: '365', label: t('In a year') },
] as const satisfies readonly Choice<string>[];

export type End = (typeof ENDS)[number]['value'];

export const endAt = (days: End, now: number): string | undefined =>
  days === '0' ? undefined : new Date(now + Number(days) * DAY_MS).toISOString();
