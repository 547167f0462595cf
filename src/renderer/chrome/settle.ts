/**
 * Brings a page that has loaded to what belongs on paper, by the rule in `docs/rendering.md`. Every wait here ends by
 * itself: then the page is printed as it is.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { resultWithin } from '../../async/with-timeout.ts';
import type { PrintOptions } from '../../domain/event-fields.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import { PageFailure } from '../browser/failure.ts';
import { type Page, untilWhole, upTo } from './page.ts';
import { type ClockState, isActive, RunAhead } from './run-ahead.ts';
import { onePageRules } from './single-page.ts';
import { endWindow, mediaOf, mostTall, setWindow } from './surroundings.ts';

/** One round may make another one needed: an observer draws a chart, whose end starts a fade. */
const MAX_ROUNDS = 4;
/** The most screens that a window is made tall, and that it is scrolled through; each of these costs a frame. */
const MAX_SCREENS = 40;
/** The page's time that passes while all of it is shown, for scripts that look again and again at what is in view. */
const SHOWN_MS = 1_000;
const RETRY_MS = 40;
const SELECTOR_POLL_MS = 40;
/** The silence that counts as idle, as in browsers' tools. */
const IDLE_MS = 500;

export interface Settled {
  /** False when fonts or images were given up. */
  readonly isComplete: boolean;
  /** The addresses of images that came and cannot be shown. */
  readonly broken: readonly string[];
}

/**
 * Waits for what the client and the page's scripts ask for, and until all of it is there.
 * @param hasLoaded false when the load event was given up
 * @param options those that the page is printed with
 */
export async function settle(
  page: Page,
  hasLoaded: boolean,
  options: PrintOptions,
): Promise<Settled> {
  const { media, color_scheme, viewport } = options;
  const { tab, request } = page;
  await addStyle(page, options);
  if (request.wait_for) await waitFor(page, request.wait_for, new RunAhead(page));
  // A load that has not ended is given up: Chrome would wait for it again, two seconds, before printing.
  if (!hasLoaded) await tab.send('Page.stopLoading', undefined);
  const runAhead = new RunAhead(page);
  const state = await endDrawing(page, runAhead, viewport);
  runAhead.noteUnfinished(state);
  // The page may have moved on to another document by itself.
  await untilWhole(page, page.navigation.ended());
  const settled = await untilComplete(page, options);
  if (!settled.isComplete) await tab.send('Page.stopLoading', undefined);
  if (state.asksPrint && media === 'print') {
    // Its listeners hear of printing only if the medium changes then.
    await tab.send('Emulation.setEmulatedMedia', mediaOf('', color_scheme));
    await drawFrames(page, 2);
  }
  await untilWhole(page, page.navigation.ended());
  return settled;
}

/** The silence after which nothing more that a style sheet names is under way. */
const STYLED_MS = 10;

/** Adds the client's style sheet to the document, unless it has it, and lets the images that it names come. */
async function addStyle(page: Page, options: PrintOptions): Promise<void> {
  const { worlds, requests, waits, request } = page;
  const { color_scheme = '', single_page } = options;
  if (request.css === undefined && color_scheme === '' && !single_page) return;
  // A byte order mark would be part of the first rule.
  const own = (request.css ?? '').replace(/^\uFEFF/, '');
  const sheets = [own, single_page ? onePageRules(options) : ''];
  const asked = `style(${JSON.stringify(sheets)}, '${color_scheme}')`;
  const isNew = await upTo(page, 'rest', worlds.ask<boolean>(asked));
  if (isNew !== true || !requests.busy) return;
  const come = upTo(
    page,
    'requests',
    requests.idle(STYLED_MS).then(() => true),
  );
  await waits.measure('requests', come, (done) => done === true);
}

/**
 * Waits for what the client asked for: a selector, a delay, a silent network, in this order. It waits in real time, but in
 * a deterministic document by its clock.
 * @throws {PageFailure} `selector_missing` when the selector does not appear
 */
async function waitFor(
  page: Page,
  { selector, delay_ms, network_idle }: NonNullable<RequestDocument['wait_for']>,
  runAhead: RunAhead,
): Promise<void> {
  const { tab, requests, deadline, waits } = page;
  if (selector !== undefined)
    await waits.measure('selector', waitForSelector(page, selector, runAhead));
  if (delay_ms !== undefined) {
    const ms = Math.min(delay_ms, deadline.share('delay'));
    const passed = tab.isFixed ? runAhead.waitAll(ms) : tab.untilGone(delay(ms));
    await waits.measure('delay', passed, () => ms === delay_ms);
  }
  if (network_idle === true) {
    const idle = requests.idle(IDLE_MS).then(() => true);
    const quiet = upTo(page, 'networkIdle', idle);
    await waits.measure('network_idle', quiet, (held) => held === true);
  }
}

async function waitForSelector(
  { tab, worlds, deadline }: Page,
  selector: string,
  runAhead: RunAhead,
): Promise<void> {
  const started = performance.now();
  const end = started + deadline.share('selector');
  const look = () => worlds.ask<boolean | 'invalid'>(`has(${JSON.stringify(selector)})`);
  for (let found = await look(); found !== true; found = await look()) {
    if (found === 'invalid') {
      throw new PageFailure('selector_missing', 'The selector to wait for is not valid CSS.');
    }
    if (performance.now() >= end) {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const message = `The selector to wait for did not appear within ${seconds} seconds: ${selector}`;
      throw new PageFailure('selector_missing', message);
    }
    if (tab.isFixed) await runAhead.waitAll(SELECTOR_POLL_MS);
    else await tab.untilGone(delay(SELECTOR_POLL_MS));
  }
}

/**
 * Lets scripts end what they draw and animations come to their end. A page that listens to what happens with frames, such as
 * scrolling, gets one: its listeners would else hear of it by chance. Pages that ask for what only frames tell get more, and
 * others none.
 * @returns what its scripts asked for
 */
async function endDrawing(
  page: Page,
  runAhead: RunAhead,
  viewport: PrintOptions['viewport'],
): Promise<ClockState> {
  const { tab, worlds } = page;
  let shown = 0;
  let drawn = 0;
  for (let round = 0; ; round += 1) {
    const state = await runAhead.run();
    if (round === MAX_ROUNDS || (state.scripts === 0 && worlds.isOne)) return state;
    const watches = state.watches + (tab.workers.any ? 1 : 0);
    // What the first frame shows may ask for the second.
    const frames = watches > 0 ? 2 : 1;
    // A page whose scripts have ended, and hear of nothing, looks the same in a window of any height.
    const mayLook = watches + state.hears > 0 || isActive(state);
    const height = mayLook ? await showWhole(page, runAhead, viewport, frames, shown) : shown;
    if (height > shown || watches > drawn || round === 0) {
      if (height === shown) {
        if (watches + state.hears > 0) await drawFrames(page, frames);
        await upTo(page, 'rest', worlds.ask('rest()'));
      }
      shown = height;
      drawn = watches;
    } else if (((await worlds.ask<number>('finish()')) ?? 0) > 0) {
      // Their events come with a frame.
      await drawFrames(page, 2);
    } else return state;
  }
}

/** Resolves when so many frames have been drawn, or take too long. */
async function drawFrames(page: Page, count: number): Promise<void> {
  const { tab, worlds } = page;
  await upTo(page, 'view', tab.frames.during(worlds.ask(`frames(${count})`)));
}

/**
 * Makes the window as tall as the page for a moment: content that a page shows only once it comes into view belongs on
 * paper, too. Scroll listeners find it at its top, so that no button "back to top" is left on paper. A page that grows
 * with its window, or is taller than any, is scrolled through.
 * @param frames how many bring what the page listens to
 * @param shown the height of the page that was shown before
 * @returns the height that is shown now; `shown` if the page is not taller: then no frame was drawn
 */
async function showWhole(
  page: Page,
  runAhead: RunAhead,
  viewport: PrintOptions['viewport'],
  frames: number,
  shown: number,
): Promise<number> {
  const { tab, worlds, deadline, waits } = page;
  const end = performance.now() + deadline.share('view');
  const ask = async <T>(question: string): Promise<T | undefined> =>
    await resultWithin(worlds.ask<T>(question), Math.max(0, end - performance.now()));
  const draw = async (question: string): Promise<boolean> =>
    (await tab.frames.during(ask<boolean>(question))) === true;
  const screens = async () => (await ask<[height: number, screen: number]>('screens()')) ?? [0, 0];
  const [height, screen] = await screens();
  if (height <= Math.max(screen, shown)) return shown;
  const most = Math.max(screen, Math.min(MAX_SCREENS * screen, mostTall(viewport)));
  const show = async (): Promise<boolean> => {
    // An observer tells of what comes into view only if it was out of view in a frame before.
    if (frames > 1) await draw('frames(1)');
    await setWindow(tab, { height: Math.min(Math.ceil(height), most) }, viewport);
    let isShown = await draw(`frames(${frames}, true)`);
    if (isShown) await runAhead.pass(SHOWN_MS);
    const [now, tall] = await screens();
    const isScrolled = now > tall;
    if (isScrolled && height > most) isShown = await draw(`scroll(${MAX_SCREENS})`);
    await endWindow(tab, viewport);
    // No time is left: a page that began to scroll now would be printed somewhere on its way.
    if (!isShown) return false;
    const goesOn = isScrolled && height <= most;
    return await draw(goesOn ? `scroll(${MAX_SCREENS})` : `frames(${frames})`);
  };
  await waits.measure('view', show(), (done) => done);
  return height;
}

/** Times in milliseconds. */
interface Completed {
  readonly fonts: number;
  readonly images: number;
  readonly broken: readonly string[];
  readonly isBeyondLatin: boolean;
}

async function untilComplete(page: Page, options: PrintOptions): Promise<Settled> {
  const { tab, worlds, navigation, deadline, waits } = page;
  const started = performance.now();
  const end = started + deadline.share('complete');
  for (;;) {
    const left = end - performance.now();
    if (left <= 0) {
      const asked = worlds.ask<'fonts' | 'images' | 'drawing'>('lacking()');
      const lacking = await upTo(page, 'rest', asked);
      waits.note(lacking ?? 'drawing', performance.now() - started, true);
      return { isComplete: false, broken: [] };
    }
    const seen = navigation.documentId;
    // The page may have moved on, or replaced its style sheets.
    await addStyle(page, options);
    const asked = worlds.askAll<Completed>('complete()');
    const [main, ...frames] = (await resultWithin(asked, left)) ?? [];
    if (seen !== navigation.documentId) {
      await resultWithin(navigation.loaded(), Math.max(0, end - performance.now()));
    } else if (main === undefined) {
      // It threw, its world went away, or it takes too long: the loop's time limit decides.
      await delay(RETRY_MS);
    } else {
      const all = [main, ...frames];
      // Another document could get fonts that Chrome found for this one.
      if (all.some((each) => each?.isBeyondLatin !== false)) tab.markTainted();
      waits.note('fonts', main.fonts);
      waits.note('images', main.images);
      return { isComplete: true, broken: all.flatMap((each) => each?.broken ?? []) };
    }
  }
}
