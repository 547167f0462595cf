/** The frames of a tab. Chrome draws them on command only, so that none is drawn for nothing, or by chance. */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { resultWithin } from '../../async/with-timeout.ts';
import { CommandRefused } from '../browser/connection.ts';

/** A screen shows 60 frames a second. */
export const FRAME_MS = 16;
/** Frames that follow each other at once: a wait for one or two of them is not to take longer than it must. */
const AT_ONCE = 3;
/** A frame that takes longer, because a script does, does not stop the loop. */
const PATIENCE_MS = 500;

export class Frames {
  readonly #draw: (() => Promise<unknown>) | undefined;
  /** The waits that are under way. */
  #waits = 0;
  #atOnce = 0;
  #isDrawing = false;
  /** Resolves when no frame is under way. */
  #drawn: Promise<unknown> = Promise.resolve();

  /** @param draw draws one frame; undefined where Chrome draws them by itself */
  constructor(draw: (() => Promise<unknown>) | undefined) {
    this.#draw = draw;
  }

  /** Resolves to false if a frame does not end. Some never do, and Chrome draws no other one in that tab then. */
  async haveEnded(): Promise<boolean> {
    const ended = this.#drawn.then(() => true);
    return (await resultWithin(ended, PATIENCE_MS)) === true;
  }

  /**
   * Settles as `promise` does, and has frames drawn until then.
   * @param after milliseconds before the first one
   */
  async during<T>(promise: Promise<T>, after = 0): Promise<T> {
    let begun = false;
    // Not at once: what is asked for now comes with the first frame if Chrome hears of it before.
    const timer = setTimeout(() => {
      begun = true;
      this.#waits += 1;
      this.#atOnce = AT_ONCE;
      if (!this.#isDrawing) void this.#drawOn();
    }, after);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      if (begun) this.#waits -= 1;
    }
  }

  async #drawOn(): Promise<void> {
    this.#isDrawing = true;
    while (this.#draw !== undefined && this.#waits > 0) {
      const started = performance.now();
      try {
        const drawing = this.#draw();
        const before = this.#drawn;
        this.#drawn = drawing.catch(() => {}).then(() => before);
        await resultWithin(drawing, PATIENCE_MS);
      } catch (error) {
        // The one before it may not have ended. The wait itself ends when the tab is gone.
        if (!(error instanceof CommandRefused)) break;
        this.#atOnce = 0;
      }
      this.#atOnce -= 1;
      if (this.#atOnce < 0) await delay(Math.max(1, FRAME_MS - (performance.now() - started)));
      // What was waited for may have come with the frame: then no other one is drawn.
      else await turn();
    }
    this.#isDrawing = false;
  }
}
