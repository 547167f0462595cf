/** Limits of streams and buckets, set when they are made: nothing fills a server's disk or memory without end. */
import { JetStreamApiError } from '@nats-io/jetstream';

const MiB = 2 ** 20;
const GiB = 2 ** 30;

/** Bytes of each, by what it holds. Full, it refuses what is new. An operator's own limits are left as they are. */
export const MAX_BYTES = {
  /** Waiting jobs are few at a time: the rest waits in the log. */
  jobs: 256 * MiB,
  /** Documents and manifests. */
  blobs: 32 * GiB,
  /** The names of those. */
  blobIndex: GiB,
  /** Some 300 bytes an account. */
  keys: GiB,
  /** A lease, or the name of a log. */
  small: MiB,
  /** Counts of requests, in memory: full, each node counts for itself. */
  rates: 64 * MiB,
} as const;

export const MAX_JOBS = 100_000;

/** The server reserves what a stream may take, and has not so much: storage, memory, or an account's share. */
const TOO_MUCH: ReadonlySet<number> = new Set([10_002, 10_023, 10_028, 10_047]);
const LEAST = MiB;

/**
 * Makes a stream with that limit, or with a quarter of it, and so on, where the server cannot reserve as much:
 * others must find room, too.
 */
export async function withinStorage<T>(
  maxBytes: number,
  make: (maxBytes: number) => Promise<T>,
): Promise<T> {
  for (let bytes = maxBytes; ; bytes /= 4) {
    try {
      return await make(Math.max(bytes, LEAST));
    } catch (error) {
      const mayFit = error instanceof JetStreamApiError && TOO_MUCH.has(error.code);
      if (!mayFit || bytes <= LEAST) throw error;
    }
  }
}
