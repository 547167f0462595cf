/** Completes a document that was written into a window: its images, fonts, animations and first picture. */
import { FINISH_ANIMATIONS } from './animations.ts';
import { type Deadline, resultWithin } from './deadline.ts';
import type { WrittenHtml } from './static-html.ts';
import type { Tab } from './tab.ts';
import type { Waits } from './waits.ts';

const CAP_MS = 10_000;

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
  return animated || ${JSON.stringify(selectors)}.some(has);`;

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
    `const animated = ${moves ? `${FINISH_ANIMATIONS} > 0 || ${HAS_ANIMATIONS}` : false};`,
    needsFrame(drawnFirst.has('*') ? ['*'] : [...drawnFirst]),
  ];
  const evaluate = async (expression: string): Promise<unknown> => {
    const params = { expression, awaitPromise: true, returnByValue: true };
    return (await tab.send('Runtime.evaluate', params)).result.value;
  };
  const asked = evaluate(`(async () => {${steps.join('\n')} })()`).then(async (needed) => {
    if (needed === true) await tab.frames.during(evaluate(FRAME));
    return true;
  });
  const done = await resultWithin(asked, deadline.share(0.5, CAP_MS));
  const what = loads ? 'images' : 'drawing';
  waits.note(what, performance.now() - started, done === undefined);
  if (done === undefined) tab.markTainted();
}
