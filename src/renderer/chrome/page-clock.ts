/** The clocks of a document's frames, which `in-page/page-clock.js` keeps in each of them. */
import { IsolatedWorld } from './isolated-world.ts';
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
  /** Elements that are watched for coming into view. */
  readonly watchesView: number;
  /** The scripts of the document, which may show things as they come into view. */
  readonly scripts: number;
  /** Things that only a drawn frame brings: changes of size, canvases of another thread. */
  readonly needsFrames: number;
  /** True when it asked about the print medium. */
  readonly asksPrint: boolean;
}

/** The same, and the real time after which the clock stops by itself, between two callbacks. */
type Order = Advance & { readonly within: number };

/** A document without scripts. */
const NOTHING: ClockState = {
  frames: 0,
  idles: 0,
  timer: 1e9,
  delay: 0,
  watchesView: 0,
  scripts: 0,
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

/** Lets the clock of a window begin again, for the document that is written into it. */
export async function beginClock(tab: Tab): Promise<void> {
  const detail = JSON.stringify(JSON.stringify({ begins: true }));
  const begin = `performance.dispatchEvent(new CustomEvent('${tab.clockChannel}', { detail: ${detail} }))`;
  await tab.send('Runtime.evaluate', { expression: begin });
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
   * Sets all clocks ahead, if there is an order, and resolves when what was due has come.
   * @param within milliseconds after which no further callback is called
   * @throws {PageFailure} `timeout` when a script does not end before the deadline
   */
  async run(order: Advance | null, within: number): Promise<ClockState> {
    return await this.#ask(order && { ...order, within });
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
  scripts: a.scripts + b.scripts,
  needsFrames: a.needsFrames + b.needsFrames,
  asksPrint: a.asksPrint || b.asksPrint,
});
