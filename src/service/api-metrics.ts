/** Tells the metrics of an API node what the parts of it say when they are asked. */
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import type { Core } from './core.ts';
import { FAILURE_CODES } from '../domain/choices.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import type { ApiMetrics } from '../observe/metrics/definitions.ts';
import { eventCounter } from '../observe/metrics/log-counts.ts';
import { lagBehind } from '../read-model/log-lag.ts';
import { backupTimes } from './backup-times.ts';

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
  const forget = runner.onCommit(eventCounter(api));
  return () => {
    forget();
    api.leader.set(0);
  };
}
