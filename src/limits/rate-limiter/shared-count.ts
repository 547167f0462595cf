import { setTimeout as pause } from 'node:timers/promises';
import type { Bucket } from '../../nats/bucket.ts';
import { type Counted, type CountRequest, count } from './memory.ts';

/** Between two tries of nodes that met at one key, at most. */
const MAX_PAUSE_MS = 5;

interface Waiting extends CountRequest {
  /** Nobody waits for it any more: it must not be counted late. */
  abandoned: boolean;
  readonly resolve: (counted: Counted) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One key's count in a bucket that nodes share. Requests that come while a round is under way share the
 * next: it writes their sum, on the condition that no other node has written since.
 */
export class SharedCount {
  readonly #bucket: Bucket;
  readonly #key: string;
  #waiting: Waiting[] = [];
  #running = false;
  /** The entry as last seen; absent: unknown. */
  #seen: { readonly used: number; readonly revision: number } | undefined;

  constructor(bucket: Bucket, key: string) {
    this.#bucket = bucket;
    this.#key = key;
  }

  /**
   * @param signal aborts the wait; the request may still be counted
   * @throws when the server does not answer
   */
  count(request: CountRequest, signal: AbortSignal): Promise<Counted> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { ...request, abandoned: false, resolve, reject };
      signal.addEventListener('abort', () => {
        waiting.abandoned = true;
      });
      this.#waiting.push(waiting);
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const round = this.#waiting;
      this.#waiting = [];
      try {
        await this.#settle(round);
      } catch (error) {
        this.#seen = undefined;
        for (const { reject } of round) reject(error);
      }
    }
    this.#running = false;
  }

  async #settle(round: readonly Waiting[]): Promise<void> {
    let fresh = false;
    for (;;) {
      if (!this.#seen) {
        const entry = await this.#bucket.get(this.#key);
        this.#seen = { used: Number(entry?.value ?? 0), revision: entry?.revision ?? 0 };
        fresh = true;
      }
      const wanted = round.filter(({ abandoned }) => !abandoned);
      const { used, revision } = this.#seen;
      let next = used;
      const answers = wanted.map((request) => {
        const counted = count(request, next);
        next = counted.used;
        return counted;
      });
      const answer = (): void =>
        wanted.forEach(({ resolve }, n) => resolve(answers[n] ?? { allowed: false, used: next }));
      if (next === used) {
        // Nothing to write that would show whether what was seen still holds.
        if (fresh) return answer();
      } else {
        const written = await this.#bucket.set(this.#key, String(next), revision);
        if (written !== undefined) {
          this.#seen = { used: next, revision: written };
          return answer();
        }
        await pause(Math.random() * MAX_PAUSE_MS);
      }
      this.#seen = undefined;
    }
  }
}
