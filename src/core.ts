import type { QueuedAccount } from '../projections/unfinished-conversions.ts';
import type { ActorSystem } from './actors/system.ts';
import type { AccountDependencies, FirstAccount } from './use-cases/accounts.ts';
import type { BlobStore } from './blob-store/port.ts';
import type { Bounds } from './bounds.ts';
import type { Budgets } from './budgets.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { EventStore } from './event-store/port.ts';
import type { Vault } from './keyring/vault.ts';
import type { Lease } from './leader/port.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { RateLimiter } from './rate-limiter/port.ts';
import type { ReadModel, ReadModelOptions } from './read-model/database.ts';
import type { RebuildProgress, RebuildResult } from './read-model/rebuild.ts';
import type { ProjectionRunner } from './read-model/runner.ts';
import type { RendererWatch, RenderQueue } from './render-queue/port.ts';
import type { Stoppable } from './stoppable.ts';
import type { Tracing } from './tracing/port.ts';
import type { Lag } from './use-cases/log-lag.ts';
import type { Activity } from './use-cases/recent-activity.ts';
import type { CheckpointSigner } from './use-cases/checkpoint-signer.ts';
import type { StoredLog } from './use-cases/verify-log.ts';

/** The result of a check. */
export interface Finding {
  readonly verdict: 'ok' | 'warning' | 'wrong';
  /** One line: what was found and, where that is not ok, how to mend it. */
  readonly text: string;
}

/** The result of the check of that name. */
export interface Examined extends Finding {
  readonly name: string;
}

/** A service as it is seen from one machine. What is not known there is undefined, and said in `notKnown`. */
export interface ServiceStatus {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly log: {
    readonly position: bigint;
    /** How far the read models of this machine are behind the log. */
    readonly readModel: Lag | undefined;
  };
  /** The API node at HOST and PORT; `missing` says what it lacks to be ready, and is empty where it is. */
  readonly api: { readonly address: string; readonly missing: string | undefined };
  /** True while a process feeds the queue and records outcomes; undefined while nobody can be asked. */
  readonly isLed: boolean | undefined;
  /** `nodes` and `total` are those of all renderers, `busy` the documents being rendered. */
  readonly slots: {
    readonly nodes: number;
    readonly total: number;
    readonly busy: number | undefined;
  };
  /** The accounts that have unfinished conversions, those with most first. */
  readonly queue: readonly QueuedAccount[] | undefined;
  readonly recent: Activity;
  readonly backups: BackupTimes;
  /** One line each. */
  readonly notKnown: readonly string[];
}

/** Times in milliseconds since the Unix epoch, as far as a DATA_DIR knows. */
export interface BackupTimes {
  /** The time of the keyring that was copied last. */
  readonly keyringCopiedAt?: number;
  /** The time of the newest backup that was verified: of its log, not of the verification. */
  readonly verifiedBackupOf?: number;
}

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

/** The log as it is stored, and the place of the read models in use. Nothing of it is changed. */
export interface OpenedStoredLog extends StoredLog {
  /** An absolute path. */
  readonly dataDir: string;
  readonly store: EventStore;
  /** The place where the log goes on, where it was moved: this one is an old copy. */
  readonly movedTo: string | undefined;
  readonly readModel: ReadModelOptions;
  close(): Promise<void>;
}

/** The parts that every role and every command works with: the log, its actors and its read models. */
export interface Core extends AccountDependencies {
  readonly config: Config;
  readonly bounds: Bounds;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent where no setting asks for them. */
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly store: EventStore;
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly vault: Vault;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
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

export interface RunningService extends Stoppable {
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
export interface RunningRenderer extends Stoppable {
  /** The origin where its /healthz and /readyz answer. */
  readonly healthUrl: string;
}
