/** How an account accepts conversions: each with its debit before it, unless it costs nothing; one alone or all of a batch. */
import type { Decision, Rejection } from './decider.ts';
import type { BlobRef, PrintOptions, RequestFacts, RequestTexts, Source } from './event-fields.ts';
import type { EventOf } from './events.ts';
import { beyondLimit, type KeyUse, type LimitedKey } from './key-use.ts';

export const CREDITS_PER_CONVERSION = 1;
/** Conversions of one batch. */
export const MAX_BATCH = 1_000;

export interface RequestedConversion {
  readonly conversionId: string;
  readonly source: Source;
  readonly request: BlobRef;
  readonly requestHmac: string;
  readonly options: PrintOptions;
  readonly facts?: RequestFacts;
  /** It prints the account's statement of a month. */
  readonly statement?: { readonly month: string; readonly replaces?: string };
}

/** What a batch is called, and who is told of its end: sealed. */
export type BatchTexts = Pick<RequestTexts, 'reference' | 'tags' | 'webhookUrl'>;

/** A test's documents are kept for a day at most. */
export const TEST_RETENTION_SECONDS = 86_400;

/** The terms of the API key that something is asked for with. */
export interface KeyTerms {
  /** It makes tests: they cost nothing, and show that they are tests. */
  readonly isTest?: boolean;
  readonly limit?: LimitedKey;
}

interface Request {
  readonly accountId: string;
  readonly terms?: KeyTerms;
  readonly idempotencyKey?: string;
  /** Nothing is debited for it, and so nothing refunded. */
  readonly unpaid?: boolean;
  readonly now: number;
}

export type AcceptanceEvent = EventOf<
  'CreditDebited' | 'ConversionRequested' | 'StatementRequested' | 'BatchRequested'
>;

const keyOf = ({ idempotencyKey }: Request) =>
  idempotencyKey === undefined ? {} : { idempotencyKey };

interface Owner {
  readonly credits: number;
  readonly keyUse: KeyUse;
  readonly retentionSeconds: number | undefined;
}

/** Nothing is kept longer than its account says, also a retry of what was requested before it said so. */
const retentionOf = ({ retentionSeconds: own }: Owner, asked = Number.POSITIVE_INFINITY) =>
  own === undefined || asked <= own
    ? {}
    : { retentionSeconds: own, retentionOfAccount: true as const };

const isFree = ({ unpaid, terms }: Request): boolean => unpaid === true || terms?.isTest === true;

const markOf = (command: Request) => (isFree(command) ? { unpaid: true as const } : {});

/** What a test has beside other conversions. */
const testOf = ({ terms }: Request, asked = TEST_RETENTION_SECONDS) =>
  terms?.isTest === true
    ? { isTest: true as const, retentionSeconds: Math.min(asked, TEST_RETENTION_SECONDS) }
    : {};

/** @param cost in credits */
function refusalOf(
  { credits, keyUse }: Owner,
  { terms, now }: Request,
  cost: number,
  message?: string,
): Rejection | undefined {
  if (credits < cost) return { rejected: 'insufficient_credits', ...(message && { message }) };
  return terms?.limit && cost > 0 ? beyondLimit(keyUse, terms.limit, cost, now) : undefined;
}

/** The debit and the request of one conversion. */
function requested(
  owner: Owner,
  command: Request,
  { conversionId, source, request, requestHmac, options, facts, statement }: RequestedConversion,
  more: { readonly idempotencyKey?: string; readonly batchId?: string },
): readonly AcceptanceEvent[] {
  const { accountId, now, terms } = command;
  const amount = CREDITS_PER_CONVERSION;
  const test: { readonly retentionSeconds?: number } = testOf(command, facts?.retentionSeconds);
  const counted = terms?.limit && { keyId: terms.limit.keyId, debitedAt: now };
  const debit = {
    type: 'CreditDebited',
    data: { accountId, conversionId, amount, ...counted },
  } as const;
  return [
    ...(isFree(command) ? [] : [debit]),
    {
      type: 'ConversionRequested',
      data: {
        accountId,
        conversionId,
        source,
        request,
        requestHmac,
        options,
        ...facts,
        ...test,
        ...retentionOf(owner, test.retentionSeconds ?? facts?.retentionSeconds),
        requestedAt: now,
        ...markOf(command),
        ...more,
      },
    },
    ...(statement === undefined
      ? []
      : [{ type: 'StatementRequested', data: { accountId, conversionId, ...statement } } as const]),
  ];
}

export function acceptConversion(
  owner: Owner,
  command: Request & RequestedConversion,
): Decision<AcceptanceEvent> {
  const cost = isFree(command) ? 0 : CREDITS_PER_CONVERSION;
  return refusalOf(owner, command, cost) ?? requested(owner, command, command, keyOf(command));
}

/** Accepts all or none. */
export function acceptBatch(
  owner: Owner,
  command: Request & {
    readonly batchId: string;
    readonly conversions: readonly RequestedConversion[];
    readonly texts?: BatchTexts;
  },
): Decision<AcceptanceEvent> {
  const { credits } = owner;
  const { accountId, batchId, conversions, texts, now } = command;
  const total = conversions.length;
  const cost = isFree(command) ? 0 : total * CREDITS_PER_CONVERSION;
  const message = `The batch takes ${cost} credits, and the account has ${credits}. Nothing was accepted. Add credits, or send fewer requests.`;
  const refusal = refusalOf(owner, command, cost, message);
  if (refusal !== undefined) return refusal;
  return [
    {
      type: 'BatchRequested',
      data: {
        accountId,
        batchId,
        total,
        ...texts,
        requestedAt: now,
        ...markOf(command),
        ...keyOf(command),
      },
    },
    ...conversions.flatMap((each) => requested(owner, command, each, { batchId })),
  ];
}
