/**
 * Lets the page's clock (`in-page/page-clock.js`) run ahead after it has loaded, so that what its scripts still have to
 * draw is on paper: animated charts at their end, fetched data, timers run out. A second of animation costs no second.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { resultWithin } from '../../async/with-timeout.ts';
import { type Page, upTo } from './page.ts';
import type { Tab } from './tab.ts';

/** The page's own time that it may use for this, where the client names none. */
const BUDGET_MS = 5_000;

/** The silence after which the page has been told its answers. */
const ANSWERED_MS = 10;
/** Between two looks at work that is under way. */
const WORK_POLL_MS = 5;
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
/** No timer is further off. */
const NEVER_MS = 1e9;

/** What the scripts of a document and of its frames have still to do, and what they look at. A document without any: */
const NOTHING = {
  /** Their number. */
  scripts: 0,
  /** How often they asked for what only a drawn frame tells: what is in view, sizes, canvases of another thread. */
  watches: 0,
  /** How often they asked to hear of what happens with a frame: scrolling, the window's size. */
  hears: 0,
  /** Work that Chrome does off the thread of their scripts, and pictures, which it makes when it draws. */
  works: 0,
  pictures: 0,
  /** True when they asked about the print medium. */
  asksPrint: false,
  /** Animation frames that they asked for. */
  frames: 0,
  /** Milliseconds until the next timer that draws. */
  timer: NEVER_MS,
  /** Milliseconds until the last timer that they set as one delay, rather than as a step of many. */
  late: 0,
};
export type ClockState = Readonly<typeof NOTHING>;

const both = (a: ClockState, b: ClockState): ClockState => ({
  scripts: a.scripts + b.scripts,
  watches: a.watches + b.watches,
  hears: a.hears + b.hears,
  works: a.works + b.works,
  pictures: a.pictures + b.pictures,
  asksPrint: a.asksPrint || b.asksPrint,
  frames: a.frames + b.frames,
  timer: Math.min(a.timer, b.timer),
  late: Math.max(a.late, b.late),
});

/** True if the page has something to do that its clock brings. */
export const isActive = ({ frames, timer }: ClockState): boolean => frames > 0 || timer < NEVER_MS;

/** Milliseconds. */
interface Advance {
  /** The page's time to run ahead. */
  readonly by: number;
  /** The page's time between two frames. */
  readonly frameEvery: number;
  /** True if its clock does not run ahead after this. */
  readonly isLast: boolean;
  /** Also the timers that are left to real time come. */
  readonly all?: true;
}

/** Lets the clock of a window begin again, for the document that is written into it. */
export async function beginClock(tab: Tab): Promise<void> {
  const expression = `performance.dispatchEvent(new CustomEvent('${tab.clockChannel}', { detail: 'begin' }))`;
  await tab.send('Runtime.evaluate', { expression });
}

/** One document's budget, which all its runs share. */
export class RunAhead {
  readonly #page: Page;
  readonly #budgetMs: number;
  #left: number;
  /** When real time is up, by `performance.now()`. */
  #end: number;
  /** Real time that it may wait for answers without taking it from running ahead. */
  #answersMs: number;
  /** Real time that was waited for requests without an answer to all; undefined while none was. */
  #networkGivenUpMs: number | undefined;
  /** Real time that is left to wait for work of Chrome. */
  #workLeftMs: number;

  constructor(page: Page) {
    const { request, deadline, waits } = page;
    this.#page = page;
    this.#budgetMs = request.wait_for?.budget_ms ?? BUDGET_MS;
    this.#left = this.#budgetMs;
    this.#end = performance.now() + deadline.share('runAhead', this.#budgetMs);
    this.#answersMs = deadline.share('requests');
    this.#workLeftMs = deadline.share('nativeWork');
    this.#networkGivenUpMs = waits.list.find(
      (each) => each.for === 'network_idle' && each.capped,
    )?.ms;
  }

  /** Runs until nothing is left to come, or the budget is used up. Each further run has what is left of it. */
  async run(): Promise<ClockState> {
    const { tab } = this.#page;
    let state = await this.#ask(null);
    let answered = false;
    for (;;) {
      state = await this.#untilDone(state);
      const order = this.#next(state);
      if (order !== undefined) {
        this.#left -= order.by;
        state = await this.#ask(order);
        if (tab.workers.any) await delay(WORKER_STEP_MS);
        answered = false;
      } else if (tab.workers.any && !answered && this.#budgetMs > 0) {
        // A message of theirs may make the page ask for more.
        await this.#untilWorkersRest();
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

  /** Lets so much time pass for a document whose clock would else stand: all that is due comes, and each answer. */
  async waitAll(ms: number): Promise<void> {
    const { deadline } = this.#page;
    await this.#untilDone(await this.#ask(null));
    for (let left = ms; left > 0; left -= SHORT_STEP_MS) {
      const by = Math.min(left, SHORT_STEP_MS);
      const order: Advance = { by, frameEvery: COARSE_FRAME_MS, isLast: false, all: true };
      // On a busy machine the clock would stand for the rest of a long wait if this had the limit of running ahead.
      await this.#untilDone(await this.#ask(order, deadline.remaining()));
    }
  }

  /** Notes for the record what was still to come at the end. */
  noteUnfinished({ frames, works, pictures, late }: ClockState): void {
    if (this.#budgetMs === 0) return;
    const { waits, requests } = this.#page;
    const used = this.#budgetMs - this.#left;
    if (requests.busy) waits.note('requests', this.#networkGivenUpMs ?? 0, true);
    if (frames + works + pictures > 0) waits.note('drawing', used, true);
    if (late > 0 && late < LONGEST_DELAY_MS) waits.note('timers', used, true);
  }

  #next(state: ClockState): Advance | undefined {
    if (this.#left <= 0 || this.#realTime <= 0 || !isActive(state)) return undefined;
    const { requests, tab } = this.#page;
    const used = this.#budgetMs - this.#left;
    const frameEvery = used < COARSE_UNTIL_MS ? COARSE_FRAME_MS : FRAME_MS;
    const step = requests.used || tab.workers.any ? SHORT_STEP_MS : STEP_MS;
    // Without frames nothing comes before the next timer: its time is reached at once.
    const by = Math.min(this.#left, state.frames > 0 ? step : Math.max(state.timer, step));
    return { by, frameEvery, isLast: by >= this.#left };
  }

  get #realTime(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /**
   * Sets all clocks ahead, if there is an order, and resolves when what was due has come.
   * @param within milliseconds of real time that it may take
   */
  async #ask(order: Advance | null, within = this.#realTime): Promise<ClockState> {
    const { tab, worlds } = this.#page;
    const asked = JSON.stringify(order && { ...order, within });
    const answers = await worlds.askAll<ClockState>(`clock('${tab.clockChannel}', ${asked})`);
    return answers.map((answer) => ({ ...NOTHING, ...answer })).reduce(both);
  }

  /**
   * Waits for what others do for the page: servers, and Chrome off the thread of its scripts. The end of one may begin
   * another one.
   */
  async #untilDone(state: ClockState): Promise<ClockState> {
    const { requests, navigation, waits, worlds } = this.#page;
    let seen = state;
    let answeredMs = 0;
    for (let round = 0; ; round += 1) {
      const isAsking = requests.busy || navigation.leaving;
      if (isAsking && this.#mayWaitForAnswers && (round === 0 || this.#realTime > 0)) {
        answeredMs += await this.#untilAnswered();
        // The page may not have been given them yet.
        await upTo(this.#page, 'rest', worlds.askAll('rest()'));
      } else if (seen.works + seen.pictures > 0 && this.#workLeftMs > 0) {
        await this.#lookAtWork(seen);
      } else break;
      seen = await this.#ask(null);
    }
    if (answeredMs > 0) waits.note('requests', answeredMs);
    return seen;
  }

  /** Waits a moment for work. Chrome makes pictures in idle moments, of which it has some only when it draws. */
  async #lookAtWork({ pictures }: ClockState): Promise<void> {
    const { tab, worlds } = this.#page;
    const started = performance.now();
    if (pictures > 0) await upTo(this.#page, 'view', tab.frames.during(worlds.ask('frames(1)')));
    else await delay(WORK_POLL_MS);
    this.#workLeftMs -= performance.now() - started;
  }

  /** Waits until the scripts of workers rest, and nothing is done for them. */
  async #untilWorkersRest(): Promise<void> {
    const { tab, deadline } = this.#page;
    const end = performance.now() + deadline.share('workers');
    for (let left = deadline.share('workers'); left > 0; left = end - performance.now()) {
      const works = await resultWithin(tab.untilGone(tab.workers.works()), left);
      if (works === undefined || works === 0) return;
      await delay(WORK_POLL_MS);
    }
  }

  /** False after a timeout: it does not wait again. */
  get #mayWaitForAnswers(): boolean {
    return this.#networkGivenUpMs === undefined && this.#budgetMs > 0;
  }

  async #untilAnswered(): Promise<number> {
    const { navigation, requests } = this.#page;
    const started = performance.now();
    const answered = navigation
      .arrived()
      .then(() => requests.idle(ANSWERED_MS))
      .then(() => true);
    const done = await upTo(this.#page, 'requests', answered);
    const waited = performance.now() - started;
    const free = Math.min(waited, this.#answersMs);
    this.#answersMs -= free;
    this.#end += free;
    if (done === true) return waited;
    this.#networkGivenUpMs = waited;
    return 0;
  }
}
