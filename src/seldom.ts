/** The time for which one line stands for all of its kind. */
const QUIET_MS = 10_000;

/** Lets the first of a time be told, and counts the rest: strangers must not fill a disk with lines. */
export class Seldom {
  #quietUntil = -Infinity;
  #untold = 0;

  /**
   * @param now milliseconds, of any clock that only goes on
   * @param tell gets how many were not told since it was last called
   */
  say(tell: (untold: number) => void, now = performance.now()): void {
    if (now < this.#quietUntil) {
      this.#untold += 1;
      return;
    }
    this.#quietUntil = now + QUIET_MS;
    tell(this.#untold);
    this.#untold = 0;
  }
}
