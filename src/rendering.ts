/** Which of the processes on a data directory renders: one does, the others stand by for it. */
import type { Running } from './core.ts';
import type { Lease } from './embedded/lease.ts';
import type { Logger } from './log.ts';

/** How often a process that stands by looks whether the one that renders has gone. */
const LOOK_MS = 500;
/** After a renderer did not start: the reason is hardly gone at once. */
const LOOK_AFTER_FAILURE_MS = 10_000;

/** The process managers and the renderer, at work. */
export interface RenderingParts extends Running {
  ready(): { readonly ready: boolean; readonly reason?: string };
}

export interface RenderingOptions {
  /** Takes the right to render, if no other process has it. */
  readonly acquire: () => Lease | undefined;
  /** @throws {Error} one clear line when the renderer cannot start */
  readonly begin: () => Promise<RenderingParts>;
  readonly logger: Logger;
  readonly lookMs?: number;
  readonly lookAfterFailureMs?: number;
}

/**
 * Renders in this process, or stands by while another process on the same data directory does, and
 * takes over when that one has gone.
 */
export class Rendering implements Running {
  readonly #options: RenderingOptions;
  #parts: RenderingParts | undefined;
  #lease: Lease | undefined;
  #beginning: Promise<void> | undefined;
  #look: NodeJS.Timeout | undefined;
  /** Why nothing renders as far as this process knows; absent while all is well. */
  #missing: string | undefined = 'the renderer is starting';
  #stopped = false;

  constructor(options: RenderingOptions) {
    this.#options = options;
  }

  /** Resolves when this process renders or stands by. @throws {Error} the renderer cannot start */
  async start(): Promise<void> {
    if (this.#stopped) return;
    this.#lease = this.#options.acquire();
    if (this.#lease) return await this.#begin();
    this.#options.logger.info('another process renders for this data directory: standing by');
    this.#standBy();
  }

  missing(): string | undefined {
    if (this.#missing !== undefined) return this.#missing;
    const state = this.#parts?.ready();
    return state?.ready === false ? (state.reason ?? 'the renderer is not ready') : undefined;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#look);
    // A renderer that is starting must not outlive its store, nor its lease.
    await this.#beginning?.catch(() => {});
    await this.#parts?.stop();
    this.#release();
  }

  #begin(): Promise<void> {
    this.#beginning = this.#startParts();
    return this.#beginning;
  }

  async #startParts(): Promise<void> {
    try {
      this.#parts = await this.#options.begin();
      this.#missing = undefined;
    } catch (error) {
      // Another process may be luckier.
      this.#release();
      throw error;
    }
  }

  #standBy(): void {
    this.#missing = undefined;
    this.#lookIn(this.#options.lookMs ?? LOOK_MS);
  }

  #lookIn(ms: number): void {
    if (!this.#stopped) this.#look = setTimeout(() => void this.#takeOver(), ms);
  }

  async #takeOver(): Promise<void> {
    const { acquire, logger, lookAfterFailureMs = LOOK_AFTER_FAILURE_MS } = this.#options;
    try {
      this.#lease = acquire();
      if (!this.#lease) return this.#standBy();
      this.#missing = 'the renderer is starting';
      logger.info('the process that rendered has gone: taking over');
      await this.#begin();
    } catch (error) {
      logger.error({ err: error }, 'the renderer does not start');
      this.#missing = 'the renderer does not start';
      this.#lookIn(lookAfterFailureMs);
    }
  }

  #release(): void {
    this.#lease?.release();
    this.#lease = undefined;
  }
}
