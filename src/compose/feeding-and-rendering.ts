/** One process that feeds a queue which others share, and renders from it. */
import type { Core, Running } from '../core.ts';
import type { Duty } from '../duty.ts';
import type { RendererNode } from '../renderer/node.ts';
import { feedingDuty, startNode } from './rendering.ts';

/** What of the second path a process takes part in. */
export interface Part extends Running {
  start(): Promise<void>;
  missing(): string | undefined;
}

/** Feeds a shared queue in its turn, and takes jobs from it all the time. */
export class FeedingAndRendering implements Part {
  readonly #core: Core;
  readonly #duty: Duty;
  #node: { readonly node: RendererNode; readonly close: () => Promise<void> } | undefined;
  #starting: Promise<void> | undefined;

  constructor(core: Core) {
    this.#core = core;
    this.#duty = feedingDuty(core);
  }

  async start(): Promise<void> {
    await this.#duty.start();
    this.#starting = this.#startNode();
    await this.#starting;
  }

  missing(): string | undefined {
    const { ready, reason } = this.#node?.node.ready() ?? { ready: false };
    return this.#duty.missing() ?? (ready ? undefined : (reason ?? 'the renderer is starting'));
  }

  async stop(): Promise<void> {
    await this.#starting?.catch(() => {});
    // The renderer first: what it still finishes can be recorded here.
    await this.#node?.node.stop();
    await this.#node?.close();
    await this.#duty.stop();
  }

  async #startNode(): Promise<void> {
    const queue = await this.#core.queues.open('renderer');
    try {
      this.#node = { node: await startNode(this.#core, queue), close: () => queue.close() };
    } catch (error) {
      await queue.close();
      throw error;
    }
  }
}
