/** The second path: from what is accepted to what is rendered and recorded, and who does which part of it. */
import { join } from 'node:path';
import type { PageLinks } from '../accounts/mail-letters.ts';
import type { Stoppable } from '../async/stoppable.ts';
import { readVersion } from '../config/version.ts';
import { LeaderElection, type LeaderTask } from '../leader/election.ts';
import type { RenderMetrics } from '../observe/metrics/definitions.ts';
import { startAttestations } from '../process-managers/attestations.ts';
import { startBatches } from '../process-managers/batches.ts';
import { startCancellations } from '../process-managers/cancellations.ts';
import { startCheckpoints } from '../process-managers/checkpoints.ts';
import { startDispatch } from '../process-managers/dispatch.ts';
import { startErasures } from '../process-managers/erasures.ts';
import { startOrphanSweep } from '../process-managers/orphans.ts';
import { startOutcomes } from '../process-managers/outcomes.ts';
import { startRefunds } from '../process-managers/refunds.ts';
import { startRenewals } from '../process-managers/renewals.ts';
import { startRetention } from '../process-managers/retention.ts';
import { createSigner } from '../process-managers/signatures.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import type { RendererNode } from '../renderer/node.ts';
import { timeOrderedId } from '../time/ids.ts';
import { createAttestors, createMailer } from './adapters.ts';
import type { Core } from './core.ts';
import { countWhileLeading } from './metrics.ts';

/** The longest that a stop waits for results to be recorded, after the last rendering must have ended. */
const LAST_REPORTS_MS = 5000;

/** Work that a process does beside the API. */
export interface Work extends LeaderTask {
  /** @throws {Error} it cannot start, in one line */
  start(): Promise<void>;
  /** True while this process feeds the queue. */
  leads(): boolean;
}

/**
 * The process renders never, while it leads (the leader alone has an in-process queue), or always, from a
 * queue that is shared.
 */
export type Renders = 'never' | 'while leading' | 'always';

/** Links that the service makes for those who hear of it. */
export interface ServiceLinks {
  readonly fileUrl: (conversionId: string) => string;
  readonly pages: PageLinks;
}

/**
 * Feeds the queue where no other process on the same log does, and records what comes of the jobs: of a shared queue, in
 * each process.
 * @param logOrigin the name that the log was opened under
 * @param links for what webhooks and mails tell; without them, these wait for a service
 */
export function createWork(
  core: Core,
  logOrigin: string,
  renders: Renders,
  links?: ServiceLinks,
): Work {
  const withRenderer = renders === 'while leading';
  const election = new LeaderElection({
    name: withRenderer ? 'the renderer' : 'the feeding of the render queue',
    lease: core.queues.lease(logOrigin),
    begin: () => startLeading(core, withRenderer, links),
    logger: core.logger,
  });
  if (withRenderer) return election;
  // The renderer stops first: its last reports are recorded.
  return inOrder([recording(core), election, ...(renders === 'always' ? [rendering(core)] : [])]);
}

/** Starts one after the other, and stops in the reverse order. */
function inOrder(all: readonly Work[]): Work {
  let starting = Promise.resolve();
  let stopped = false;
  const startAll = async (): Promise<void> => {
    for (const each of all) if (!stopped) await each.start();
  };
  return {
    start: () => (starting = startAll()),
    leads: () => all.some((each) => each.leads()),
    unhealthyReasons: () => all.flatMap((each) => each.unhealthyReasons()),
    stop: async (hurry) => {
      stopped = true;
      await starting.catch(() => {});
      for (const each of all.toReversed()) await each.stop(hurry);
    },
  };
}

/** Takes jobs from the queue that nodes share. */
const rendering = (core: Core): Work =>
  unled('the renderer', async () => {
    const queue = await core.queues.open('renderer');
    try {
      return await startRendererTask(core, queue);
    } catch (error) {
      await queue.close();
      throw error;
    }
  });

/** Records the reports of the renderers of the queue that nodes share. */
const recording = (core: Core): Work =>
  unled('the recording of reports', async () => {
    const queue = await core.queues.open('recorder');
    const recorder = startRecorder(core, queue);
    const stop = async (): Promise<void> => {
      await recorder.stop();
      await queue.close();
    };
    return { unhealthyReasons: () => [], stop };
  });

/** Work that a process does whether or not it leads. */
function unled(name: string, begin: () => Promise<LeaderTask>): Work {
  let task: LeaderTask | undefined;
  return {
    start: async () => void (task = await begin()),
    leads: () => false,
    unhealthyReasons: () => task?.unhealthyReasons() ?? [`${name} is starting`],
    stop: async (hurry) => await task?.stop(hurry),
  };
}

async function startLeading(
  core: Core,
  withRenderer: boolean,
  links: ServiceLinks | undefined,
): Promise<LeaderTask> {
  const queue = await core.queues.open(withRenderer ? 'both' : 'api');
  const senders = links && (await startSending(core, links));
  const managers = startManagers(core, queue, senders);
  const recorder = withRenderer ? startRecorder(core, queue) : undefined;
  const stopCounting = countWhileLeading(core);
  let renderer: LeaderTask | undefined;
  try {
    if (withRenderer) renderer = await startRendererTask(core, queue);
  } catch (error) {
    stopCounting();
    await recorder?.stop();
    await managers.stop();
    await queue.close();
    throw error;
  }
  return {
    unhealthyReasons: () => renderer?.unhealthyReasons() ?? [],
    stop: async (hurry) => {
      await managers.stopDispatch();
      // The renderer first: what it still finishes is recorded.
      await renderer?.stop(hurry);
      await recorder?.stop();
      await managers.stop();
      stopCounting();
      await queue.close();
    },
  };
}

interface Managers extends Stoppable {
  /** No further job is offered; the others run on. */
  stopDispatch(): Promise<void>;
}

/** Loads what sends webhooks and mails where it is used alone: commands that render need none of it. */
async function startSending(
  core: Core,
  { fileUrl, pages }: ServiceLinks,
): Promise<readonly Stoppable[]> {
  const [{ startWebhooks }, { createPoster }, { startMails, switchMail }, resets] =
    await Promise.all([
      import('../process-managers/webhooks.ts'),
      import('../webhooks/poster.ts'),
      import('../process-managers/mails.ts'),
      import('../process-managers/password-resets.ts'),
    ]);
  const mailer = await createMailer(core.config);
  if (mailer === undefined) await switchMail(core, false);
  const { allowPrivateNetwork, egressPorts: extraPorts } = core.config;
  const policy = { allowPrivateNetwork, extraPorts };
  const poster = createPoster({ policy, version: readVersion() });
  return [
    startWebhooks({ ...core, fileUrl, poster }),
    ...(mailer === undefined
      ? []
      : [startMails({ ...core, links: pages, mailer }), resets.startPasswordResets(core)]),
  ];
}

/** Records what renderers report, and signs for them. */
function startRecorder(core: Core, queue: RenderQueue): Stoppable {
  const stopping = new AbortController();
  const attestors = createAttestors(core.config);
  const sign = createSigner({ ...core, ...attestors, stopping: stopping.signal });
  const outcomes = startOutcomes({ ...core, queue, sign });
  return {
    stop: async () => {
      stopping.abort();
      await outcomes.stop();
    },
  };
}

function startManagers(
  core: Core,
  queue: RenderQueue,
  senders: readonly Stoppable[] = [],
): Managers {
  const { retentionSeconds, failedRetentionSeconds } = core.config;
  const dispatch = startDispatch({ ...core, queue });
  const managers: readonly Stoppable[] = [
    startCancellations({ ...core, queue }),
    startRefunds(core),
    startBatches(core),
    ...(core.config.credits === 'on' ? [startRenewals({ ...core, plans: core.config.plans })] : []),
    startCheckpoints(core, core.config.checkpointSeconds),
    startAttestations({ ...core, ...createAttestors(core.config) }),
    startRetention({ ...core, retentionSeconds, failedRetentionSeconds }),
    startOrphanSweep({ ...core, retentionSeconds }),
    startErasures(core),
    ...senders,
  ];
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

/**
 * Renders what comes through the queue. A stop lets what is under way end and be recorded, and closes the
 * queue.
 * @throws {Error} one clear line when Chrome cannot be found or started
 */
export async function startRendererTask(
  {
    config,
    clock,
    logger,
    blobs,
    metrics,
  }: Pick<Core, 'config' | 'clock' | 'logger' | 'blobs' | 'metrics'>,
  queue: RenderQueue,
): Promise<LeaderTask> {
  const { startRendererNode } = await import('../renderer/node.ts');
  const node = await startRendererNode({
    queue,
    blobs,
    settings: {
      concurrency: config.renderConcurrency,
      timeoutMs: config.renderTimeoutMs,
      ...(config.chromePath === undefined ? {} : { chromePath: config.chromePath }),
      allowPrivateNetwork: config.allowPrivateNetwork,
      egressPorts: config.egressPorts,
      maxPageMemoryBytes: config.maxPageMemoryBytes,
      // They are kept no longer than the requests of failures.
      pictures: config.failedRetentionSeconds > 0,
      tempDir: join(config.dataDir, 'tmp'),
    },
    name: `renderer-${timeOrderedId(clock.now())}`,
    clock,
    logger,
  });
  const stopTelling = metrics?.onScrape(() => tellBrowsers(node, metrics.render));
  return {
    unhealthyReasons: () => {
      const { ready, reason = 'the renderer is not ready' } = node.ready();
      return ready ? [] : [reason];
    },
    stop: async (hurry) => {
      // Stops after this time even if reports cannot be delivered; the log knows what is unfinished.
      const limitMs = config.renderTimeoutMs + LAST_REPORTS_MS;
      const giveUp = setTimeout(() => void queue.close(), limitMs);
      await node.stop(hurry);
      clearTimeout(giveUp);
      stopTelling?.();
      await queue.close();
    },
  };
}

function tellBrowsers(node: RendererNode, metrics: RenderMetrics | undefined): void {
  if (metrics === undefined) return;
  const { running, started, memoryBytes } = node.browsers();
  metrics.browsers.set(running);
  metrics.browserStarts.reset();
  metrics.browserStarts.inc(started);
  metrics.browserMemory.set(memoryBytes);
}
