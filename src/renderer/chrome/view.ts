/** Shows the page all of itself: content that it shows only once it comes into view belongs on paper too. */
import { type Deadline, resultWithin } from './deadline.ts';
import type { IsolatedWorld } from './isolated-world.ts';
import type { Tab } from './tab.ts';
import type { Waits } from './waits.ts';

/** The most screens that a window is made tall, and that it is scrolled through; each of these costs a frame. */
const MAX_SCREENS = 40;
const CAP_MS = 3_000;
/** A page that never rests is not waited for any longer than this. */
const REST_CAP_MS = 500;

// Evaluates to true once a frame has been drawn.
const FRAME = 'new Promise((resolve) => requestAnimationFrame(() => resolve(true)))';
// Evaluates to true once nothing is left to do: frameworks cut their work into messages to themselves, of which
// the page's clock knows nothing. No idle callback: Chrome calls those only when it draws.
const REST = "scheduler.postTask(() => true, { priority: 'background' })";
// Evaluates to true once two frames have been drawn, which bring what observers tell.
const FRAMES = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
  return true;
})()`;

const HEIGHT = `Object.getOwnPropertyDescriptor(Document.prototype, 'documentElement').get.call(document).scrollHeight`;
const SCREENS = `[${HEIGHT}, innerHeight]`;
// Evaluates to true where the window shows all of the page.
const SHOWN = `(async () => {
  await ${FRAMES};
  return ${HEIGHT} <= innerHeight;
})()`;

const SCROLLED = `(async () => {
  const go = (top) => {
    scrollTo({ top, behavior: 'instant' });
    return new Promise((resolve) => requestAnimationFrame(resolve));
  };
  const end = Math.min(${HEIGHT}, ${MAX_SCREENS} * innerHeight);
  for (let top = innerHeight; top < end; top += innerHeight) await go(top);
  if (end > innerHeight) await go(0);
  return true;
})()`;

/** Resolves when a frame has been drawn, or takes too long. */
export async function drawFrame(
  { frames }: Tab,
  world: IsolatedWorld,
  deadline: Deadline,
): Promise<void> {
  const drawn = frames.during(world.evaluate<boolean>(FRAME));
  await resultWithin(drawn, deadline.share(0.2, CAP_MS));
}

/** Resolves when a page has nothing left to do, or never rests. */
export async function untilAtRest(world: IsolatedWorld, deadline: Deadline): Promise<void> {
  await resultWithin(world.evaluate<boolean>(REST), deadline.share(0.2, REST_CAP_MS));
}

/** The same as `drawFrame` for two frames: what the first one shows may ask for the second. */
export async function drawFrames(
  { frames }: Tab,
  world: IsolatedWorld,
  deadline: Deadline,
): Promise<void> {
  const drawn = frames.during(world.evaluate<boolean>(FRAMES));
  await resultWithin(drawn, deadline.share(0.2, CAP_MS));
}

/**
 * Makes the window as tall as the page for two frames. No scroll listener hears of that, so that no button
 * "back to top" is left on paper. A page that grows with its window, or is taller than any, is scrolled
 * through.
 * @returns false where the window shows all of the page already: then no frame was drawn
 */
export async function showWhole(
  tab: Tab,
  world: IsolatedWorld,
  deadline: Deadline,
  waits: Waits,
): Promise<boolean> {
  const end = performance.now() + deadline.share(0.2, CAP_MS);
  const within = async <T>(promise: Promise<T>): Promise<T | undefined> =>
    await resultWithin(promise, Math.max(0, end - performance.now()));
  const [height, screen] = (await within(world.evaluate<[number, number]>(SCREENS))) ?? [0, 1];
  if (height <= screen) return false;
  const show = async (): Promise<boolean> => {
    const tall = Math.min(Math.ceil(height), MAX_SCREENS * screen);
    await tab.send('Emulation.setDeviceMetricsOverride', {
      width: 0,
      height: tall,
      deviceScaleFactor: 0,
      mobile: false,
    });
    const shown = await within(world.evaluate<boolean>(height > tall ? SCROLLED : SHOWN));
    await tab.send('Emulation.clearDeviceMetricsOverride', undefined);
    if (shown === true) return (await within(world.evaluate<boolean>(FRAMES))) === true;
    // No time is left: a page that began to scroll now would be printed somewhere on its way.
    if (shown === undefined) return false;
    return (await within(world.evaluate<boolean>(SCROLLED))) === true;
  };
  await waits.measure('view', tab.frames.during(show()), (done) => done);
  return true;
}
