/**
 * The operator's own bounds: what the service as a whole may hold. Where one is reached, new conversions are
 * refused before their body is read. What was accepted goes on. Budgets (`budgets.ts`) bound single clients.
 */
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import { LogThrottle } from '../observe/log-throttle.ts';
import { BudgetExceeded } from './budgets.ts';

const MiB = 2 ** 20;

/** Each bound that has a setting: its key in `Config`, then setting, default, largest value, meaning. */
export const BOUNDS = {
  maxQueued: {
    name: 'MAX_QUEUED',
    default: 100_000,
    max: 1e9,
    about:
      'accepted conversions that have not ended; then new ones get 503. One account may have half of what others leave free',
  },
  minFreeDiskBytes: {
    name: 'MIN_FREE_DISK_BYTES',
    default: 256 * MiB,
    max: 2 ** 52,
    about: 'bytes of disk that stay free; below them new conversions get 503',
  },
  maxMemoryBytes: {
    name: 'MAX_MEMORY_BYTES',
    default: 0,
    max: 2 ** 44,
    about: "the API process's own memory, above which new conversions get 503; 0: no bound",
  },
} as const;

export type BoundSetting = keyof typeof BOUNDS;

/** The names of bounds in log lines and metrics. */
export type BoundName = 'queue' | 'disk' | 'memory' | 'blob_store' | 'nats';

/** New conversions that are asked for. */
export interface Asked {
  readonly accountId: string;
  readonly count: number;
}

/** A reason that concerns one account, in words for its client. */
export interface OfAccount {
  readonly toClient: string;
}

export interface BoundCheck {
  readonly name: BoundName;
  /** Resolves to the reason why nothing new may be accepted: a text is for the operator. Never rejects. */
  readonly reason: (asked: Asked) => Promise<string | OfAccount | undefined>;
}

/** The age of what is believed of disk, memory and queue. */
const LOOK_MS = 1000;
/** The same of a queue that was full: counting it takes a millisecond. */
const LOOK_AGAIN_MS = 50;
const RETRY_SECONDS = 10;
const REFUSED =
  'The service takes no new conversions right now. Nothing was accepted: try again after Retry-After seconds.';

export class Bounds {
  readonly #checks: readonly BoundCheck[];
  readonly #logger: Logger;
  readonly #lines = new Map<BoundName, LogThrottle>();
  readonly #refused: Map<BoundName, number>;

  constructor(checks: readonly BoundCheck[], logger: Logger) {
    this.#checks = checks;
    this.#refused = new Map(checks.map(({ name }) => [name, 0]));
    this.#logger = logger;
  }

  /**
   * Asked before anything of so many new conversions is accepted.
   * @throws {BudgetExceeded} 503; 429 if the account has its share
   */
  async admit(accountId: string, count = 1): Promise<void> {
    for (const { name, reason } of this.#checks) {
      const why = await reason({ accountId, count });
      if (why !== undefined) this.#refuse(name, why);
    }
  }

  /** The requests that each bound has refused, since the process began. */
  refused(): ReadonlyMap<BoundName, number> {
    return this.#refused;
  }

  #refuse(bound: BoundName, reason: string | OfAccount): never {
    this.#refused.set(bound, (this.#refused.get(bound) ?? 0) + 1);
    if (typeof reason !== 'string') {
      throw new BudgetExceeded('client', reason.toClient, RETRY_SECONDS);
    }
    const line = this.#lines.get(bound) ?? new LogThrottle();
    this.#lines.set(bound, line);
    line.log((suppressed) =>
      this.#logger.warn({ bound, suppressed }, `new conversions are refused: ${reason}`),
    );
    throw new BudgetExceeded('service', REFUSED, RETRY_SECONDS);
  }
}

/** Counts conversions that have not ended. */
export interface QueueCounts {
  count(): number;
  countOf(accountId: string): number;
}

/**
 * Bounds the conversions that have not ended. An account must leave as many places free as it has taken, so that
 * no few of them keep all others out. What this node admits counts at once; what others admit, and what has ended,
 * is seen at the next look.
 * @param clock milliseconds, of any clock that only goes on
 */
export function queueBound(
  counts: () => QueueCounts,
  max: number,
  clock: () => number = () => performance.now(),
): BoundCheck {
  let [all, lookedAt] = [0, -Infinity];
  /** Of the accounts that have asked since the last look. */
  const byAccount = new Map<string, number>();
  const ownOf = (accountId: string): number => {
    const own = byAccount.get(accountId) ?? counts().countOf(accountId);
    byAccount.set(accountId, own);
    return own;
  };
  return {
    name: 'queue',
    reason: async ({ accountId, count }) => {
      const now = clock();
      const isPastShare = (): boolean => all + ownOf(accountId) + count > max;
      if (now - lookedAt >= (isPastShare() ? LOOK_AGAIN_MS : LOOK_MS)) {
        byAccount.clear();
        [all, lookedAt] = [counts().count(), now];
      }
      if (all + count > max) return `${all} conversions have not ended, and MAX_QUEUED is ${max}.`;
      const own = ownOf(accountId);
      if (isPastShare()) return { toClient: shareTaken(own, count) };
      all += count;
      byAccount.set(accountId, own + count);
      return undefined;
    },
  };
}

const shareTaken = (own: number, count: number): string =>
  `With ${own} unfinished conversions, the account has no room in the queue for ${count} more: ` +
  'it may have half of the places that others leave free. ' +
  'Nothing was accepted. Try again when some have ended, or cancel some.';

/** Keeps room on the disks of these directories, so that what was accepted can be rendered and recorded. */
export function diskBound(directories: readonly string[], minFreeBytes: number): BoundCheck {
  const lookAt = async (directory: string): Promise<string | undefined> => {
    // A directory that cannot be asked shows when a write fails there.
    const found = await statfs(directory).catch(() => undefined);
    if (found === undefined) return undefined;
    const free = found.bavail * found.bsize;
    if (free >= minFreeBytes) return undefined;
    return `the disk of ${directory} has ${free} bytes left, and MIN_FREE_DISK_BYTES is ${minFreeBytes}.`;
  };
  const look = async (): Promise<string | undefined> =>
    (await Promise.all(directories.map(lookAt))).find((each) => each !== undefined);
  return { name: 'disk', reason: sometimes(look) };
}

export function memoryBound(maxBytes: number): BoundCheck {
  const look = async (): Promise<string | undefined> => {
    const used = process.memoryUsage.rss();
    if (used <= maxBytes) return undefined;
    return `this process takes ${used} bytes of memory, and MAX_MEMORY_BYTES is ${maxBytes}.`;
  };
  return { name: 'memory', reason: sometimes(look) };
}

/** Looks at most once a second; those who ask in between share what it found. */
export function sometimes<T>(look: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  let lookedAt = -Infinity;
  return () => {
    const now = performance.now();
    if (found === undefined || now - lookedAt >= LOOK_MS) [found, lookedAt] = [look(), now];
    return found;
  };
}
