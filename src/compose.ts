/**
 * The composition root: the only file that names concrete adapters. What serves and renders is loaded
 * when it is needed, so that a command that only looks at the store starts in half the time.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { allProjections } from '../projections/all.ts';
import { SqliteSnapshots } from './actors/sqlite-snapshots.ts';
import { ActorSystem } from './actors/system.ts';
import { openFirstAccount } from './application/first-account.ts';
import { EmbeddedBlobStore } from './blob-store/embedded.ts';
import { FileBlobStore } from './blob-store/files.ts';
import { systemClock } from './clock.ts';
import { type Config, ConfigError } from './config.ts';
import type { Core, Running, RunningService } from './core.ts';
import { openEmbeddedDatabase } from './embedded/database.ts';
import { tryAcquireLease } from './embedded/lease.ts';
import { SqliteEventStore } from './event-store/sqlite.ts';
import type { HttpDependencies } from './http/dependencies.ts';
import { timeOrderedId } from './ids.ts';
import { FileKeyring } from './keyring/file.ts';
import { deriveKey, loadMasterKey } from './keyring/master-key.ts';
import { createVault } from './keyring/vault.ts';
import type { Logger } from './log.ts';
import { startDispatch } from './process-managers/dispatch.ts';
import { startOutcomes } from './process-managers/outcomes.ts';
import { startRefunds } from './process-managers/refunds.ts';
import { startRetention } from './process-managers/retention.ts';
import { openReadModel } from './read-model/read-model.ts';
import { rebuildReadModel } from './read-model/rebuild.ts';
import { ProjectionRunner } from './read-model/runner.ts';
import { MemoryRateLimiter } from './rate-limiter/memory.ts';
import { InProcessRenderQueue } from './render-queue/in-process.ts';
import { Rendering, type RenderingParts } from './rendering.ts';

/** How long a stop waits, after the last rendering must have ended, for what it found to be recorded. */
const LAST_REPORTS_MS = 5000;

/** What of a setting is for a later release is said at the start, not ignored. */
function refuseUnsupported(config: Config): void {
  const given = {
    EVENT_STORE_URL: config.eventStoreUrl,
    NATS_URL: config.natsUrl,
    BLOB_STORE_URL: config.blobStoreUrl,
  };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) {
      throw new ConfigError(`${name} is not supported yet: leave it out to run on embedded parts.`);
    }
  }
}

/**
 * Opens the data directory of the settings, and follows the log into its read models.
 * @param options `create`: makes an empty store where there is none, instead of refusing
 * @throws {Error} one line that names the file or setting and the remedy
 */
export async function openCore(
  config: Config,
  logger: Logger,
  { create }: { readonly create: boolean },
): Promise<Core> {
  refuseUnsupported(config);
  const at = (name: string): string => join(config.dataDir, name);
  if (!create && !existsSync(at('pressledger.db'))) {
    throw new Error(
      `There is no store in ${config.dataDir}: set DATA_DIR to the directory of the service, or make ` +
        "one with 'pressledger account create' or 'pressledger start'.",
    );
  }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });

  const clock = systemClock;
  const masterKey = loadMasterKey(config.dataDir, config.masterKey);
  const database = openEmbeddedDatabase(at('pressledger.db'));
  const store = new SqliteEventStore(database);
  const blobs = new EmbeddedBlobStore(database, await FileBlobStore.open(at('blobs')));
  const vault = createVault(new FileKeyring(at('keyring'), masterKey));
  const snapshots = new SqliteSnapshots(at('snapshots.db'), logger);
  const actors = new ActorSystem({ store, snapshots, log: logger });
  const projected = { directory: at('read-model'), projections: allProjections, logger };
  const readModel = openReadModel(projected);
  const runner = new ProjectionRunner({ store, readModel, logger });
  runner.start();

  return {
    config,
    clock,
    logger,
    store,
    actors,
    blobs,
    vault,
    readModel,
    runner,
    masterKey,
    addressKey: deriveKey(masterKey, 'sign-in address', 32),
    missing: async () => {
      const failure = database.failure();
      const stuck = await runner.isStuck().catch(() => true);
      return [
        ...(failure === undefined ? [] : [`the event store takes no writes: ${failure}`]),
        ...(stuck ? ['the read models cannot follow the event store'] : []),
      ];
    },
    caughtUp: async () => runner.waitFor(await store.head()),
    rebuildReadModel: (onProgress) => rebuildReadModel({ readModel: projected, store, onProgress }),
    close: async () => {
      await actors.close();
      await runner.stop();
      readModel.close();
      await store.close();
      snapshots.close();
      database.close();
    },
  };
}

/** Starts the process managers and the renderer on the embedded queue. */
async function startEmbeddedRendering(core: Core): Promise<RenderingParts> {
  const { config, clock, logger } = core;
  const queue = new InProcessRenderQueue();
  const managers = [
    startOutcomes({ ...core, queue }),
    startRefunds(core),
    startRetention({ ...core, retentionSeconds: config.retentionSeconds }),
  ];
  const stopManagers = async (): Promise<void> => {
    await Promise.all(managers.map((manager) => manager.stop()));
    await queue.close();
  };
  try {
    await core.caughtUp();
    const { startRendererNode } = await import('./renderer/node.ts');
    const node = await startRendererNode({
      queue,
      blobs: core.blobs,
      settings: {
        concurrency: config.renderConcurrency,
        timeoutMs: config.renderTimeoutMs,
        ...(config.chromePath === undefined ? {} : { chromePath: config.chromePath }),
        allowPrivateNetwork: config.allowPrivateNetwork,
        egressPorts: config.egressPorts,
        tempDir: join(config.dataDir, 'tmp'),
      },
      name: `renderer-${timeOrderedId(clock.now())}`,
      clock,
      logger,
    });
    const dispatch = startDispatch({ ...core, queue });
    return {
      ready: () => node.ready(),
      stop: async () => {
        await dispatch.stop();
        // A store that takes no more must not hold up the end: the log knows what is unfinished.
        const giveUp = setTimeout(
          () => void queue.close(),
          config.renderTimeoutMs + LAST_REPORTS_MS,
        );
        // The renderer first: what it still finishes is reported to managers that run.
        await node.stop();
        clearTimeout(giveUp);
        await stopManagers();
      },
    };
  } catch (error) {
    await stopManagers();
    throw error;
  }
}

function createRendering(core: Core): Rendering {
  return new Rendering({
    acquire: () => tryAcquireLease(join(core.config.dataDir, 'render.lock')),
    begin: () => startEmbeddedRendering(core),
    logger: core.logger,
  });
}

/** Renders what is unfinished in this process, unless a service on the same store does so. */
export async function startRendering(core: Core): Promise<Running> {
  const rendering = createRendering(core);
  await rendering.start();
  return rendering;
}

/** Serves the HTTP API of what `core` holds. */
export async function startApi(
  core: Core,
  readiness: HttpDependencies['readiness'],
): Promise<RunningApi> {
  const [{ createApp }, { createFileTokens }, rateLimits, { listen }, { createTokens }] =
    await Promise.all([
      import('./http/app.ts'),
      import('./http/file-tokens.ts'),
      import('./http/middleware/rate-limit.ts'),
      import('./http/server.ts'),
      import('./http/tokens.ts'),
    ]);
  const { config, clock, masterKey } = core;
  const rateLimiter = new MemoryRateLimiter(clock);
  const server = await listen({
    host: config.host,
    port: config.port,
    standing: rateLimits.standingOf({ rateLimiter, clock, config }),
  });
  const publicUrl = config.publicUrl ?? `http://localhost:${server.port}`;
  server.serve(
    createApp({
      ...core,
      publicUrl,
      rateLimiter,
      tokens: createTokens(deriveKey(masterKey, 'access tokens', 32), clock),
      fileTokens: createFileTokens(deriveKey(masterKey, 'file links', 32), clock),
      idempotencySecret: deriveKey(masterKey, 'idempotency keys', 32),
      readiness,
    }),
  );
  return { publicUrl, port: server.port, stop: () => server.close() };
}

interface RunningApi extends Running {
  readonly publicUrl: string;
  readonly port: number;
}

/** The whole service in one process, on embedded parts. */
export async function startService(config: Config, logger: Logger): Promise<RunningService> {
  const core = await openCore(config, logger, { create: true });
  try {
    const rendering = createRendering(core);
    const api = await startApi(core, async () => {
      const missing = [...(await core.missing()), rendering.missing() ?? []].flat();
      return { ready: missing.length === 0, missing };
    });
    return {
      publicUrl: api.publicUrl,
      ready: core
        .caughtUp()
        .then(() => rendering.start())
        // Last of all: a start that fails must not open an account whose secrets nobody has seen.
        .then(() => openFirstAccount(core, config)),
      ended: core.runner.ended,
      stop: async () => {
        await api.stop();
        await rendering.stop();
        await core.close();
      },
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}
