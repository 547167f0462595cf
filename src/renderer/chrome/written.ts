/** Completes a document that was written into a window: its images, fonts, animations and first picture. */
import { FINISH_ANIMATIONS, type Finished, finishAnimations, openClosed } from './animations.ts';
import { type Deadline, resultWithin } from './deadline.ts';
import type { WrittenHtml } from './static-html.ts';
import type { Tab } from './tab.ts';
import type { Waits } from './waits.ts';

const CAP_MS = 10_000;

interface Needed extends Pick<Finished, 'hasClosed'> {
  readonly needsFrame: boolean;
}

// The load event comes after the images. Every font is loaded, for a margin box may need one that the page does
// not. Names on `document` may be covered by elements of that name: hence the prototype's own.
const LOADED = `
  const own = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(document);
  if (own('readyState') !== 'complete') {
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }));
  }
  await Promise.all(Array.from(own('fonts'), (font) => font.load().catch(() => {})));`;
// One that was paused has its keyframes' styles, too.
const HAS_ANIMATIONS = 'Document.prototype.getAnimations.call(document).length > 0';
const NOTHING_MOVES = '{ done: 0, hasClosed: false }';
const FRAME = 'new Promise((resolve) => requestAnimationFrame(() => resolve(true)))';
// A selector that is none here may be one for Chrome where it stands.
const needsFrame = (selectors: readonly string[]): string => `
  const has = (selector) => {
    try {
      return Document.prototype.querySelector.call(document, selector) !== null;
    } catch {
      return true;
    }
  };
  const needsFrame = animated || ${JSON.stringify(selectors)}.some(has);`;

/**
 * Sends its command at once, so that it may follow the writing itself. No script has run in the window, so
 * that its own world is as good as an isolated one.
 */
export async function completeWritten(
  tab: Tab,
  { loads, moves, drawnFirst }: WrittenHtml,
  deadline: Deadline,
  waits: Waits,
): Promise<void> {
  if (!(loads || moves || drawnFirst.size > 0)) return;
  const started = performance.now();
  const steps = [
    loads ? LOADED : '',
    `const { done, hasClosed } = ${moves ? FINISH_ANIMATIONS : NOTHING_MOVES};`,
    `const animated = done > 0 || hasClosed || ${moves ? HAS_ANIMATIONS : false};`,
    needsFrame(drawnFirst.has('*') ? ['*'] : [...drawnFirst]),
    'return { needsFrame, hasClosed };',
  ];
  const evaluate = async <T>(expression: string): Promise<T> => {
    const params = { expression, awaitPromise: true, returnByValue: true };
    return (await tab.send('Runtime.evaluate', params)).result.value as T;
  };
  const asked = evaluate<Needed | undefined>(`(async () => {${steps.join('\n')} })()`).then(
    async (needed) => {
      if (needed?.hasClosed === true) {
        await finishAnimations(evaluate<Finished>, () => openClosed(tab));
      }
      // Where the page kept it from being found out, a frame is the safe way.
      if (needed?.needsFrame !== false) await tab.frames.during(evaluate<boolean>(FRAME));
      return true;
    },
  );
  const done = await resultWithin(asked, deadline.share(0.5, CAP_MS));
  const what = loads ? 'images' : 'drawing';
  waits.note(what, performance.now() - started, done === undefined);
  if (done === undefined) tab.markTainted();
}
