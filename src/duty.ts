/** Work that one of the processes on a store does, while the others stand by for it. */
import type { Lease, Running } from './core.ts';
import type { Logger } from './log.ts';

/** The time between two checks, while standing by, that the process on duty is still there. */
const LOOK_MS = 500;
/** The time until the next check after the work did not start: the reason is hardly gone at once. */
const LOOK_AFTER_FAILURE_MS = 10_000;

/** The work, under way. */
export interface DutyWork extends Running {
  ready(): { readonly ready: boolean; readonly reason?: string };
}

export interface DutyOptions {
  /** The name of the worker in messages, such as `the renderer`. */
  readonly name: string;
  /** Takes the right to do it, if no other process has it. */
  readonly acquire: () => Lease | undefined | Promise<Lease | undefined>;
  /** @throws {Error} one clear line when the work cannot be started */
  readonly begin: () => Promise<DutyWork>;
  readonly logger: Logger;
  readonly lookMs?: number;
  readonly lookAfterFailureMs?: number;
}

interface Turn {
  readonly lease: Lease;
  readonly work: DutyWork;
}

/**
 * Does the work in this process, or stands by while another process on the same store does, and takes
 * over when that one has gone. A process that loses its lease leaves the work and stands by.
 */
export class Duty implements Running {
  readonly #options: DutyOptions;
  #turn: Turn | undefined;
  /** The start or end that is under way. A stop waits for it. */
  #changing: Promise<void> = Promise.resolve();
  #look: NodeJS.Timeout | undefined;
  /** Why nobody does it as far as this process knows; absent while all is well. */
  #missing: string | undefined;
  #stopped = false;

  constructor(options: DutyOptions) {
    this.#options = options;
    this.#missing = `${options.name} is starting`;
  }

  /** Resolves when this process does it or stands by. @throws {Error} it cannot start */
  start(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return this.#change(async () => {
      const { acquire, name, logger } = this.#options;
      const lease = await acquire();
      if (lease) return await this.#begin(lease);
      logger.info(`${name} runs in another process; this one takes over when that process ends`);
      this.#standBy();
    });
  }

  missing(): string | undefined {
    if (this.#missing !== undefined) return this.#missing;
    const state = this.#turn?.work.ready();
    return state?.ready === false
      ? (state.reason ?? `${this.#options.name} is not ready`)
      : undefined;
  }

  async stop(hurry?: AbortSignal): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#look);
    // Work that is starting must not outlive its store, nor its lease.
    await this.#changing.catch(() => {});
    await this.#end(hurry);
  }

  #change(step: () => Promise<void>): Promise<void> {
    this.#changing = step();
    return this.#changing;
  }

  async #begin(lease: Lease): Promise<void> {
    if (this.#stopped) return await lease.release();
    let work: DutyWork;
    try {
      work = await this.#options.begin();
    } catch (error) {
      // Another process may be luckier.
      await lease.release();
      throw error;
    }
    const turn = { lease, work };
    this.#turn = turn;
    this.#missing = undefined;
    void lease.lost?.then(() => this.#leave(turn));
  }

  /** The lease is lost: somebody else may be on duty by now. */
  #leave(turn: Turn): void {
    if (this.#turn !== turn || this.#stopped) return;
    const { logger, name } = this.#options;
    logger.warn(
      `${name} stops here: another process may run it now; this one takes over after that`,
    );
    void this.#change(async () => {
      await this.#end().catch((error: unknown) =>
        logger.error({ err: error }, `${name} did not end well`),
      );
      this.#standBy();
    });
  }

  async #end(hurry?: AbortSignal): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    await turn?.work.stop(hurry);
    await turn?.lease.release();
  }

  #standBy(): void {
    this.#missing = undefined;
    this.#lookIn(this.#options.lookMs ?? LOOK_MS);
  }

  #lookIn(ms: number): void {
    if (this.#stopped) return;
    this.#look = setTimeout(() => void this.#change(() => this.#takeOver()), ms);
  }

  async #takeOver(): Promise<void> {
    const { acquire, name, logger, lookAfterFailureMs = LOOK_AFTER_FAILURE_MS } = this.#options;
    let lease: Lease | undefined;
    try {
      lease = await acquire();
    } catch (error) {
      // Whoever is on duty may still be at work; what is missing is said by who cannot be reached.
      logger.warn(
        { err: error },
        `no answer on whether another process runs ${name}; the next check is soon`,
      );
      return this.#standBy();
    }
    if (!lease) return this.#standBy();
    try {
      this.#missing = `${name} is starting`;
      logger.info(`the process that ran ${name} has ended; this one takes over`);
      await this.#begin(lease);
    } catch (error) {
      logger.error({ err: error }, `${name} does not start`);
      this.#missing = `${name} does not start`;
      this.#lookIn(lookAfterFailureMs);
    }
  }
}
