/** The idempotency keys of an account's last day, for an account with ten of them or 100,000. */
import { Map as PersistentMap } from 'immutable';

export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

export interface AcceptedConversion {
  /** The id of a batch where its key was that of a batch. */
  readonly conversionId: string;
  readonly requestedAt: number;
}

/** The keys of a snapshot are never changed, so a plain map does, which is built ten times faster. */
interface Bucket {
  readonly restored: ReadonlyMap<string, AcceptedConversion>;
  readonly added: PersistentMap<string, AcceptedConversion>;
}

/**
 * Keys lie in buckets of four hours by their first acceptance, so that forgetting day-old keys is
 * dropping a bucket, and finding a key is a look into eight buckets, whatever their number.
 */
export type IdempotencyKeys = PersistentMap<number, Bucket>;

const BUCKET_MS = 4 * 60 * 60 * 1000;
/** One more than a day needs: the clocks of two nodes may differ. */
const BUCKETS_BEFORE = IDEMPOTENCY_WINDOW_MS / BUCKET_MS + 1;

const bucketOf = (time: number): number => Math.floor(time / BUCKET_MS);

/** True where an account has forgotten a key for its newest one: within a day, if a clock once ran ahead. */
export const isForgotten = (requestedAt: number, newest: number): boolean =>
  bucketOf(requestedAt) < bucketOf(newest) - BUCKETS_BEFORE;

const emptyBucket: Bucket = { restored: new Map(), added: PersistentMap() };
export const noKeys: IdempotencyKeys = PersistentMap();

/** The conversion that the key was first accepted for within the last 24 hours. */
export function findKey(
  keys: IdempotencyKeys,
  key: string,
  now: number,
): AcceptedConversion | undefined {
  for (const { restored, added } of keys.values()) {
    const accepted = added.get(key) ?? restored.get(key);
    if (accepted && now - accepted.requestedAt < IDEMPOTENCY_WINDOW_MS) return accepted;
  }
  return undefined;
}

export function rememberKey(
  keys: IdempotencyKeys,
  key: string,
  accepted: AcceptedConversion,
): IdempotencyKeys {
  const at = bucketOf(accepted.requestedAt);
  const oldest = at - BUCKETS_BEFORE;
  const live = keys.some((_, each) => each < oldest)
    ? keys.filter((_, each) => each >= oldest)
    : keys;
  const { restored, added } = live.get(at, emptyBucket);
  return live.set(at, { restored, added: added.set(key, accepted) });
}

/** Columns: as 100,000 small arrays the JSON takes twice as long to parse. */
export type StoredKeys = readonly (readonly [
  bucket: number,
  keys: readonly string[],
  conversionIds: readonly string[],
  requestedAt: readonly number[],
])[];

export function encodeKeys(buckets: IdempotencyKeys): StoredKeys {
  return [...buckets].map(([bucket, { restored, added }]) => {
    const keys: string[] = [];
    const conversionIds: string[] = [];
    const requestedAt: number[] = [];
    for (const part of [restored, added]) {
      for (const [key, accepted] of part.entries()) {
        keys.push(key);
        conversionIds.push(accepted.conversionId);
        requestedAt.push(accepted.requestedAt);
      }
    }
    return [bucket, keys, conversionIds, requestedAt];
  });
}

export function decodeKeys(stored: StoredKeys): IdempotencyKeys {
  return PersistentMap(
    stored.map(([bucket, keys, conversionIds, requestedAt]) => {
      const restored = new Map<string, AcceptedConversion>();
      for (let n = 0; n < keys.length; n += 1) {
        const [key = '', conversionId = '', at = 0] = [keys[n], conversionIds[n], requestedAt[n]];
        restored.set(key, { conversionId, requestedAt: at });
      }
      return [bucket, { ...emptyBucket, restored }];
    }),
  );
}
