/** The second path: from what is accepted to what is rendered and recorded. */
import { join } from 'node:path';
import type { BlobStore } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Core, Running } from '../core.ts';
import { Duty, type DutyWork } from '../duty.ts';
import { timeOrderedId } from '../ids.ts';
import type { Logger } from '../log.ts';
import { startDispatch } from '../process-managers/dispatch.ts';
import { startOrphanSweep } from '../process-managers/orphans.ts';
import { startOutcomes } from '../process-managers/outcomes.ts';
import { startRefunds } from '../process-managers/refunds.ts';
import { startRetention } from '../process-managers/retention.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import type { RendererNode } from '../renderer/node.ts';

/** The longest that a stop waits for results to be recorded, after the last rendering must have ended. */
const LAST_REPORTS_MS = 5000;

interface Managers extends Running {
  /** No further job is offered; what renderers report is still recorded. */
  stopDispatch(): Promise<void>;
}

function startManagers(core: Core, queue: RenderQueue): Managers {
  const { retentionSeconds } = core.config;
  const managers = [
    startOutcomes({ ...core, queue }),
    startRefunds(core),
    startRetention({ ...core, retentionSeconds }),
    startOrphanSweep({ ...core, retentionSeconds }),
  ];
  const dispatch = startDispatch({ ...core, queue });
  const forget = core.queues.onReturn(() => dispatch.sweep());
  const stopDispatch = async (): Promise<void> => {
    forget();
    await dispatch.stop();
  };
  return {
    stopDispatch,
    stop: async () => {
      await stopDispatch();
      await Promise.all(managers.map((manager) => manager.stop()));
    },
  };
}

/** @throws {Error} one clear line when Chrome cannot be found or started */
export async function startNode(
  { config, clock, logger, blobs }: NodeDependencies,
  queue: RenderQueue,
): Promise<RendererNode> {
  const { startRendererNode } = await import('../renderer/node.ts');
  return await startRendererNode({
    queue,
    blobs,
    settings: {
      concurrency: config.renderConcurrency,
      timeoutMs: config.renderTimeoutMs,
      ...(config.chromePath === undefined ? {} : { chromePath: config.chromePath }),
      allowPrivateNetwork: config.allowPrivateNetwork,
      egressPorts: config.egressPorts,
      maxPageMemoryBytes: config.maxPageMemoryBytes,
      tempDir: join(config.dataDir, 'tmp'),
    },
    name: `renderer-${timeOrderedId(clock.now())}`,
    clock,
    logger,
  });
}

/**
 * Lets what is under way end and be recorded. Who does not answer by then, a server or whoever records,
 * must not hold up the end: the log knows what is unfinished.
 */
export async function endNode(
  { renderTimeoutMs }: Config,
  { node, queue }: { readonly node: RendererNode; readonly queue: RenderQueue },
  hurry: AbortSignal | undefined,
): Promise<void> {
  const giveUp = setTimeout(() => void queue.close(), renderTimeoutMs + LAST_REPORTS_MS);
  await node.stop(hurry);
  clearTimeout(giveUp);
  await queue.close();
}

export interface NodeDependencies {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly blobs: BlobStore;
}

/** The process managers alone: renderers are elsewhere. */
async function startFeeding(core: Core): Promise<DutyWork> {
  const queue = await core.queues.open('api');
  const managers = startManagers(core, queue);
  return {
    ready: () => ({ ready: true }),
    stop: async () => {
      await managers.stop();
      await queue.close();
    },
  };
}

/** The process managers and a renderer beside them. */
async function startFeedingAndRendering(core: Core): Promise<DutyWork> {
  const queue = await core.queues.open('both');
  const managers = startManagers(core, queue);
  try {
    const node = await startNode(core, queue);
    return {
      ready: () => node.ready(),
      stop: async (hurry) => {
        await managers.stopDispatch();
        // The renderer first: what it still finishes is reported to managers that run.
        await endNode(core.config, { node, queue }, hurry);
        await managers.stop();
      },
    };
  } catch (error) {
    await managers.stop();
    await queue.close();
    throw error;
  }
}

/** Feeds the renderers of other processes, unless another process on the same store does so. */
export function feedingDuty(core: Core): Duty {
  return new Duty({
    name: 'the feeding of the render queue',
    acquire: () => core.queues.acquireLead(),
    begin: () => startFeeding(core),
    logger: core.logger,
  });
}

/** Renders what is unfinished in this process, unless a service on the same store does so. */
export function renderingDuty(core: Core): Duty {
  return new Duty({
    name: 'the renderer',
    acquire: () => core.queues.acquireLead(),
    begin: () => startFeedingAndRendering(core),
    logger: core.logger,
  });
}
