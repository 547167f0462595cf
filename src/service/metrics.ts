/** The metrics and traces of a process: opened before everything else, told by its parts, closed after it. */

import { mailQueries } from '../../projections/mail-queries.ts';
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import { senderQueries } from '../../projections/webhook-queries.ts';
import type { Stoppable } from '../async/stoppable.ts';
import type { Config } from '../config/config.ts';
import type { Role } from '../config/settings.ts';
import { readVersion } from '../config/version.ts';
import { FAILURE_CODES } from '../domain/choices.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { RecordedEvent } from '../event-store/port.ts';
import type { HttpDependencies } from '../http/dependencies.ts';
import type { Logger } from '../observe/log.ts';
import type { ApiMetrics } from '../observe/metrics/definitions.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import type { Tracing } from '../observe/tracing/port.ts';
import { lagBehind } from '../read-model/log-lag.ts';
import { typedHandlers } from '../read-model/projection.ts';
import { timeOfId } from '../time/ids.ts';
import { backupTimes } from './backup-times.ts';
import type { Core } from './core.ts';
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

/** `MAX_BODIES_BYTES` → `max_bodies_bytes`. */
const boundLabel = (key: string): string => key.replaceAll(/[A-Z]/g, '_$&').toLowerCase();

/** Follows the core until it is closed. */
export function watchCore(core: Core): void {
  const { metrics, runner, clock } = core;
  if (metrics?.api === undefined) return;
  const { api } = metrics;
  api.leader.set(0);
  runner.onCommit(([first]) => {
    if (first === undefined) return;
    const { time } = first.metadata as EventMetadata;
    api.projectionDelay.observe(Math.max(0, clock.now() - time) / 1000);
  });
  metrics.onScrape(() => tellBounds(core, api));
  metrics.onScrape(() => tellQueue(core, api));
  metrics.onScrape(() => {
    api.webhooksWaiting.set(core.readModel.query(senderQueries).waiting());
    const { waiting, oldestAt } = core.readModel.query(mailQueries).totals(clock.now());
    api.mailsWaiting.set(waiting);
    api.oldestMail.set(oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt) / 1000);
  });
  metrics.onScrape(() => tellLag(core, api));
  metrics.onScrape(() => tellBackups(core, api));
}

/** Every bound of this process: what is used of it, and what was refused because of it. */
function tellBounds(
  { budgets, bounds }: Core,
  { boundUsed, boundLimit, refusals }: ApiMetrics,
): void {
  refusals.reset();
  for (const { name, limit, used, refused } of budgets.counts()) {
    const bound = boundLabel(name);
    boundLimit.set({ bound }, limit);
    boundUsed.set({ bound }, used);
    refusals.inc({ bound }, refused);
  }
  for (const [bound, refused] of bounds.refused()) refusals.inc({ bound }, refused);
}

function tellQueue({ readModel, clock }: Core, { queue, oldest }: ApiMetrics): void {
  const { waiting, started, oldestAt } = readModel.query(unfinishedQueries).backlog();
  queue.set({ state: 'waiting' }, waiting);
  queue.set({ state: 'started' }, started);
  oldest.set(oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt) / 1000);
}

async function tellLag(
  { store, runner, clock }: Core,
  { lagEvents, lagSeconds }: ApiMetrics,
): Promise<void> {
  // Not known until it is found out: a store that is away must not look like one without news.
  lagEvents.remove();
  lagSeconds.remove();
  const lag = await lagBehind(store, runner.checkpoint(), clock.now());
  lagEvents.set(lag.lagEvents);
  lagSeconds.set(lag.lagMs / 1000);
}

function tellBackups({ config }: Core, { keyringCopied, backupVerified }: ApiMetrics): void {
  // Absent until they are known: 0 would be a backup of 1970.
  keyringCopied.remove();
  backupVerified.remove();
  const { keyringCopiedAt, verifiedBackupOf } = backupTimes(config.dataDir);
  if (keyringCopiedAt !== undefined) keyringCopied.set(keyringCopiedAt / 1000);
  if (verifiedBackupOf !== undefined) backupVerified.set(verifiedBackupOf / 1000);
}

/** Counts what the log says, while this process leads; returns how to end that. */
export function countWhileLeading({ metrics, runner }: Core): () => void {
  const api = metrics?.api;
  if (api === undefined) return () => {};
  api.leader.set(1);
  // A count that begins with its first failure has no rate for Prometheus.
  for (const reason of FAILURE_CODES) api.failed.inc({ reason }, 0);
  for (const outcome of ['delivered', 'retry', 'failed']) api.webhookTries.inc({ outcome }, 0);
  for (const outcome of ['sent', 'failed']) api.mails.inc({ outcome }, 0);
  const forget = runner.onCommit(eventCounter(api));
  return () => {
    forget();
    api.leader.set(0);
  };
}

/** Counts what events say. One process at a time may do so: the log is the same for all. */
export function eventCounter(metrics: ApiMetrics): (events: readonly RecordedEvent[]) => void {
  const ended = (outcome: string, conversionId: string, at: number): void =>
    metrics.conversionDuration.observe(
      { outcome },
      Math.max(0, at - timeOfId(conversionId)) / 1000,
    );
  const handlers = typedHandlers({
    ConversionRequested() {
      metrics.accepted.inc();
    },
    ConversionCompleted({ conversionId, completedAt }) {
      metrics.completed.inc();
      ended('completed', conversionId, completedAt);
    },
    ConversionFailed({ conversionId, code, failedAt }) {
      metrics.failed.inc({ reason: code });
      ended('failed', conversionId, failedAt);
    },
    CreditGranted({ amount }) {
      metrics.granted.inc(amount);
    },
    CreditDebited({ amount }) {
      metrics.debited.inc(amount);
    },
    CreditRefunded({ amount }) {
      metrics.refunded.inc(amount);
    },
    DeliveryAttempted({ outcome }) {
      metrics.webhookTries.inc({ outcome });
    },
    MailSent() {
      metrics.mails.inc({ outcome: 'sent' });
    },
    MailFailed({ nextAt }) {
      if (nextAt === undefined) metrics.mails.inc({ outcome: 'failed' });
    },
  });
  return (events) => {
    for (const event of events) {
      const count = handlers[event.type];
      if (count) count({ ...event, ...decodeEvent(event) });
    }
  };
}
