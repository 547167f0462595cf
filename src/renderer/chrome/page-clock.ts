/** The clocks of a document's frames, which `in-page/page-clock.js` keeps in each of them. */
import { CommandRefused } from './connection.ts';
import { resultWithin } from './deadline.ts';
import { IsolatedWorld } from './isolated-world.ts';
import { pageClockSource } from './page-clock-source.ts';
import type { Frame, Tab } from './tab.ts';

/** The most frames whose clocks run ahead; those of the others go as real time does. */
const MAX_FRAMES = 20;

/** The requests of a document's scripts that wait for their time, and what else is to be known of them. */
export interface ClockState {
  /** Animation frames that were asked for. */
  readonly frames: number;
  /** Idle callbacks that were asked for. */
  readonly idles: number;
  /** Milliseconds until the next timer; a large number where there is none. */
  readonly timer: number;
  /** Milliseconds until the last timer that the page set as one delay, rather than as a step of many. */
  readonly delay: number;
  /** Elements that are watched for coming into view, and listeners to the scrolling of the page. */
  readonly watchesView: number;
  /** Listeners to the size of the window, to what else comes of scrolling, and to the scrolling of elements. */
  readonly watchesSize: number;
  /** Things that only a drawn frame brings: changes of size, canvases of another thread. */
  readonly needsFrames: number;
  /** True when it asked about the print medium. */
  readonly asksPrint: boolean;
}

/** The same, and the real time after which the clock is to stop by itself. */
type Order = Advance & { readonly within: number };

/** The time after which a script that was to stop is stopped. */
const STOP_MS = 500;

/** A document without scripts. */
const NOTHING: ClockState = {
  frames: 0,
  idles: 0,
  timer: 1e9,
  delay: 0,
  watchesView: 0,
  watchesSize: 0,
  needsFrames: 0,
  asksPrint: false,
};

/** Milliseconds. */
export interface Advance {
  /** The page's time to run ahead. */
  readonly by: number;
  /** The page's time between two frames. */
  readonly frameEvery: number;
}

/** Evaluates to the state, once the clock has been set ahead; to null where the document has no clock. */
const request = (channel: string, order: Order | null): string => `new Promise((resolve) => {
  const id = Math.random();
  const heard = ({ detail }) => {
    const answer = JSON.parse(detail);
    if (answer.id !== id) return;
    performance.removeEventListener('${channel}-answer', heard);
    resolve(answer.state ?? null);
  };
  performance.addEventListener('${channel}-answer', heard);
  const detail = JSON.stringify({ id, order: ${JSON.stringify(order)} });
  const taken = !performance.dispatchEvent(new CustomEvent('${channel}', { detail, cancelable: true }));
  if (!taken) resolve(null);
})`;

/** Lets a window's clock begin anew for the document that is written into it. A tab's first window has no clock yet. */
export async function beginClock(tab: Tab): Promise<void> {
  const detail = JSON.stringify(JSON.stringify({ begins: true }));
  const begin = `performance.dispatchEvent(new CustomEvent('${tab.clockChannel}', { detail: ${detail} }))`;
  await tab.send('Runtime.evaluate', {
    expression: `${pageClockSource(tab.clockChannel)}; ${begin}`,
  });
}

/** It must start before the document does. */
export class PageClocks {
  readonly #tab: Tab;
  readonly #main: IsolatedWorld;
  readonly #children = new Map<string, Frame & { readonly world: IsolatedWorld }>();

  constructor(tab: Tab, main: IsolatedWorld) {
    this.#tab = tab;
    this.#main = main;
    const add = (frameId: string, session: string): void => {
      if (this.#children.size >= MAX_FRAMES) return;
      const world = new IsolatedWorld(tab, { frameId, session });
      this.#children.set(frameId, { frameId, session, world });
    };
    tab.onEach('Page.frameAttached', ({ frameId }, session) => add(frameId, session));
    // A frame that gets a process of its own is that one's session's.
    tab.onEach('Target.attachedToTarget', ({ targetInfo, sessionId }) => {
      if (targetInfo.type === 'iframe') add(targetInfo.targetId, sessionId);
    });
    tab.onEach('Page.frameNavigated', ({ frame }) => {
      (frame.id === tab.frameId ? main : this.#children.get(frame.id)?.world)?.forget();
    });
    tab.onEach('Page.frameDetached', ({ frameId }, session) => {
      if (this.#children.get(frameId)?.session === session) this.#children.delete(frameId);
    });
  }

  /**
   * Sets all clocks ahead, where there is an order, and resolves when what was due has come.
   * @param within milliseconds after which a script that does not end is stopped
   * @returns undefined where one was stopped
   */
  async run(order: Advance | null, within: number): Promise<ClockState | undefined> {
    const state = await resultWithin(this.#ask(order && { ...order, within }), within + STOP_MS);
    if (state !== undefined) return state;
    this.#tab.markTainted();
    const children = [...this.#children.values()].map(({ session }) => session);
    const sessions = new Set([this.#tab.mainFrame.session, ...children]);
    await Promise.all([...sessions].map((session) => this.#stopScript(session)));
    return undefined;
  }

  async #stopScript(session: string): Promise<void> {
    try {
      await this.#tab.sendTo(session, 'Runtime.terminateExecution', undefined);
    } catch (error) {
      // Its frame is gone.
      if (!(error instanceof CommandRefused)) throw error;
    }
  }

  async #ask(order: Order | null): Promise<ClockState> {
    const expression = request(this.#tab.clockChannel, order);
    const worlds = [this.#main, ...[...this.#children.values()].map(({ world }) => world)];
    const answers = await Promise.all(
      worlds.map((world) => world.evaluate<ClockState | null>(expression)),
    );
    return answers.map((answer) => answer ?? NOTHING).reduce(combined);
  }
}

const combined = (a: ClockState, b: ClockState): ClockState => ({
  frames: a.frames + b.frames,
  idles: a.idles + b.idles,
  timer: Math.min(a.timer, b.timer),
  delay: Math.max(a.delay, b.delay),
  watchesView: a.watchesView + b.watchesView,
  watchesSize: a.watchesSize + b.watchesSize,
  needsFrames: a.needsFrames + b.needsFrames,
  asksPrint: a.asksPrint || b.asksPrint,
});
