import type { AccountDependencies } from './accounts/accounts.ts';
import type { Config } from './config/config.ts';
import type { Lease } from './leader/port.ts';
import type { Bounds } from './limits/bounds.ts';
import type { Budgets } from './limits/budgets.ts';
import type { RateLimiter } from './limits/rate-limiter/port.ts';
import type { CheckpointSigner } from './log/checkpoint-signer.ts';
import type { Documents, Log } from './log/log-origin.ts';
import type { Logger } from './observe/log.ts';
import type { Metrics } from './observe/metrics/metrics.ts';
import type { Tracing } from './observe/tracing/port.ts';
import type { RebuildProgress, RebuildResult } from './read-model/rebuild.ts';
import type { RendererWatch, RenderQueue } from './render-queue/port.ts';
import type { Clock } from './time/clock.ts';

/** Access to the render queue, and to the right to feed it. */
export interface RenderQueues {
  /**
   * The queue as one part of this process uses it; closing it leaves other parts' alone.
   * @param side `api` offers jobs and records reports, `renderer` takes jobs and reports
   */
  open(side: 'api' | 'renderer' | 'both'): Promise<RenderQueue>;
  /** Calls back when a server that was away is back, and may have lost jobs; returns how to end that. */
  onReturn(listener: () => void): () => void;
  /** Reserves a shared queue for the log of this origin. @throws {Error} one line: it is another log's */
  claim(logOrigin: string): Promise<void>;
  /** Sees the renderers, and whether somebody feeds them. */
  watch(): Promise<RendererWatch>;
  /** The right to offer the log's jobs and to record what came of them. */
  lease(logOrigin: string): Lease;
}

/** The parts that every role and every command works with: the log, its actors and its read models. */
export interface Core extends Log, Documents, AccountDependencies {
  readonly config: Config;
  readonly bounds: Bounds;
  readonly budgets: Budgets;
  readonly logger: Logger;
  /** Absent where no setting asks for them. */
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly signer: CheckpointSigner;
  readonly queues: RenderQueues;
  readonly openRateLimiter: (clock: Clock) => Promise<RateLimiter>;
  /** 32 bytes from which the keys of tokens and links are derived. */
  readonly masterKey: Buffer;
  /** Keys the hashes of idempotency keys. */
  readonly idempotencySecret: Buffer;
  /** Waits until the read model holds everything that was in the log when it was called. */
  caughtUp(): Promise<void>;
  /** Reasons why it cannot take commands and show their outcome right now, for its operator; else empty. */
  unhealthyReasons(): Promise<readonly string[]>;
  /** Rebuilds the read models from the log, while others use them. */
  rebuildReadModel(onProgress: (progress: RebuildProgress) => void): Promise<RebuildResult>;
  close(): Promise<void>;
}
