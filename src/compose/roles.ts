/** The roles that a process can play: the whole service, an API node, a renderer node. */
import { openFirstAccount } from '../use-cases/accounts.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Core, Running, RunningRenderer, RunningService } from '../core.ts';
import type { Logger } from '../log.ts';
import { openRendererAdapters } from './adapters.ts';
import { startApi } from './api.ts';
import { openCore } from './core.ts';
import { FeedingAndRendering, type Part } from './feeding-and-rendering.ts';
import { endNode, feedingDuty, renderingDuty, startNode } from './rendering.ts';

/** Renders what is unfinished in this process, unless a service on the same store does so. */
export async function startRendering(core: Core): Promise<Running> {
  const duty = renderingDuty(core);
  await duty.start();
  return duty;
}

/** The whole service in one process. */
export function startService(config: Config, logger: Logger): Promise<RunningService> {
  return serve(config, logger, (core) =>
    core.queues.shared ? new FeedingAndRendering(core) : renderingDuty(core),
  );
}

/** The HTTP API and the process managers; jobs go to renderer nodes. */
export function startApiNode(config: Config, logger: Logger): Promise<RunningService> {
  return serve(config, logger, (core) => feedingDuty(core));
}

/** Takes jobs from the render queue; it knows neither the event store nor any account's keys. */
export async function startRenderer(config: Config, logger: Logger): Promise<RunningRenderer> {
  const [{ listen }, { createHealthApp }] = await Promise.all([
    import('../http/server.ts'),
    import('../http/health-app.ts'),
  ]);
  const server = await listen({
    host: config.host,
    port: config.port,
    standing: async () => ({}),
  });
  try {
    const adapters = await openRendererAdapters(config, logger);
    try {
      const { blobs, queue } = adapters;
      const node = await startNode({ config, clock: systemClock, logger, blobs }, queue);
      const readiness = async () => {
        const { ready, reason = 'the renderer is not ready' } = node.ready();
        const missing = [...(await adapters.missing()), ...(ready ? [] : [reason])];
        return { ready: missing.length === 0, missing };
      };
      server.serve(createHealthApp({ logger, readiness }));
      return {
        healthUrl: `http://${config.host}:${server.port}`,
        stop: async (hurry) => {
          logger.info('stopping');
          // Until the last job has ended, an orchestrator may ask how it is.
          await endNode(config, { node, queue }, hurry);
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

async function serve(
  config: Config,
  logger: Logger,
  partOf: (core: Core) => Part,
): Promise<RunningService> {
  const core = await openCore(config, logger, { create: true });
  try {
    const part = partOf(core);
    const api = await startApi(core, async () => {
      const missing = [...(await core.missing()), part.missing() ?? []].flat();
      return { ready: missing.length === 0, missing };
    });
    return {
      publicUrl: api.publicUrl,
      dataDir: config.dataDir,
      ready: core
        .caughtUp()
        .then(() => part.start())
        // Last of all: a start that fails must not open an account whose secrets nobody has seen.
        .then(() => openFirstAccount(core, config)),
      ended: core.runner.ended,
      stop: async (hurry) => {
        logger.info('stopping');
        await api.stop(hurry);
        await part.stop(hurry);
        await core.close();
        logger.info('stopped');
      },
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}
