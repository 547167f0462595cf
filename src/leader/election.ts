/** Leader election: of all processes on one store, one leads, and the others stand by for it. */

import type { Stoppable } from '../async/stoppable.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { Logger } from '../observe/log.ts';
import type { HeldLease, Lease } from './port.ts';

/** The time between two tries to take the lease, while standing by. */
const RETRY_MS = 500;
/** The same after the task did not start, doubled with each failure: a server may be back soon, a missing Chrome not. */
const RETRY_AFTER_FAILURE_MS = 1000;
const MAX_RETRY_AFTER_FAILURE_MS = 10_000;

/** The work of the leader, under way. */
export interface LeaderTask extends Stoppable {
  /** Reasons why it cannot do its work right now, for the operator; else empty. */
  unhealthyReasons(): readonly string[];
}

export interface LeaderElectionOptions {
  /** The name of the task in messages, such as `the renderer`. */
  readonly name: string;
  readonly lease: Lease;
  /** Starts the task. @throws {Error} one clear line when it cannot be started */
  readonly begin: () => Promise<LeaderTask>;
  readonly logger: Logger;
  readonly retryMs?: number;
  readonly retryAfterFailureMs?: number;
}

interface Term {
  readonly lease: HeldLease;
  readonly task: LeaderTask;
}

/** Does the task while this process holds the lease, and tries to take the lease while it does not. */
export class LeaderElection implements LeaderTask {
  readonly #options: LeaderElectionOptions;
  #term: Term | undefined;
  /** The start or end that is under way. A stop waits for it. */
  #changing: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  /** The reason why nobody does the task, as far as this process knows; absent while all is well. */
  #obstacle: string | undefined;
  /** The failures to start the task since it last started. */
  #failures = 0;
  #stopped = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#obstacle = `${options.name} is starting`;
  }

  /** Resolves when this process leads or stands by. @throws {Error} it cannot start */
  start(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return this.#change(async () => {
      const { lease, name, logger } = this.#options;
      const held = await lease.acquire();
      if (held) {
        await this.#lead(held);
        if (this.leads()) logger.info(`${name} runs in this process`);
        return;
      }
      logger.info(`${name} runs in another process; this one takes over when that process ends`);
      this.#standBy();
    });
  }

  /** True while this process does the task. */
  leads(): boolean {
    return this.#term !== undefined;
  }

  unhealthyReasons(): readonly string[] {
    if (this.#obstacle !== undefined) return [this.#obstacle];
    return this.#term?.task.unhealthyReasons() ?? [];
  }

  async stop(hurry?: AbortSignal): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    // A task that is starting must not outlive its store, nor its lease.
    await this.#changing.catch(() => {});
    await this.#end(hurry);
  }

  #change(step: () => Promise<void>): Promise<void> {
    this.#changing = step();
    return this.#changing;
  }

  async #lead(lease: HeldLease): Promise<void> {
    if (this.#stopped) return await lease.release();
    let task: LeaderTask;
    try {
      task = await this.#options.begin();
    } catch (error) {
      // Another process may be luckier.
      await lease.release();
      throw error;
    }
    const term = { lease, task };
    this.#term = term;
    this.#obstacle = undefined;
    this.#failures = 0;
    void lease.lost.then(() => this.#leave(term));
  }

  /** The lease is lost: another process may lead by now. */
  #leave(term: Term): void {
    if (this.#term !== term || this.#stopped) return;
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
    const term = this.#term;
    this.#term = undefined;
    try {
      await term?.task.stop(hurry);
    } finally {
      await term?.lease.release();
    }
  }

  #standBy(): void {
    this.#obstacle = undefined;
    this.#retryIn(this.#options.retryMs ?? RETRY_MS);
  }

  #retryIn(ms: number): void {
    if (this.#stopped) return;
    this.#retry = setTimeout(() => void this.#change(() => this.#takeOver()), ms);
  }

  async #takeOver(): Promise<void> {
    const { lease, name, logger, retryMs } = this.#options;
    const { retryAfterFailureMs = RETRY_AFTER_FAILURE_MS } = this.#options;
    let held: HeldLease | undefined;
    try {
      held = await lease.acquire();
    } catch (error) {
      const reason = errorMessage(error);
      // Once for a time of failures: it is tried again all the time.
      if (this.#obstacle !== reason) logger.warn({ err: error }, `${name} cannot be taken over`);
      this.#obstacle = reason;
      return this.#retryIn(retryMs ?? RETRY_MS);
    }
    if (!held) return this.#standBy();
    try {
      this.#obstacle = `${name} is starting`;
      logger.info(`the process that ran ${name} has ended; this one takes over`);
      await this.#lead(held);
    } catch (error) {
      logger.error({ err: error }, `${name} does not start`);
      this.#obstacle = `${name} does not start`;
      const retryIn = retryAfterFailureMs * 2 ** this.#failures;
      this.#failures += 1;
      this.#retryIn(Math.min(retryIn, MAX_RETRY_AFTER_FAILURE_MS));
    }
  }
}
