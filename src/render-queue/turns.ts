import type { RenderJob } from './messages.ts';

/** Jobs that wait, in turns: an account with a thousand of them has one turn, like any other. */
export class Turns {
  /** By account, in the order of the accounts' turns: the first key is next. */
  readonly #queues = new Map<string, RenderJob[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(job: RenderJob): void {
    const queue = this.#queues.get(job.accountId);
    if (queue) queue.push(job);
    else this.#queues.set(job.accountId, [job]);
    this.#size += 1;
  }

  /** The next job of the account whose turn it is; the account then goes to the end of the line. */
  take(): RenderJob | undefined {
    const next = this.#queues.entries().next();
    if (next.done) return undefined;
    const [accountId, queue] = next.value;
    const job = queue.shift();
    this.#queues.delete(accountId);
    if (queue.length > 0) this.#queues.set(accountId, queue);
    if (job) this.#size -= 1;
    return job;
  }
}
