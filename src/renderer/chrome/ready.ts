/** Waits until a page is complete. Every wait here ends by itself: then the page prints as it is. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestDocument } from '../../domain/request-document.ts';
import { type Deadline, resultWithin } from './deadline.ts';
import { PageFailure } from './failure.ts';
import type { IsolatedWorld } from './isolated-world.ts';
import { END_LAZY_LOADS } from './lazy-images.ts';
import type { Navigation } from './navigation.ts';
import { IDLE_MS, type NetworkActivity } from './network-activity.ts';
import type { Tab } from './tab.ts';
import type { Waits } from './waits.ts';

const READY_CAP_MS = 10_000;
const IDLE_CAP_MS = 10_000;
const SELECTOR_POLL_MS = 40;

// Names on `document` may be covered by elements of that name, even here: hence the prototype's own.
// Lazy images would stay empty below the first screen. No timers: they rest where scripts are off.
const SETTLED = `(async () => {
  const find = (selector) => [...Document.prototype.querySelectorAll.call(document, selector)];
  const lazy = find('[loading=lazy]');
  for (const each of lazy) each.loading = 'eager';
  const fonts = Object.getOwnPropertyDescriptor(Document.prototype, 'fonts').get.call(document);
  const started = performance.now();
  // Chrome looks for the fonts of margin boxes only when it prints.
  const marginFonts = [];
  const look = (rules, inherited) => {
    for (const rule of rules) {
      const own = rule.style?.fontFamily || inherited;
      if (rule instanceof CSSMarginRule && own) marginFonts.push(own);
      if (rule.cssRules) look(rule.cssRules, rule instanceof CSSPageRule ? own : '');
    }
  };
  const sheets = Object.getOwnPropertyDescriptor(Document.prototype, 'styleSheets').get.call(document);
  for (const sheet of sheets) {
    try {
      look(sheet.cssRules, '');
    } catch {
      // Nobody may read the rules of another origin.
    }
  }
  await Promise.all(marginFonts.map((family) => fonts.load('1em ' + family).catch(() => {})));
  await fonts.ready;
  const withFonts = performance.now();
  await Promise.all(find('img').map((image) => image.decode().catch(() => {})));
  await fonts.ready;
  const withImages = performance.now();
  if (lazy.length > 0) ${END_LAZY_LOADS}
  // The caret of a field blinks: it would be on paper by chance.
  let focused = Object.getOwnPropertyDescriptor(Document.prototype, 'activeElement').get.call(document);
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  if (focused !== document.body) focused?.style?.setProperty('caret-color', 'transparent', 'important');
  // Chrome looked for fonts for all of the text, also for what lies beside the paper.
  const root = Object.getOwnPropertyDescriptor(Document.prototype, 'documentElement').get.call(document);
  const text = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent').get.call(root);
  return [withFonts - started, withImages - withFonts, /[^\\u0000-\\u024f\\u2000-\\u206f\\u20a0-\\u20cf]/.test(text)];
})()`;

// Names what a wait that was given up still lacked.
const LACKING = `(() => {
  const fonts = Object.getOwnPropertyDescriptor(Document.prototype, 'fonts').get.call(document);
  if (fonts.status === 'loading') return 'fonts';
  const images = [...Document.prototype.querySelectorAll.call(document, 'img')];
  return images.some((image) => !image.complete) ? 'images' : 'drawing';
})()`;
const LACKING_CAP_MS = 300;

type Parts = readonly [fonts: number, images: number, isBeyondLatin: boolean];

/** @returns whether fonts and images are there; false when a cap ended the wait */
export async function settle(
  tab: Tab,
  world: IsolatedWorld,
  navigation: Navigation,
  deadline: Deadline,
  waits: Waits,
): Promise<boolean> {
  const started = performance.now();
  const end = started + deadline.share(0.5, READY_CAP_MS);
  for (;;) {
    const left = end - performance.now();
    if (left <= 0) {
      const lacking = await resultWithin(
        world.evaluate<'fonts' | 'images' | 'drawing'>(LACKING),
        Math.min(LACKING_CAP_MS, deadline.share(0.1)),
      );
      waits.note(lacking ?? 'drawing', performance.now() - started, true);
      return false;
    }
    const seen = navigation.documentId;
    const settled = await resultWithin(world.evaluate<Parts>(SETTLED), left);
    if (settled !== undefined && seen === navigation.documentId) {
      const [fonts, images, isBeyondLatin] = settled;
      if (isBeyondLatin) tab.markTainted();
      waits.note('fonts', fonts);
      waits.note('images', images);
      return true;
    }
    if (seen === navigation.documentId) {
      // It threw, its context went away, or it takes too long: the loop's time limit decides.
      await delay(SELECTOR_POLL_MS);
    } else {
      await resultWithin(navigation.loaded(), Math.max(0, end - performance.now()));
    }
  }
}

/** The waits that the client asked for, in this order: selector, delay, network idle. */
export async function waitFor(
  tab: Tab,
  wants: NonNullable<RequestDocument['wait_for']>,
  { world, network }: { readonly world: IsolatedWorld; readonly network: NetworkActivity },
  deadline: Deadline,
  waits: Waits,
): Promise<void> {
  const { selector } = wants;
  if (selector !== undefined) {
    await waits.measure('selector', waitForSelector(tab, world, selector, deadline));
  }
  if (wants.delay_ms !== undefined) {
    const ms = Math.min(wants.delay_ms, deadline.share(0.8));
    await waits.measure('delay', tab.untilGone(delay(ms)), () => ms === wants.delay_ms);
  }
  if (wants.network_idle === true) {
    const idle = tab.untilGone(network.idle(IDLE_MS)).then(() => true);
    const quiet = resultWithin(idle, deadline.share(0.4, IDLE_CAP_MS));
    await waits.measure('network_idle', quiet, (held) => held === true);
  }
}

async function waitForSelector(
  tab: Tab,
  world: IsolatedWorld,
  selector: string,
  deadline: Deadline,
): Promise<void> {
  const started = performance.now();
  const end = started + deadline.share(0.7);
  const expression = `(() => {
    try {
      return Document.prototype.querySelector.call(document, ${JSON.stringify(selector)}) !== null;
    } catch {
      return 'invalid';
    }
  })()`;
  for (;;) {
    const found = await world.evaluate<boolean | 'invalid'>(expression);
    if (found === true) return;
    if (found === 'invalid') {
      throw new PageFailure('selector_missing', 'The selector to wait for is not valid CSS.');
    }
    if (performance.now() >= end) {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      throw new PageFailure(
        'selector_missing',
        `The selector to wait for did not appear within ${seconds} seconds: ${selector}`,
      );
    }
    await tab.untilGone(delay(SELECTOR_POLL_MS));
  }
}
