/**
 * Lets the page's clock run ahead after it has loaded, so that what its scripts still have to draw is on
 * paper: animated charts at their end, fetched data, timers run out. A second of animation costs no second.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CAPS } from './caps.ts';
import { type Page, upTo } from './page.ts';
import { type Advance, type ClockState, NEVER_MS } from './worlds.ts';

/** The page's own time that it may use for this, where the client names none. */
export const BUDGET_MS = 5_000;

/** The silence after which the page has been told its answers. */
const ANSWERED_MS = 10;
/** The steps of the clock of a page that fetches nothing, and has nobody to wait for. */
const STEP_MS = 1_200;
/**
 * Those of one that fetches. Requests are looked for after each, so that a page's own time limit for an answer
 * cannot pass before the answer has had a chance to come.
 */
const SHORT_STEP_MS = 100;
/**
 * Frames are far apart at first: an animation that goes by time ends after few. Later they come 80 times a
 * second, for an animation that counts them.
 */
const COARSE_UNTIL_MS = 1_200;
const COARSE_FRAME_MS = 100;
/** 300 frames come within the default budget: that many d3 takes to lay out a graph. */
const FRAME_MS = 12.5;
/** Workers run in real time. A page that has some gets this much for each step, in which they may answer. */
const WORKER_STEP_MS = 10;
/** A timer of a page for something that takes longer, such as the end of a session, is not waited for. */
const LONGEST_DELAY_MS = 30_000;

/** One document's budget, which all its runs share. */
export class RunAhead {
  readonly #page: Page;
  readonly #budgetMs: number;
  #left: number;
  /** When real time is up, by `performance.now()`; set by the first run. */
  #end: number | undefined;
  /** Real time that was waited for requests without an answer; undefined while none was. */
  #networkGivenUpMs: number | undefined;
  #isOutOfTime = false;

  /**
   * @param budgetMs of the page's own time
   * @param networkGivenUpMs real time that was waited for requests before, without an answer to all
   */
  constructor(page: Page, budgetMs: number, networkGivenUpMs: number | undefined) {
    this.#page = page;
    this.#networkGivenUpMs = networkGivenUpMs;
    this.#budgetMs = budgetMs;
    this.#left = budgetMs;
  }

  /** Runs until nothing is left to come, or the budget is used up. Each further run has what is left of it. */
  async run(): Promise<ClockState> {
    const { navigation, requests, tab, deadline } = this.#page;
    const [part, ms] = CAPS.runAhead;
    this.#end ??= performance.now() + deadline.share(part, Math.max(ms, this.#budgetMs));
    let state = await this.#ask(null);
    let answered = false;
    for (;;) {
      if (requests.busy || navigation.leaving) {
        await this.#untilAnswered();
        state = await this.#ask(null);
      }
      const order = this.#next(state);
      if (order !== undefined) {
        this.#left -= order.by;
        state = await this.#ask(order);
        if (tab.workers.any) await delay(WORKER_STEP_MS);
        answered = false;
      } else if (tab.workers.any && !answered && this.#budgetMs > 0) {
        // A message of theirs may make the page ask for more.
        await upTo(this.#page, 'workers', tab.workers.idle());
        await delay(WORKER_STEP_MS);
        answered = true;
        state = await this.#ask(null);
      } else return state;
    }
  }

  /** Lets so much of the page's time pass, beyond its budget, if it has one. */
  async pass(ms: number): Promise<void> {
    if (this.#budgetMs === 0) return;
    await this.#ask({ by: ms, frameEvery: COARSE_FRAME_MS, isLast: this.#left <= 0 });
  }

  /** Notes for the record what was still to come at the end. */
  noteUnfinished({ frames, delay: ms }: ClockState): void {
    if (this.#budgetMs === 0) return;
    const { waits, requests } = this.#page;
    const used = this.#isOutOfTime ? this.#budgetMs - this.#left : this.#budgetMs;
    if (requests.busy) waits.note('requests', this.#networkGivenUpMs ?? 0, true);
    if (frames > 0) waits.note('drawing', used, true);
    if (ms > 0 && ms < LONGEST_DELAY_MS) waits.note('timers', used, true);
  }

  #next({ frames, idles, timer }: ClockState): Advance | undefined {
    this.#isOutOfTime = this.#realTime <= 0 && this.#left > 0;
    if (this.#left <= 0 || this.#realTime <= 0) return undefined;
    const used = this.#budgetMs - this.#left;
    const frameEvery = used < COARSE_UNTIL_MS ? COARSE_FRAME_MS : FRAME_MS;
    const step = this.#page.requests.used || this.#page.tab.workers.any ? SHORT_STEP_MS : STEP_MS;
    let by = step;
    if (frames === 0 && idles === 0) {
      // Nothing comes before the next timer: its time is reached at once.
      if (timer >= NEVER_MS) return undefined;
      by = Math.max(timer, step);
    }
    return { by: Math.min(by, this.#left), frameEvery, isLast: by >= this.#left };
  }

  get #realTime(): number {
    return (this.#end ?? 0) - performance.now();
  }

  async #ask(order: Advance | null): Promise<ClockState> {
    return await this.#page.worlds.clocks(order, Math.max(0, this.#realTime));
  }

  /** Waits until all requests are answered. Waits at most once: after a timeout it does not wait again. */
  async #untilAnswered(): Promise<void> {
    if (this.#networkGivenUpMs !== undefined || this.#budgetMs === 0) return;
    const { navigation, requests, waits } = this.#page;
    const started = performance.now();
    const answered = navigation
      .arrived()
      .then(() => requests.idle(ANSWERED_MS))
      .then(() => true);
    const done = await upTo(this.#page, 'requests', answered);
    const waited = performance.now() - started;
    if (done === true) waits.note('requests', waited);
    else this.#networkGivenUpMs = waited;
  }
}
