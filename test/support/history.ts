/** A made-up past: accounts, conversions in every end they can have, keys. The same one each time. */
import type { RequestMarks } from '../../src/domain/event-fields.ts';
import type { DomainEvent } from '../../src/domain/events.ts';
import {
  accountId,
  blobRef,
  conversionId,
  HOUR_MS,
  keyId,
  NOW,
  OPTIONS,
  PDF,
  REQUEST_HMAC,
  sha256,
  TIMINGS,
} from './samples.ts';

export interface Step {
  readonly stream: string;
  /** Appended together. `position` is that of the conversion's failure, where a step needs it. */
  readonly events: (position: bigint) => readonly DomainEvent[];
  /** The failure that a later refund answers. */
  readonly failure?: boolean;
}

const KEY_USES = 10;
/** Of a hundred conversions: how many fail, are still rendering, wait, and have expired. */
const FAILED = 5;
const PROCESSING = 2;
const PENDING = 1;
const EXPIRED = 10;

export function opening(n: number, credits: number): Step {
  return {
    stream: `account-${accountId(n)}`,
    events: () => [
      {
        type: 'AccountOpened',
        data: { accountId: accountId(n), email: `sealed ${n}`, plan: 'pro', passwordHash: 'x' },
      },
      { type: 'CreditGranted', data: { accountId: accountId(n), amount: credits } },
    ],
  };
}

export function keyMaking(n: number, account: number): Step {
  const data = { accountId: accountId(account), keyId: keyId(n), keyHash: sha256(n) };
  return {
    stream: `apikey-${keyId(n)}`,
    events: () => [
      {
        type: 'KeyCreated',
        data: { ...data, prefix: 'pk_live_abcd', name: `sealed ${n}`, createdAt: NOW + n },
      },
    ],
  };
}

export function request(
  n: number,
  account: number,
  marks: Pick<RequestMarks, 'priority'> = {},
): Step {
  const ids = { accountId: accountId(account), conversionId: conversionId(n) };
  return {
    stream: `account-${accountId(account)}`,
    events: () => [
      { type: 'CreditDebited', data: { ...ids, amount: 1 } },
      {
        type: 'ConversionRequested',
        data: {
          ...ids,
          source: 'html',
          request: blobRef('request', n),
          requestHmac: REQUEST_HMAC,
          options: OPTIONS,
          requestedAt: NOW + n,
          ...marks,
        },
      },
    ],
  };
}

const outcomeOf = (n: number, account: number) => ({
  accountId: accountId(account),
  conversionId: conversionId(n),
  renderer: 'renderer-1',
  attempt: 1,
});

export function start(n: number, account: number): Step {
  return {
    stream: `conversion-${conversionId(n)}`,
    events: () => [
      {
        type: 'ConversionStarted',
        data: { ...outcomeOf(n, account), delivery: 'd', startedAt: NOW + n + 100 },
      },
    ],
  };
}

export function completion(n: number, account: number): Step {
  return {
    stream: `conversion-${conversionId(n)}`,
    events: () => [
      {
        type: 'ConversionCompleted',
        data: {
          ...outcomeOf(n, account),
          document: blobRef('document', n),
          pdf: PDF,
          pages: 2,
          timings: TIMINGS,
          manifest: blobRef('manifest', n),
          chrome: 'HeadlessChrome/156.0.0.0',
          completedAt: NOW + n + 900,
        },
      },
    ],
  };
}

export function failure(n: number, account: number): Step {
  return {
    stream: `conversion-${conversionId(n)}`,
    failure: true,
    events: () => [
      {
        type: 'ConversionFailed',
        data: {
          ...outcomeOf(n, account),
          code: 'timeout',
          message: 'sealed reason',
          failedAt: NOW + n + 900,
        },
      },
    ],
  };
}

export function refund(n: number, account: number): Step {
  const ids = { accountId: accountId(account), conversionId: conversionId(n) };
  return {
    stream: `account-${accountId(account)}`,
    events: (position) => [
      { type: 'CreditRefunded', data: { ...ids, amount: 1, failedAt: position.toString() } },
    ],
  };
}

export function expiry(n: number, account: number): Step {
  const ids = { accountId: accountId(account), conversionId: conversionId(n) };
  return {
    stream: `conversion-${conversionId(n)}`,
    events: () => [{ type: 'ConversionExpired', data: { ...ids, expiredAt: NOW + 24 * HOUR_MS } }],
  };
}

function keyUse(n: number, account: number): Step {
  const data = { accountId: accountId(account), keyId: keyId(account), usedAt: NOW + n };
  return { stream: `apikey-${keyId(account)}`, events: () => [{ type: 'KeyUsed', data }] };
}

/** The conversions' steps lie between each other's, as when several are rendered at a time. */
export function* history(accounts: number, conversions: number): Generator<Step> {
  for (let account = 1; account <= accounts; account += 1) {
    yield opening(account, 1_000_000);
    yield keyMaking(account, account);
  }
  const unended: Step[][] = [];
  for (let n = 1; n <= conversions; n += 1) {
    const account = 1 + (n % accounts);
    yield request(n, account);
    if (n % KEY_USES === 0) yield keyUse(n, account);
    unended.push(lifeOf(n, account));
    if (unended.length > 8) yield* unended.shift() ?? [];
  }
  for (const life of unended) yield* life;
}

function lifeOf(n: number, account: number): Step[] {
  const share = n % 100;
  if (share < PENDING) return [];
  if (share < PENDING + PROCESSING) return [start(n, account)];
  const ended =
    share < PENDING + PROCESSING + FAILED
      ? [failure(n, account), refund(n, account)]
      : [completion(n, account)];
  return [start(n, account), ...ended, ...(share >= 100 - EXPIRED ? [expiry(n, account)] : [])];
}
