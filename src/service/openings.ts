/** Everything opened on the way to a composition. It is checked together and closed in the reverse order. */
import type { BoundCheck } from '../limits/bounds.ts';

export interface Opening {
  /** Resolves to the reason why it does not work right now, for the operator. */
  readonly unhealthyReason?: () => Promise<string | undefined>;
  /** Resolves to the bound that keeps new work out, and why; decided by what is known, without a request. */
  readonly bound?: BoundCheck;
  readonly close?: () => Promise<void>;
}

export class Openings {
  readonly #openings: Opening[] = [];

  /** Opens everything or nothing: what was opened before a failure is closed. */
  static async all<T>(open: (openings: Openings) => Promise<T>): Promise<T> {
    const openings = new Openings();
    try {
      return await open(openings);
    } catch (error) {
      await openings.close();
      throw error;
    }
  }

  add(opening: Opening): void {
    this.#openings.push(opening);
  }

  get bounds(): readonly BoundCheck[] {
    return this.#openings.flatMap(({ bound }) => bound ?? []);
  }

  /** Returns them without a full stop at the end: callers join them to one sentence. */
  async unhealthyReasons(): Promise<readonly string[]> {
    const all = this.#openings.map(async ({ unhealthyReason }) => await unhealthyReason?.());
    return (await Promise.all(all)).flatMap((each) => each?.replace(/\.$/, '') ?? []);
  }

  async close(): Promise<void> {
    for (const { close } of this.#openings.toReversed()) await close?.();
  }
}
