/** How an account accepts conversions: each with its debit before it, unless it costs nothing; one alone or all of a batch. */
import type { Decision } from './decider.ts';
import type { BlobRef, PrintOptions, RequestFacts, RequestTexts, Source } from './event-fields.ts';
import type { EventOf } from './events.ts';

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
}

/** What a batch is called, and who is told of its end: sealed. */
export type BatchTexts = Pick<RequestTexts, 'reference' | 'tags' | 'webhookUrl'>;

interface Request {
  readonly accountId: string;
  readonly idempotencyKey?: string;
  /** Nothing is debited for it, and so nothing refunded. */
  readonly unpaid?: boolean;
  readonly now: number;
}

type AcceptanceEvent = EventOf<'CreditDebited' | 'ConversionRequested' | 'BatchRequested'>;

const keyOf = ({ idempotencyKey }: Request) =>
  idempotencyKey === undefined ? {} : { idempotencyKey };

interface Owner {
  readonly credits: number;
  readonly retentionSeconds: number | undefined;
}

/** Nothing is kept longer than its account says, also a retry of what was requested before it said so. */
const retentionOf = ({ retentionSeconds: own }: Owner, asked = Number.POSITIVE_INFINITY) =>
  own === undefined || asked <= own
    ? {}
    : { retentionSeconds: own, retentionOfAccount: true as const };

const markOf = ({ unpaid }: Request) => (unpaid === true ? { unpaid } : {});

/** The debit and the request of one conversion. */
function requested(
  owner: Owner,
  command: Request,
  { conversionId, source, request, requestHmac, options, facts }: RequestedConversion,
  more: { readonly idempotencyKey?: string; readonly batchId?: string },
): readonly AcceptanceEvent[] {
  const { accountId, now } = command;
  const amount = CREDITS_PER_CONVERSION;
  const debit = { type: 'CreditDebited', data: { accountId, conversionId, amount } } as const;
  return [
    ...(command.unpaid === true ? [] : [debit]),
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
        ...retentionOf(owner, facts?.retentionSeconds),
        requestedAt: now,
        ...markOf(command),
        ...more,
      },
    },
  ];
}

export function acceptConversion(
  owner: Owner,
  command: Request & RequestedConversion,
): Decision<AcceptanceEvent> {
  if (command.unpaid !== true && owner.credits < CREDITS_PER_CONVERSION) {
    return { rejected: 'insufficient_credits' };
  }
  return requested(owner, command, command, keyOf(command));
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
  const cost = command.unpaid === true ? 0 : total * CREDITS_PER_CONVERSION;
  if (credits < cost) {
    const message = `The batch takes ${cost} credits, and the account has ${credits}. Nothing was accepted. Add credits, or send fewer requests.`;
    return { rejected: 'insufficient_credits', message };
  }
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
