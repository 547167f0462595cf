/** When a page is taken to be complete. Every wait here ends by itself: then the page prints as it is. */
import type { RequestDocument } from '../../domain/request-document.ts';
import { CommandRefused } from './connection.ts';
import { type Deadline, within } from './deadline.ts';
import { PageFailure } from './failure.ts';
import type { NetworkActivity } from './network-activity.ts';
import type { Tab } from './tab.ts';
import type { DocumentWatch } from './watch.ts';
import { ask } from './world.ts';

const READY_CAP_MS = 10_000;
const IDLE_CAP_MS = 10_000;
const SELECTOR_POLL_MS = 40;

// Names on `document` may be covered by elements of that name, even here: hence the prototype's own.
// Lazy images would stay empty below the first screen. No timers: they rest where scripts are off.
const SETTLED = `(async () => {
  const find = (selector) => [...Document.prototype.querySelectorAll.call(document, selector)];
  for (const lazy of find('[loading=lazy]')) lazy.loading = 'eager';
  const fonts = Object.getOwnPropertyDescriptor(Document.prototype, 'fonts').get.call(document);
  await fonts.ready;
  await Promise.all(find('img').map((image) => image.decode().catch(() => {})));
  await fonts.ready;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
  return true;
})()`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An answer that a navigation took away is none; the question can be asked again. */
async function askAgainstNavigation<T>(tab: Tab, expression: string): Promise<T | undefined> {
  try {
    return await ask<T>(tab, expression);
  } catch (error) {
    if (error instanceof CommandRefused) return undefined;
    throw error;
  }
}

/** @returns whether fonts, images and two frames are there; false when a cap ended the wait */
export async function settle(tab: Tab, watch: DocumentWatch, deadline: Deadline): Promise<boolean> {
  const end = performance.now() + deadline.share(0.5, READY_CAP_MS);
  for (;;) {
    const left = end - performance.now();
    if (left <= 0) return false;
    const seen = watch.documentId;
    const settled = await within(askAgainstNavigation<boolean>(tab, SETTLED), left);
    if (settled === true && seen === watch.documentId) return true;
    if (seen === watch.documentId) {
      // It threw, its context went away, or it takes too long: the loop's time limit decides.
      await pause(SELECTOR_POLL_MS);
    } else {
      await within(watch.loaded(), Math.max(0, end - performance.now()));
    }
  }
}

/** The waits that the client asked for, in this order: selector, delay, network idle. */
export async function waitFor(
  tab: Tab,
  wants: NonNullable<RequestDocument['wait_for']>,
  network: NetworkActivity | undefined,
  deadline: Deadline,
): Promise<void> {
  if (wants.selector !== undefined) await waitForSelector(tab, wants.selector, deadline);
  if (wants.delay_ms !== undefined) {
    await tab.untilGone(pause(Math.min(wants.delay_ms, deadline.share(0.8))));
  }
  if (network) await within(tab.untilGone(network.idle()), deadline.share(0.4, IDLE_CAP_MS));
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
    const found = await askAgainstNavigation<boolean | 'invalid'>(tab, expression);
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
