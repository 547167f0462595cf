/** The log, its actors and its read models, on the adapters of the settings. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import type { AccountDependencies } from '../accounts/accounts.ts';
import { Passwords } from '../accounts/passwords.ts';
import { SqliteSnapshots } from '../actors/snapshots.ts';
import type { Config } from '../config/config.ts';
import { LogDiffers } from '../event-store/port.ts';
import { deriveKey, signingPurpose } from '../documents/keys/master-key.ts';
import { createVault } from '../documents/keys/vault.ts';
import { type BoundCheck, Bounds, diskBound, memoryBound, queueBound } from '../limits/bounds.ts';
import { Budgets } from '../limits/budgets.ts';
import type { RateLimiter } from '../limits/rate-limiter/port.ts';
import { CheckpointSigner } from '../log/checkpoint-signer.ts';
import { comparedStore } from '../log/compared-store.ts';
import { LogGuard } from '../log/log-guard.ts';
import { checkKeyring, type Documents, type Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { openReadModel, type ReadModel } from '../read-model/database.ts';
import { isDamage } from '../read-model/generations.ts';
import {
  type RebuildProgress,
  type RebuildResult,
  rebuildReadModel,
} from '../read-model/rebuild.ts';
import { ProjectionRunner } from '../read-model/runner.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import type { Identity } from '../signing/identity.ts';
import { ed25519Key } from '../transparency-log/signed-note.ts';
import { openAdapters } from './adapters.ts';
import { openLastCheckpoint, openSuspect, readModelOf } from './log.ts';
import type { RenderQueues } from './nats.ts';
import { createActors, type Observers } from './observe.ts';
import { openSeal } from './seal.ts';

/** The parts that every role and every command works with: the log, its actors and its read models. */
export interface Core extends Log, Documents, AccountDependencies, Required<Observers> {
  readonly config: Config;
  readonly bounds: Bounds;
  readonly budgets: Budgets;
  readonly logger: Logger;
  readonly signer: CheckpointSigner;
  /** Knows whether the log is the one that was signed. */
  readonly guard: LogGuard;
  /** The service's own certificate for signatures, if it has one. */
  readonly seal: Identity | undefined;
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

/**
 * Opens the store of the settings, and follows its log into the read models of the data directory.
 * @param options `create`: makes an empty store where there is none, instead of refusing
 * @throws {LogDiffers} @throws {Error} one line that names the file, server or setting and the remedy
 */
export async function openCore(
  config: Config,
  logger: Logger,
  { create, metrics, tracing }: Observers & { readonly create: boolean },
): Promise<Core> {
  const seal = await openSeal(config);
  const adapters = await openAdapters(config, logger, { create, metrics, tracing });
  const { blobs, keyring, masterKey, keyFor, queues, openRateLimiter } = adapters;
  const snapshotKey = deriveKey(masterKey, 'actor snapshots', 32);
  const snapshots = new SqliteSnapshots(join(config.dataDir, 'snapshots.db'), snapshotKey, logger);
  const guard = new LogGuard(openLastCheckpoint(config.dataDir));
  const store = comparedStore(adapters.store, guard, openSuspect(config.dataDir));
  const onDifference = (error: LogDiffers): void => guard.report(error);
  const actors = createActors({ store, snapshots, log: logger, onDifference }, tracing);
  const projected = readModelOf(config, logger, guard);
  const decides = { actors, store, clock: systemClock };
  const signingKey = (generation: number) => ed25519Key(keyFor(signingPurpose(generation)));
  const opening = async (): Promise<ReadModel> => {
    const log = await checkKeyring(decides, adapters.keyringIdentity, { create });
    if (log !== undefined) await guard.learn(decides, log, signingKey);
    const opened = await openReadModel(projected, store);
    try {
      await store.compareWith(() => opened.query(logTreeQueries));
      await guard.checkEvents(opened.query(logTreeQueries), store);
      return opened;
    } catch (error) {
      // Otherwise every later start would fail in the same way.
      if (isDamage(error)) opened.startAnew();
      opened.close();
      throw error;
    }
  };
  const readModel = await opening().catch(async (error: unknown) => {
    await actors.close();
    snapshots.close();
    await adapters.close();
    throw error;
  });
  const runner = new ProjectionRunner({ store, readModel, logger });
  runner.start();
  runner.ended.catch((error: unknown) => {
    if (error instanceof LogDiffers) guard.report(error);
  });

  const budgets = new Budgets(config);
  const signer = new CheckpointSigner({
    actors,
    store,
    readModel,
    runner,
    guard,
    clock: systemClock,
    logName: config.logOrigin,
    signingKey,
  });
  return {
    config,
    bounds: new Bounds([...boundsOf(config, readModel), ...adapters.bounds], logger),
    budgets,
    passwords: new Passwords(budgets),
    clock: systemClock,
    logger,
    metrics,
    tracing,
    store,
    actors,
    blobs,
    vault: createVault(keyring),
    readModel,
    runner,
    signer,
    guard,
    seal,
    masterKey,
    addressKey: keyFor('sign-in address'),
    idempotencySecret: keyFor('idempotency keys'),
    queues,
    openRateLimiter,
    unhealthyReasons: async () => {
      const stuck = await runner.isStuck().catch(() => true);
      const behind = stuck ? ['the read models cannot follow the event store'] : [];
      return [...(await adapters.unhealthyReasons()), ...behind];
    },
    caughtUp: async () => runner.waitFor(await store.head()),
    rebuildReadModel: (onProgress) =>
      rebuildReadModel({ readModel: projected, store: adapters.store, onProgress }),
    close: async () => {
      await actors.close();
      await runner.stop();
      readModel.close();
      snapshots.close();
      await adapters.close();
    },
  };
}

function boundsOf(config: Config, readModel: ReadModel): readonly BoundCheck[] {
  const { dataDir, blobStoreUrl: place, maxQueued, minFreeDiskBytes, maxMemoryBytes } = config;
  const directories = place?.kind === 'folder' ? [dataDir, place.path] : [dataDir];
  return [
    queueBound(() => readModel.query(unfinishedQueries), maxQueued),
    diskBound(directories, minFreeDiskBytes),
    ...(maxMemoryBytes > 0 ? [memoryBound(maxMemoryBytes)] : []),
  ];
}

/** Opens an empty store in a temporary directory, which is deleted when the store is closed. */
export async function openTemporaryCore(config: Config, logger: Logger): Promise<Core> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pressledger-'));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const core = await openCore({ ...config, dataDir }, logger, { create: true });
    const close = async (): Promise<void> => {
      await core.close();
      await remove();
    };
    return { ...core, close };
  } catch (error) {
    await remove();
    throw error;
  }
}
