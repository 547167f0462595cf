/** The time after a line in which no other is written. */
const QUIET_MS = 10_000;

/** Writes one line per 10 s and counts the rest, so that clients cannot fill the disk. */
export class LogThrottle {
  #quietUntil = -Infinity;
  #suppressed = 0;

  /**
   * @param now milliseconds, of any clock that only goes on
   * @param write gets the number of lines that were suppressed since it was last called
   */
  log(write: (suppressed: number) => void, now = performance.now()): void {
    if (now < this.#quietUntil) {
      this.#suppressed += 1;
      return;
    }
    this.#quietUntil = now + QUIET_MS;
    write(this.#suppressed);
    this.#suppressed = 0;
  }
}
