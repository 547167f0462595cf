import type { Logger } from 'pino';

/** Renderers that start, or are scaled up from none, are not missed before. */
const MISSED_MS = 10_000;

/** Says, once for each time, that jobs wait and nobody renders: clients only see that nothing happens. */
export class Unattended {
  readonly #logger: Logger;
  #since: number | undefined;
  #said = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** While the server is away nobody can be seen. */
  reset(): void {
    this.#since = undefined;
    this.#said = false;
  }

  /**
   * @param waiting jobs that no renderer has taken
   * @param slots of all renderers
   * @param now milliseconds, of any clock that only goes on
   */
  look(waiting: number, slots: number, now: number): void {
    if (waiting === 0 || slots > 0) {
      return this.reset();
    }
    this.#since ??= now;
    if (this.#said || now - this.#since < MISSED_MS) return;
    this.#said = true;
    this.#logger.warn({ waiting }, 'conversions wait and no renderer node is there: start one');
  }
}
