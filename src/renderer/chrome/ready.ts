/** Waits until a page is complete. Every wait here ends by itself: then the page prints as it is. */
import type { ManifestWait } from '../../domain/render-manifest.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import { CommandRefused } from './connection.ts';
import { type Deadline, resultWithin } from './deadline.ts';
import { PageFailure } from './failure.ts';
import type { Navigation } from './navigation.ts';
import type { Tab } from './tab.ts';

const READY_CAP_MS = 10_000;
const IDLE_CAP_MS = 10_000;
const SELECTOR_POLL_MS = 40;
/** The most screens that are scrolled through; each costs a frame. */
const MAX_SCREENS = 40;
const SCROLL_CAP_MS = 3_000;

// Names on `document` may be covered by elements of that name, even here: hence the prototype's own.
// Lazy images would stay empty below the first screen. No timers: they rest where scripts are off.
const SETTLED = `(async () => {
  const find = (selector) => [...Document.prototype.querySelectorAll.call(document, selector)];
  for (const lazy of find('[loading=lazy]')) lazy.loading = 'eager';
  const fonts = Object.getOwnPropertyDescriptor(Document.prototype, 'fonts').get.call(document);
  const started = performance.now();
  await fonts.ready;
  const withFonts = performance.now();
  await Promise.all(find('img').map((image) => image.decode().catch(() => {})));
  await fonts.ready;
  const withImages = performance.now();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
  return [withFonts - started, withImages - withFonts, performance.now() - withImages];
})()`;

// Names what a wait that was given up still lacked.
const LACKING = `(() => {
  const fonts = Object.getOwnPropertyDescriptor(Document.prototype, 'fonts').get.call(document);
  if (fonts.status === 'loading') return 'fonts';
  const images = [...Document.prototype.querySelectorAll.call(document, 'img')];
  return images.some((image) => !image.complete) ? 'images' : 'frames';
})()`;
const LACKING_CAP_MS = 300;

type Parts = readonly [fonts: number, images: number, frames: number];

// Scrolls through the page: content that an IntersectionObserver then shows belongs on paper too.
const SCROLLED = `(async () => {
  const root = Object.getOwnPropertyDescriptor(Document.prototype, 'documentElement').get.call(document);
  const go = (top) => {
    scrollTo({ top, behavior: 'instant' });
    return new Promise((resolve) => requestAnimationFrame(resolve));
  };
  const end = Math.min(root.scrollHeight, ${MAX_SCREENS} * innerHeight);
  for (let top = innerHeight; top < end; top += innerHeight) await go(top);
  if (end > innerHeight) await go(0);
  return true;
})()`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Evaluates, or resolves to undefined when a navigation took the document away; the caller may ask again. */
async function evaluateUnlessReplaced<T>(tab: Tab, expression: string): Promise<T | undefined> {
  try {
    return await evaluateIsolated<T>(tab, expression);
  } catch (error) {
    if (error instanceof CommandRefused) return undefined;
    throw error;
  }
}

/** @returns whether fonts, images and two frames are there; false when a cap ended the wait */
export async function settle(
  tab: Tab,
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
        evaluateUnlessReplaced<'fonts' | 'images' | 'frames'>(tab, LACKING),
        Math.min(LACKING_CAP_MS, deadline.share(0.1)),
      );
      waits.note(lacking ?? 'frames', performance.now() - started, true);
      return false;
    }
    const seen = navigation.documentId;
    const settled = await resultWithin(evaluateUnlessReplaced<Parts>(tab, SETTLED), left);
    if (settled !== undefined && seen === navigation.documentId) {
      const [fonts, images, frames] = settled;
      waits.note('fonts', fonts);
      waits.note('images', images);
      waits.note('frames', frames);
      return true;
    }
    if (seen === navigation.documentId) {
      // It threw, its context went away, or it takes too long: the loop's time limit decides.
      await pause(SELECTOR_POLL_MS);
    } else {
      await resultWithin(navigation.loaded(), Math.max(0, end - performance.now()));
    }
  }
}

/** True when the page may show something only once it is scrolled to. A false alarm costs frames. */
export const maySeeScrolling = ({ html, files = {} }: RequestDocument): boolean =>
  html === undefined ||
  /IntersectionObserver|<script[^>]{0,200}\ssrc/i.test(html) ||
  Object.keys(files).some((name) => /\.m?js$/i.test(name));

/** Shows the page all of itself, screen by screen, and goes back to its top. */
export async function scrollThrough(tab: Tab, deadline: Deadline, waits: Waits): Promise<void> {
  const scrolling = resultWithin(
    evaluateUnlessReplaced<boolean>(tab, SCROLLED),
    deadline.share(0.2, SCROLL_CAP_MS),
  );
  await waits.measure('scroll', scrolling, (done) => done === true);
}

/** The waits that the client asked for, in this order: selector, delay, network idle. */
export async function waitFor(
  tab: Tab,
  wants: NonNullable<RequestDocument['wait_for']>,
  network: NetworkActivity | undefined,
  deadline: Deadline,
  waits: Waits,
): Promise<void> {
  const { selector } = wants;
  if (selector !== undefined) {
    await waits.measure('selector', waitForSelector(tab, selector, deadline));
  }
  if (wants.delay_ms !== undefined) {
    const ms = Math.min(wants.delay_ms, deadline.share(0.8));
    await waits.measure('delay', tab.untilGone(pause(ms)), () => ms === wants.delay_ms);
  }
  if (network) {
    const idle = tab.untilGone(network.idle()).then(() => true);
    const quiet = resultWithin(idle, deadline.share(0.4, IDLE_CAP_MS));
    await waits.measure('network_idle', quiet, (held) => held === true);
  }
}

async function waitForSelector(tab: Tab, selector: string, deadline: Deadline): Promise<void> {
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
    const found = await evaluateUnlessReplaced<boolean | 'invalid'>(tab, expression);
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
    await tab.untilGone(pause(SELECTOR_POLL_MS));
  }
}

/**
 * Evaluates in a world that the page's scripts cannot reach: there, what a page did to Promise,
 * Object.prototype or requestAnimationFrame does not exist.
 * @returns the value, by JSON; undefined where it threw
 */
export async function evaluateIsolated<T>(tab: Tab, expression: string): Promise<T | undefined> {
  const { executionContextId } = await tab.send('Page.createIsolatedWorld', {
    frameId: tab.frameId,
    worldName: 'pressledger',
  });
  const { result, exceptionDetails } = await tab.send('Runtime.evaluate', {
    expression,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  return exceptionDetails === undefined ? (result.value as T) : undefined;
}

/** The waits for a document, and which of them were given up. */
export class Waits {
  readonly list: ManifestWait[] = [];

  note(what: ManifestWait['for'], ms: number, capped = false): void {
    this.list.push({ for: what, ms, ...(capped ? { capped } : {}) });
  }

  /** @param held whether the wait ended as it should; default: always */
  async measure<T>(
    what: ManifestWait['for'],
    wait: Promise<T>,
    held: (result: T) => boolean = () => true,
  ): Promise<T> {
    const started = performance.now();
    const result = await wait;
    this.note(what, performance.now() - started, !held(result));
    return result;
  }
}

/** The silence that counts as idle, as in browsers' tools. */
const QUIET_MS = 500;

/** The requests under way of a page, its frames and its workers. It must start before the page does. */
export class NetworkActivity {
  /** The session that spoke of a request last, by the request. */
  readonly #open = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #tell: (() => void) | undefined;

  constructor(tab: Tab) {
    tab.onEach('Network.requestWillBeSent', ({ requestId, type, request }, session) => {
      // A stream never ends, and what lies in the document itself is no traffic.
      if (type === 'EventSource' || request.url.startsWith('data:')) return;
      this.#open.set(requestId, session);
      this.#changed();
    });
    const ended = ({ requestId }: { requestId: string }): void => {
      this.#open.delete(requestId);
      this.#changed();
    };
    tab.onEach('Network.responseReceived', ({ requestId }, session) => {
      if (this.#open.has(requestId)) this.#open.set(requestId, session);
    });
    tab.onEach('Network.loadingFinished', ended);
    tab.onEach('Network.loadingFailed', ended);
    // A worker that ends, or a frame that is removed, takes its requests with it.
    tab.onEach('Target.detachedFromTarget', ({ sessionId }) => {
      for (const [requestId, session] of this.#open) {
        if (session === sessionId) this.#open.delete(requestId);
      }
      this.#changed();
    });
  }

  /** Resolves once nothing has been under way for half a second; perhaps never: the caller sets a cap. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#tell = resolve;
      this.#changed();
    });
  }

  #changed(): void {
    clearTimeout(this.#timer);
    if (this.#tell !== undefined && this.#open.size === 0) {
      this.#timer = setTimeout(this.#tell, QUIET_MS);
    }
  }
}
