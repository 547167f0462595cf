/** One process that feeds a queue which others share, and renders from it. */
import type { Core, Running } from '../core.ts';
import type { Duty } from '../duty.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import type { RendererNode } from '../renderer/node.ts';
import { endNode, feedingDuty, startNode } from './rendering.ts';

/** A part of a process: it feeds the render queue, renders, or does both. */
export interface Part extends Running {
  start(): Promise<void>;
  missing(): string | undefined;
}

/** Feeds a shared queue in its turn, and takes jobs from it all the time. */
export class FeedingAndRendering implements Part {
  readonly #core: Core;
  readonly #duty: Duty;
  #rendering: { readonly node: RendererNode; readonly queue: RenderQueue } | undefined;
  #starting: Promise<void> | undefined;
  #stopped = false;

  constructor(core: Core) {
    this.#core = core;
    this.#duty = feedingDuty(core);
  }

  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  missing(): string | undefined {
    const { ready, reason } = this.#rendering?.node.ready() ?? { ready: false };
    return this.#duty.missing() ?? (ready ? undefined : (reason ?? 'the renderer is starting'));
  }

  async stop(hurry?: AbortSignal): Promise<void> {
    this.#stopped = true;
    await this.#starting?.catch(() => {});
    const rendering = this.#rendering;
    // The renderer first: what it still finishes can be recorded here.
    if (rendering) await endNode(this.#core.config, rendering, hurry);
    await this.#duty.stop();
  }

  async #start(): Promise<void> {
    if (this.#stopped) return;
    await this.#duty.start();
    // A node that is asked to stop while it starts begins no Chrome.
    if (this.#stopped) return;
    const queue = await this.#core.queues.open('renderer');
    try {
      this.#rendering = { node: await startNode(this.#core, queue), queue };
    } catch (error) {
      await queue.close();
      throw error;
    }
  }
}
