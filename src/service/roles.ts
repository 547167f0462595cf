/** The roles that a process can play: the whole service, an API node, a renderer node. */
import type { FirstAccount } from '../accounts/accounts.ts';
import { openFirstAccount } from '../accounts/accounts.ts';
import type { Stoppable } from '../async/stoppable.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { errorMessage } from '../errors/error-message.ts';
import { LogDiffers } from '../event-store/port.ts';
import type { LeaderTask } from '../leader/election.ts';
import { openLog } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import type { Tracing } from '../observe/tracing/port.ts';
import { signNewest } from '../process-managers/checkpoints.ts';
import { isDamage } from '../read-model/generations.ts';
import { systemClock } from '../time/clock.ts';
import { openRendererAdapters } from './adapters.ts';
import { linksOf, ownOrigin, type Readiness, startApi, startRefusal } from './api.ts';
import { type Core, openCore } from './core.ts';
import { tellReadiness, watchCore, withObservers } from './metrics.ts';
import type { Observers } from './observe.ts';
import { createWork, type Renders, startRendererTask, type Work } from './rendering.ts';

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

/** The whole service in one process: the API and a renderer. */
export function startService(
  config: Config,
  logger: Logger,
  tracing?: Tracing,
): Promise<RunningService> {
  const renders = config.natsUrl === undefined ? 'while leading' : 'always';
  return withObservers('start', config, logger, tracing, (observers) =>
    serve(config, logger, renders, observers),
  );
}

/** The HTTP API and the process managers; jobs go to renderer nodes. */
export function startApiNode(
  config: Config,
  logger: Logger,
  tracing?: Tracing,
): Promise<RunningService> {
  return withObservers('api', config, logger, tracing, (observers) =>
    serve(config, logger, 'never', observers),
  );
}

/** Renders what is unfinished in this process, unless a service on the same store does so. */
export async function startRendering(core: Core): Promise<Stoppable> {
  const { openedAs } = await openLog(core, core.config.logOrigin);
  const work = createWork(core, openedAs, 'while leading');
  await work.start();
  return work;
}

/** Takes jobs from the render queue; it knows neither the event store nor any account's keys. */
export function startRenderer(
  config: Config,
  logger: Logger,
  tracing?: Tracing,
): Promise<RunningRenderer> {
  return withObservers('renderer', config, logger, tracing, (observers) =>
    render(config, logger, observers),
  );
}

async function render(
  config: Config,
  logger: Logger,
  observers: Observers,
): Promise<RunningRenderer> {
  const [{ listen }, { createHealthApp }] = await Promise.all([
    import('../http/server.ts'),
    import('../http/health-app.ts'),
  ]);
  const server = await listen({
    host: config.host,
    port: config.port,
    rateLimitHeaders: async () => ({}),
  });
  try {
    const adapters = await openRendererAdapters(config, logger, observers);
    logPlaces(config, logger);
    try {
      const { blobs, queue } = adapters;
      const renderer = await startRendererTask(
        { config, clock: systemClock, logger, blobs, metrics: observers.metrics },
        queue,
      );
      const readiness = () => readinessOf(adapters, renderer);
      tellReadiness(observers, readiness);
      server.serve(createHealthApp({ logger, readiness }));
      return {
        healthUrl: `http://${config.host}:${server.port}`,
        stop: async (hurry) => {
          logger.info('stopping');
          // Until the last job has ended, an orchestrator may ask how it is.
          await renderer.stop(hurry);
          await server.close(hurry);
          await adapters.close();
          logger.info('stopped');
        },
      };
    } catch (error) {
      await adapters.close();
      throw error;
    }
  } catch (error) {
    await server.close();
    throw error;
  }
}

const withoutCredentials = (url: string): string => url.replace(/\/\/[^/@]*@/g, '//');

/** Says what a node works on: two nodes of one deployment say the same. */
function logPlaces(
  { natsUrl, blobStoreUrl: blobs, dataDir }: Config,
  logger: Logger,
  eventStoreUrl?: string,
): void {
  const documents =
    blobs?.kind === 'folder' ? blobs.path : blobs?.kind === 's3' ? blobs.url : 'NATS';
  logger.info(
    {
      ...(eventStoreUrl !== undefined && { eventStore: withoutCredentials(eventStoreUrl) }),
      ...(natsUrl !== undefined && { nats: withoutCredentials(natsUrl) }),
      documents: blobs === undefined ? dataDir : documents,
    },
    'the stores are open',
  );
}

async function readinessOf(
  opened: Pick<Core, 'unhealthyReasons'>,
  work: LeaderTask,
): Promise<Awaited<ReturnType<Readiness>>> {
  const missing = [...(await opened.unhealthyReasons()), ...work.unhealthyReasons()];
  return { ready: missing.length === 0, missing };
}

async function readinessOfNode(core: Core, work: Work): Promise<Awaited<ReturnType<Readiness>>> {
  return { ...(await readinessOf(core, work)), leads: work.leads() };
}

/** Serves the log of the settings, or says why nothing of it may be told. */
async function serve(...given: Parameters<typeof serveLog>): Promise<RunningService> {
  const [config, logger, , observers] = given;
  try {
    return await serveLog(...given);
  } catch (error) {
    if (!(error instanceof LogDiffers)) throw error;
    // A supervisor would start a process that ends again and again.
    const refusal = await startRefusal(config, logger, error.message);
    logger.error(error.message);
    tellReadiness(observers, () => ({ ready: false, missing: [error.message] }));
    return {
      publicUrl: ownOrigin(config.host, refusal.port),
      dataDir: config.dataDir,
      ready: new Promise(() => {}),
      ended: new Promise(() => {}),
      stop: (hurry) => refusal.stop(hurry),
    };
  }
}

async function serveLog(
  config: Config,
  logger: Logger,
  renders: Renders,
  observers: Observers,
): Promise<RunningService> {
  const core = await openCore(config, logger, { create: true, ...observers });
  watchCore(core);
  try {
    const { openedAs, origin } = await openLog(core, config.logOrigin);
    // Its lines in a checkpoint would be taken for the log's own.
    if (config.witnesses.some(({ verifierKey }) => verifierKey.startsWith(`${origin}+`))) {
      throw new ConfigError(
        `WITNESSES names a key of ${origin}, which is this log: give the key of each witness.`,
      );
    }
    // Before it accepts anything.
    await core.queues.claim(openedAs);
    logPlaces(config, logger, config.eventStoreUrl ?? config.dataDir);
    let publicUrl = '';
    const work = createWork(core, openedAs, renders, await linksOf(core, origin, () => publicUrl));
    const build = buildOf(core);
    const readiness = async () => {
      const missing = build.missing();
      return missing.length > 0 ? { ready: false, missing } : await readinessOfNode(core, work);
    };
    tellReadiness(observers, readiness);
    const api = await startApi(core, origin, readiness, build.run);
    ({ publicUrl } = api);
    const stopNoting = noteCheckpoints(core);
    const ready = core
      .caughtUp()
      .then(() => work.start())
      // Last of all: a start that fails must not open an account whose secrets nobody has seen.
      .then(() => openFirstAccount(core, config))
      .catch((error: unknown) => giveWay(core, error));
    const stopChecking = checkReadModel(core, ready);
    let stopped: Promise<void> | undefined;
    const stopWork = (hurry?: AbortSignal) => (stopped ??= work.stop(hurry));
    core.guard.differs.catch(async (error: unknown) => {
      logger.error(errorMessage(error));
      api.refuse(errorMessage(error));
      stopNoting();
      stopChecking();
      await stopWork(AbortSignal.abort()).catch((err: unknown) =>
        logger.error({ err }, 'the work of this process did not end well'),
      );
    });
    return {
      publicUrl: api.publicUrl,
      dataDir: config.dataDir,
      ready: unlessRefused(ready),
      ended: unlessRefused(core.runner.ended),
      stop: async (hurry) => {
        logger.info('stopping');
        stopNoting();
        stopChecking();
        await api.stop(hurry);
        await stopWork(hurry);
        if (!core.guard.hasDiffered && hurry?.aborted !== true) await signNewest(core);
        await core.close();
        logger.info('stopped');
      },
    };
  } catch (error) {
    try {
      giveWay(core, error);
    } finally {
      await core.close();
    }
  }
}

const BUILD_LINE_MS = 5_000;

/** The catch-up of the read models with the log, before the API answers from them. */
function buildOf({ logger, runner, signer, store }: Core): {
  readonly missing: () => readonly string[];
  readonly run: () => Promise<void>;
} {
  let head = 0n;
  let isBuilt = false;
  const state = (): string => {
    const share = head === 0n ? 0 : Number((100n * runner.progress()) / head);
    return `the read models are being built (${Math.min(share, 100)} %)`;
  };
  return {
    missing: () => (isBuilt ? [] : [state()]),
    run: async () => {
      const lines = setInterval(() => logger.info(state()), BUILD_LINE_MS);
      try {
        head = await store.head();
        await signer.checkLog({ untilCaughtUp: true });
        isBuilt = true;
      } finally {
        clearInterval(lines);
      }
    },
  };
}

/** Never settles if the log differs: the process stays up to answer 503. */
const unlessRefused = <T>(promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    if (error instanceof LogDiffers) return new Promise(() => {});
    throw error;
  });

/** Replaces a damaged read model by an empty one. Otherwise every later start would fail in the same way. */
function giveWay({ readModel }: Core, error: unknown): never {
  if (isDamage(error)) readModel.startAnew();
  throw error;
}

/** Checks the read model's file as soon as the service is ready; returns how to end that. */
function checkReadModel({ logger, readModel }: Core, ready: Promise<unknown>): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const check = async (): Promise<void> => {
    if (!signal.aborted) await readModel.checkPages(signal);
  };
  const unchecked = (err: unknown): void => {
    if (!signal.aborted) logger.warn({ err }, 'the read model could not be checked for damage');
  };
  // Those who wait for `ready` learn of its failure.
  void ready.then(
    () => check().catch(unchecked),
    () => {},
  );
  return () => ending.abort();
}

/** Keeps each checkpoint that comes with the log, so that this node refuses an older log. */
function noteCheckpoints({ logger, runner, signer }: Core): () => void {
  const note = (): void => {
    signer.noteNewest().catch((err: unknown) => {
      // The guard logs that the log differs.
      if (!(err instanceof LogDiffers))
        logger.error({ err }, 'the newest checkpoint was not noted');
    });
  };
  note();
  return runner.onCommit(note, ['CheckpointSigned']);
}
