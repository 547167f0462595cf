import type { ActorSystem } from './actors/system.ts';
import type { AccountDependencies, FirstAccount } from './use-cases/accounts.ts';
import type { BlobStore } from './blob-store/port.ts';
import type { Budgets } from './budgets.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { EventStore } from './event-store/port.ts';
import type { Vault } from './keyring/vault.ts';
import type { Logger } from './log.ts';
import type { RateLimiter } from './rate-limiter/port.ts';
import type { ReadModel } from './read-model/database.ts';
import type { RebuildProgress, RebuildResult } from './read-model/rebuild.ts';
import type { ProjectionRunner } from './read-model/runner.ts';
import type { RenderQueue } from './render-queue/port.ts';

/** The right to do what one process at a time does. */
export interface Lease {
  /** Resolves when it is lost without having been given back; absent where that cannot happen. */
  readonly lost?: Promise<void>;
  release(): void | Promise<void>;
}

/** Access to the render queue, and the right to feed it. */
export interface RenderQueues {
  /** True if renderers of other processes take jobs from it too. */
  readonly shared: boolean;
  /**
   * The queue as one part of this process uses it; closing it leaves other parts' alone.
   * @param side `api` offers jobs and records reports, `renderer` takes jobs and reports
   */
  open(side: 'api' | 'renderer' | 'both'): Promise<RenderQueue>;
  /** Calls back when a server that was away is back, and may have lost jobs; returns how to end that. */
  onReturn(listener: () => void): () => void;
  /** Takes the right to offer jobs and to record what came of them, if no other process has it. */
  acquireLead(): Lease | undefined | Promise<Lease | undefined>;
}

/** The parts that every role and every command works with: the log, its actors and its read models. */
export interface Core extends AccountDependencies {
  readonly config: Config;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: EventStore;
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly vault: Vault;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
  readonly queues: RenderQueues;
  readonly openRateLimiter: (clock: Clock) => Promise<RateLimiter>;
  /** 32 bytes from which every signing key is derived. */
  readonly masterKey: Buffer;
  /** Waits until the read model holds everything that was in the log when it was called. */
  caughtUp(): Promise<void>;
  /** Why it cannot take commands and show what came of them right now, for its operator; else empty. */
  missing(): Promise<readonly string[]>;
  /** Builds the read models anew from the log, beside whatever runs on them. */
  rebuildReadModel(onProgress: (progress: RebuildProgress) => void): Promise<RebuildResult>;
  close(): Promise<void>;
}

/** Work that goes on in this process until it is stopped. */
export interface Running {
  /** @param hurry aborted when what is under way is to be put back, not to be ended */
  stop(hurry?: AbortSignal): Promise<void>;
}

export interface RunningService extends Running {
  /** The origin where clients reach it, such as `https://pdf.example.com`. */
  readonly publicUrl: string;
  /** An absolute path. */
  readonly dataDir: string;
  /**
   * Resolves when it can accept and render, with the account that the first start has opened; rejects
   * when it never will.
   */
  readonly ready: Promise<FirstAccount | undefined>;
  /**
   * Resolves after a stop; rejects when the read models cannot go on. Accepting on, it would take
   * credits for conversions that nobody could see and nothing would render.
   */
  readonly ended: Promise<void>;
}

/** A renderer node that is ready. */
export interface RunningRenderer extends Running {
  /** The origin where its /healthz and /readyz answer. */
  readonly healthUrl: string;
}
