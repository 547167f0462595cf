/**
 * An account: money, plan, acceptance and idempotency. What must be decided together is decided here,
 * in one append.
 */
import { Map as PersistentMap } from 'immutable';
import type { Decider, SnapshotCodec } from './decider.ts';
import type { BlobRef, EventOf, Plan, PrintOptions } from './events.ts';

export const accountStream = (accountId: string): string => `account-${accountId}`;

export type AccountEvent = EventOf<
  | 'AccountOpened'
  | 'PlanChanged'
  | 'CreditGranted'
  | 'CreditDebited'
  | 'ConversionRequested'
  | 'CreditRefunded'
  | 'PasswordChanged'
  | 'AccountErased'
>;

export const CREDITS_PER_CONVERSION = 1;
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;
/** Keeps a balance within what a JSON number holds exactly, however often credits are granted. */
export const MAX_BALANCE = 1_000_000_000_000;

export interface AcceptedConversion {
  readonly conversionId: string;
  readonly requestedAt: number;
}

/**
 * Idempotency keys lie in buckets of four hours by their first acceptance, so that forgetting day-old
 * keys is dropping a bucket, and finding a key is a look into eight buckets, whatever their number.
 */
type KeyBuckets = PersistentMap<number, PersistentMap<string, AcceptedConversion>>;
const BUCKET_MS = 4 * 60 * 60 * 1000;
/** One more than a day needs: the clocks of two nodes may differ. */
const BUCKETS_BEFORE = IDEMPOTENCY_WINDOW_MS / BUCKET_MS + 1;

export interface AccountState {
  readonly status: 'none' | 'open' | 'erased';
  readonly email: string;
  readonly passwordHash: string;
  readonly plan: Plan;
  readonly credits: number;
  /** Refunds are given in the order of the failures; all up to this position are done. */
  readonly refundedThrough: bigint;
  readonly keys: KeyBuckets;
}

const initialState: AccountState = {
  status: 'none',
  email: '',
  passwordHash: '',
  plan: 'free',
  credits: 0,
  refundedThrough: 0n,
  keys: PersistentMap(),
};

export type AccountCommand =
  | {
      readonly type: 'OpenAccount';
      readonly accountId: string;
      readonly email: string;
      readonly passwordHash: string;
      readonly plan: Plan;
      readonly credits: number;
    }
  | { readonly type: 'ChangePlan'; readonly accountId: string; readonly plan: Plan }
  | { readonly type: 'GrantCredits'; readonly accountId: string; readonly amount: number }
  | { readonly type: 'ChangePassword'; readonly accountId: string; readonly passwordHash: string }
  | {
      readonly type: 'RequestConversion';
      readonly accountId: string;
      readonly conversionId: string;
      readonly source: 'html' | 'url';
      readonly request: BlobRef;
      readonly options: PrintOptions;
      readonly idempotencyKey?: string;
      readonly now: number;
    }
  | {
      readonly type: 'RefundConversion';
      readonly accountId: string;
      readonly conversionId: string;
      /** Position of the ConversionFailed event. */
      readonly failedAt: bigint;
    };

/** The conversion that the key was first accepted for within the last 24 hours. */
export function acceptedWithKey(
  state: AccountState,
  idempotencyKey: string,
  now: number,
): AcceptedConversion | undefined {
  for (const bucket of state.keys.values()) {
    const accepted = bucket.get(idempotencyKey);
    if (accepted && now - accepted.requestedAt < IDEMPOTENCY_WINDOW_MS) return accepted;
  }
  return undefined;
}

function rememberKey(keys: KeyBuckets, key: string, accepted: AcceptedConversion): KeyBuckets {
  const at = Math.floor(accepted.requestedAt / BUCKET_MS);
  const oldest = at - BUCKETS_BEFORE;
  const live = keys.some((_, each) => each < oldest)
    ? keys.filter((_, each) => each >= oldest)
    : keys;
  return live.set(at, live.get(at, PersistentMap<string, AcceptedConversion>()).set(key, accepted));
}

function evolve(state: AccountState, event: AccountEvent): AccountState {
  switch (event.type) {
    case 'AccountOpened': {
      const { email, passwordHash, plan } = event.data;
      return { ...state, status: 'open', email, passwordHash, plan };
    }
    case 'PlanChanged':
      return { ...state, plan: event.data.plan };
    case 'CreditGranted':
      return { ...state, credits: state.credits + event.data.amount };
    case 'CreditDebited':
      return { ...state, credits: state.credits - event.data.amount };
    case 'CreditRefunded':
      return {
        ...state,
        credits: state.credits + event.data.amount,
        refundedThrough: BigInt(event.data.failedAt),
      };
    case 'ConversionRequested': {
      const { idempotencyKey, conversionId, requestedAt } = event.data;
      if (idempotencyKey === undefined) return state;
      return {
        ...state,
        keys: rememberKey(state.keys, idempotencyKey, { conversionId, requestedAt }),
      };
    }
    case 'PasswordChanged':
      return { ...state, passwordHash: event.data.passwordHash };
    case 'AccountErased':
      return { ...initialState, status: 'erased' };
  }
}

const noSuchAccount = { refused: 'not_found', message: 'There is no such account.' } as const;

const decide: Decider<AccountState, AccountCommand, AccountEvent>['decide'] = (command, state) => {
  if (command.type === 'OpenAccount') {
    if (state.status !== 'none') return [];
    const { accountId, email, passwordHash, plan, credits } = command;
    return [
      { type: 'AccountOpened', data: { accountId, email, passwordHash, plan } },
      ...(credits > 0
        ? [{ type: 'CreditGranted', data: { accountId, amount: credits } } as const]
        : []),
    ];
  }
  if (state.status !== 'open') return noSuchAccount;
  const { accountId } = command;
  switch (command.type) {
    case 'ChangePlan':
      if (command.plan === state.plan) return [];
      return [{ type: 'PlanChanged', data: { accountId, plan: command.plan } }];
    case 'GrantCredits':
      if (state.credits + command.amount > MAX_BALANCE) {
        return {
          refused: 'validation_error',
          message: `An account holds at most ${MAX_BALANCE} credits; it has ${state.credits}.`,
        };
      }
      return [{ type: 'CreditGranted', data: { accountId, amount: command.amount } }];
    case 'ChangePassword':
      return [{ type: 'PasswordChanged', data: { accountId, passwordHash: command.passwordHash } }];
    case 'RequestConversion': {
      const { conversionId, source, request, options, idempotencyKey, now } = command;
      if (idempotencyKey !== undefined && acceptedWithKey(state, idempotencyKey, now)) return [];
      if (state.credits < CREDITS_PER_CONVERSION) return { refused: 'insufficient_credits' };
      return [
        {
          type: 'CreditDebited',
          data: { accountId, conversionId, amount: CREDITS_PER_CONVERSION },
        },
        {
          type: 'ConversionRequested',
          data: {
            accountId,
            conversionId,
            source,
            request,
            options,
            requestedAt: now,
            ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
          },
        },
      ];
    }
    case 'RefundConversion': {
      const { conversionId, failedAt } = command;
      if (failedAt <= state.refundedThrough) return [];
      return [
        {
          type: 'CreditRefunded',
          data: {
            accountId,
            conversionId,
            amount: CREDITS_PER_CONVERSION,
            failedAt: failedAt.toString(),
          },
        },
      ];
    }
  }
};

export const account: Decider<AccountState, AccountCommand, AccountEvent> = {
  initialState,
  evolve,
  decide,
};

/** Columns: as 100,000 small arrays the JSON takes twice as long to parse. */
type StoredKeys = [
  bucket: number,
  keys: string[],
  conversionIds: string[],
  requestedAt: number[],
][];
function columns(
  bucket: number,
  accepted: PersistentMap<string, AcceptedConversion>,
): StoredKeys[number] {
  const keys: string[] = [];
  const conversionIds: string[] = [];
  const requestedAt: number[] = [];
  for (const [key, each] of accepted.entries()) {
    keys.push(key);
    conversionIds.push(each.conversionId);
    requestedAt.push(each.requestedAt);
  }
  return [bucket, keys, conversionIds, requestedAt];
}

type StoredAccount = Omit<AccountState, 'keys' | 'refundedThrough'> & {
  readonly refundedThrough: string;
  readonly keys: StoredKeys;
};

export const accountSnapshot: SnapshotCodec<AccountState> = {
  version: 2,
  encode: (state): StoredAccount => ({
    ...state,
    refundedThrough: state.refundedThrough.toString(),
    keys: [...state.keys].map(([bucket, keys]) => columns(bucket, keys)),
  }),
  decode: (json) => {
    const stored = json as StoredAccount;
    return {
      ...stored,
      refundedThrough: BigInt(stored.refundedThrough),
      keys: PersistentMap(
        stored.keys.map(([bucket, keys, conversionIds, requestedAt]) => [
          bucket,
          PersistentMap<string, AcceptedConversion>().withMutations((map) => {
            for (const [n, key] of keys.entries()) {
              const [conversionId = '', at = 0] = [conversionIds[n], requestedAt[n]];
              map.set(key, { conversionId, requestedAt: at });
            }
          }),
        ]),
      ),
    };
  },
};
