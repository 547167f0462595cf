/**
 * A world in each frame of a document that the page's scripts cannot reach, with the functions of `in-page/settle.js`,
 * and the clock that `in-page/page-clock.js` keeps for the page itself.
 */
import { readFileSync } from 'node:fs';
import { CommandRefused } from './connection.ts';
import type { Frame, Tab } from './tab.ts';

/** The most frames whose clocks run ahead; those of the others go as real time does. */
const MAX_FRAMES = 20;

const SETTLE = readFileSync(new URL('in-page/settle.js', import.meta.url), 'utf8');

/** Lets the clock of a window begin again, for the document that is written into it. */
export async function beginClock(tab: Tab): Promise<void> {
  const detail = JSON.stringify(JSON.stringify({ begins: true }));
  const expression = `performance.dispatchEvent(new CustomEvent('${tab.clockChannel}', { detail: ${detail} }))`;
  await tab.send('Runtime.evaluate', { expression });
}

/** The requests of a document's scripts that wait for their time, and what else is to be known of them. */
export interface ClockState {
  /** Animation frames that were asked for. */
  readonly frames: number;
  /** Idle callbacks that were asked for. */
  readonly idles: number;
  /** Milliseconds until the next timer; `NEVER_MS` without one. */
  readonly timer: number;
  /** Milliseconds until the last timer that the page set as one delay, rather than as a step of many. */
  readonly delay: number;
  /** Elements that are watched for coming into view. */
  readonly watchesView: number;
  /** The scripts of the document, which may show things as they come into view. */
  readonly scripts: number;
  /** Things that only a drawn frame brings: changes of size, canvases of another thread. */
  readonly needsFrames: number;
  /** True when it asked about the print medium. */
  readonly asksPrint: boolean;
}

/** No timer is further off. */
export const NEVER_MS = 1e9;

/** A document without scripts. */
const NOTHING: ClockState = {
  frames: 0,
  idles: 0,
  timer: NEVER_MS,
  delay: 0,
  watchesView: 0,
  scripts: 0,
  needsFrames: 0,
  asksPrint: false,
};

const combined = (a: ClockState, b: ClockState): ClockState => ({
  frames: a.frames + b.frames,
  idles: a.idles + b.idles,
  timer: Math.min(a.timer, b.timer),
  delay: Math.max(a.delay, b.delay),
  watchesView: a.watchesView + b.watchesView,
  scripts: a.scripts + b.scripts,
  needsFrames: a.needsFrames + b.needsFrames,
  asksPrint: a.asksPrint || b.asksPrint,
});

/** Milliseconds. */
export interface Advance {
  /** The page's time to run ahead. */
  readonly by: number;
  /** The page's time between two frames. */
  readonly frameEvery: number;
  /** True if its clock does not run ahead after this. */
  readonly isLast: boolean;
}

class World {
  readonly #tab: Tab;
  readonly frame: Frame;
  #contextId: Promise<number> | undefined;

  constructor(tab: Tab, frame: Frame) {
    this.#tab = tab;
    this.frame = frame;
  }

  /** Notes that its frame has another document. */
  forget(): void {
    this.#contextId = undefined;
  }

  /** @see Worlds.ask */
  async ask<T>(question: string): Promise<T | undefined> {
    try {
      // One promise, so that those who ask at the same time share one world.
      this.#contextId ??= this.#create();
      return await this.#evaluate<T>(`settle.${question}`, await this.#contextId);
    } catch (error) {
      if (!(error instanceof CommandRefused)) throw error;
      this.#contextId = undefined;
      return undefined;
    }
  }

  async #create(): Promise<number> {
    const { frameId, session } = this.frame;
    const params = { frameId, worldName: 'pressledger' };
    const { executionContextId } = await this.#tab.sendTo(
      session,
      'Page.createIsolatedWorld',
      params,
    );
    void this.#evaluate(SETTLE, executionContextId).catch(() => {});
    return executionContextId;
  }

  async #evaluate<T>(expression: string, contextId: number): Promise<T | undefined> {
    const { result, exceptionDetails } = await this.#tab.sendTo(
      this.frame.session,
      'Runtime.evaluate',
      { expression, contextId, awaitPromise: true, returnByValue: true },
    );
    return exceptionDetails === undefined ? (result.value as T) : undefined;
  }
}

/** It must start before the document does. */
export class Worlds {
  readonly #tab: Tab;
  readonly #main: World;
  readonly #children = new Map<string, World>();

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#main = new World(tab, tab.mainFrame);
    const add = (frameId: string, session: string): void => {
      if (this.#children.size >= MAX_FRAMES) return;
      this.#children.set(frameId, new World(tab, { frameId, session }));
    };
    tab.onEach('Page.frameAttached', ({ frameId }, session) => add(frameId, session));
    // A frame that gets a process of its own is that one's session's.
    tab.onEach('Target.attachedToTarget', ({ targetInfo, sessionId }) => {
      if (targetInfo.type === 'iframe') add(targetInfo.targetId, sessionId);
    });
    tab.onEach('Page.frameNavigated', ({ frame }) => {
      (frame.id === tab.frameId ? this.#main : this.#children.get(frame.id))?.forget();
    });
    tab.onEach('Page.frameDetached', ({ frameId }, session) => {
      if (this.#children.get(frameId)?.frame.session === session) this.#children.delete(frameId);
    });
  }

  /** True if the document has no frames. */
  get isOne(): boolean {
    return this.#children.size === 0;
  }

  /**
   * Calls a function of `in-page/settle.js` in the main frame.
   * @param question such as `frames(2)`
   * @returns the value, by JSON; undefined if it threw or a navigation took the document away: the caller may ask
   *   again
   */
  async ask<T>(question: string): Promise<T | undefined> {
    return await this.#main.ask<T>(question);
  }

  /** The same in each frame, as far as they are followed; the main frame's answer is the first. */
  async askAll<T>(question: string): Promise<readonly (T | undefined)[]> {
    return await Promise.all(
      [this.#main, ...this.#children.values()].map((world) => world.ask<T>(question)),
    );
  }

  /**
   * Sets all clocks ahead, if there is an order, and resolves when what was due has come.
   * @param within milliseconds of real time after which no further callback is called
   * @throws {PageFailure} `timeout` when a script does not end before the deadline
   */
  async clocks(order: Advance | null, within: number): Promise<ClockState> {
    const asked = JSON.stringify(order && { ...order, within });
    const question = `clock('${this.#tab.clockChannel}', ${asked})`;
    const answers = await this.askAll<ClockState | null>(question);
    return answers.map((answer) => answer ?? NOTHING).reduce(combined);
  }
}
