/** What API keys are bounded by, in words for people. */
import type { ApiKey } from '../../api/account.ts';
import type { Choice } from '../../ui/Select.tsx';

export type Scope = NonNullable<ApiKey['scopes']>[number];

/** Without `keys`: a program that makes PDFs need not make keys. */
export const USUAL_SCOPES: readonly Scope[] = ['convert', 'read', 'history', 'webhooks'];

export const SCOPES: readonly Choice<Scope>[] = [
  { value: 'convert', label: 'Make, repeat and delete PDFs, and read those that it made' },
  { value: 'read', label: 'Read all conversions, their PDFs, credits and usage' },
  { value: 'history', label: 'Read the history, with proofs and evidence' },
  { value: 'webhooks', label: 'Set up webhooks, and read what they were sent' },
  { value: 'templates', label: 'Save and delete templates' },
  { value: 'keys', label: 'Create and revoke keys, and change the certificate' },
];

const SHORT: Readonly<Record<Scope, string>> = {
  convert: 'Convert',
  read: 'Read',
  history: 'History',
  webhooks: 'Webhooks',
  keys: 'Keys',
  templates: 'Templates',
};

export const scopesText = ({ scopes }: ApiKey): string =>
  scopes === undefined ? 'Everything' : scopes.map((each) => SHORT[each]).join(', ');

/** Its other bounds, one a line. */
export function boundsOf(key: ApiKey): readonly string[] {
  const { addresses, rate_limit: rate, credit_limit: credits, credits_used: used } = key;
  return [
    ...(key.test ? ['For tests'] : []),
    ...(addresses ? [`From ${addresses.join(', ')}`] : []),
    ...(rate === undefined ? [] : [`${rate} requests a minute`]),
    ...(credits === undefined ? [] : [`${used ?? 0} of ${credits} credits this month`]),
  ];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The ends that the form offers, in days; 0: none. */
export const ENDS = [
  { value: '0', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
] as const satisfies readonly Choice<string>[];

export type End = (typeof ENDS)[number]['value'];

export const endAt = (days: End, now: number): string | undefined =>
  days === '0' ? undefined : new Date(now + Number(days) * DAY_MS).toISOString();
