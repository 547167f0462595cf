/** The watchers of a process: opened before everything else, closed after it. */

import type { Stoppable } from '../async/stoppable.ts';
import type { Config } from '../config/config.ts';
import type { Role } from '../config/settings.ts';
import { readVersion } from '../config/version.ts';
import type { Core } from './core.ts';
import type { HttpDependencies } from '../http/dependencies.ts';
import type { Logger } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import type { Tracing } from '../observe/tracing/port.ts';
import type { Observers } from './observe.ts';

/**
 * Starts a role with its observers, and ends them with it.
 * @throws {Error} one line: metrics cannot be served, or what the role says
 */
export async function withObservers<T extends Stoppable>(
  role: Role,
  config: Config,
  logger: Logger,
  tracing: Tracing | undefined,
  start: (observers: Observers) => Promise<T>,
): Promise<T> {
  const served = await openMetrics(role, config, logger);
  const close = async (): Promise<void> => {
    await served?.close();
    await tracing?.close();
  };
  try {
    const running = await start({ metrics: served?.metrics, tracing });
    const stop = async (hurry?: AbortSignal): Promise<void> => {
      try {
        await running.stop(hurry);
      } finally {
        await close();
      }
    };
    return { ...running, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openMetrics(
  role: Role,
  { metricsPort, metricsHost, host, dataDir }: Config,
  logger: Logger,
): Promise<{ readonly metrics: Metrics; close(): Promise<void> } | undefined> {
  if (metricsPort === undefined) return undefined;
  const [{ Metrics: ProcessMetrics }, { serveMetrics }] = await Promise.all([
    import('../observe/metrics/metrics.ts'),
    import('../observe/metrics/server.ts'),
  ]);
  const metrics = new ProcessMetrics({ role, version: readVersion(), dataDir, logger });
  try {
    const server = await serveMetrics(metrics, metricsHost ?? host, metricsPort);
    logger.info({ url: server.url }, `metrics are at ${server.url}`);
    const close = async (): Promise<void> => {
      metrics.close();
      await server.close();
    };
    return { metrics, close };
  } catch (error) {
    metrics.close();
    throw error;
  }
}

/** The same answer as that of /readyz. */
export function tellReadiness(
  { metrics }: Observers,
  readiness: HttpDependencies['readiness'],
): void {
  metrics?.onScrape(async () => {
    metrics.process.ready.set((await readiness()).ready ? 1 : 0);
  });
}

/** Counts the requests of an API; absent where nobody asks for metrics. */
export function requestCounter({ metrics }: Core): HttpDependencies['onRequestEnd'] {
  const requests = metrics?.api?.requests;
  return requests && (({ seconds, ...labels }) => requests.observe(labels, seconds));
}
