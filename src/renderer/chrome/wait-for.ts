/** The waits that the client asked for, in real time: a selector, a delay, a silent network, in this order. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestDocument } from '../../domain/request-document.ts';
import { CAPS } from './caps.ts';
import { resultWithin } from './deadline.ts';
import { PageFailure } from './failure.ts';
import { IDLE_MS } from './network-activity.ts';
import type { Page } from './page.ts';

const SELECTOR_POLL_MS = 40;

/** @throws {PageFailure} `selector_missing` when the selector does not appear */
export async function waitFor(
  page: Page,
  { selector, delay_ms, network_idle }: NonNullable<RequestDocument['wait_for']>,
): Promise<void> {
  const { tab, network, deadline, waits } = page;
  if (selector !== undefined) await waits.measure('selector', waitForSelector(page, selector));
  if (delay_ms !== undefined) {
    const ms = Math.min(delay_ms, deadline.share(...CAPS.delay));
    await waits.measure('delay', tab.untilGone(delay(ms)), () => ms === delay_ms);
  }
  if (network_idle === true) {
    const idle = tab.untilGone(network.idle(IDLE_MS)).then(() => true);
    const quiet = resultWithin(idle, deadline.share(...CAPS.networkIdle));
    await waits.measure('network_idle', quiet, (held) => held === true);
  }
}

async function waitForSelector({ tab, worlds, deadline }: Page, selector: string): Promise<void> {
  const started = performance.now();
  const end = started + deadline.share(...CAPS.selector);
  for (;;) {
    const found = await worlds.ask<boolean | 'invalid'>(`has(${JSON.stringify(selector)})`);
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
