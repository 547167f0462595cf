/** The picture of a page that does not become a PDF, for people who look for the reason. */
import { setTimeout as pause } from 'node:timers/promises';
import { resultWithin } from '../../async/with-timeout.ts';
import type { ConversionFailureCode } from '../../domain/choices.ts';
import { CommandRefused } from '../browser/connection.ts';
import { FRAME_MS } from './frames.ts';
import type { Page } from './page.ts';
import type { Tab } from './tab.ts';

/** It may come after the deadline, and the slot waits for it: it has to be there within this time. */
const PICTURE_CAP_MS = 500;
/** The part of it in which a page that has just come is drawn. */
const LOAD_CAP_MS = 150;

/** Failures of a page that is shown. Of the others there is no page, or its tab has gone. */
const PICTURED: ReadonlySet<ConversionFailureCode> = new Set([
  'timeout',
  'page_status',
  'not_html',
  'selector_missing',
  'page_range',
  'too_large',
  'incomplete',
  'renderer_failed',
]);

/** Never rejects: a page that a script keeps from being drawn has no picture, nor has one that is gone. */
export async function takePicture(
  { tab, navigation }: Page,
  code: ConversionFailureCode,
): Promise<Buffer | undefined> {
  if (!PICTURED.has(code) || !navigation.hasPage) return undefined;
  const end = performance.now() + PICTURE_CAP_MS;
  try {
    const loaded = tab.untilGone(navigation.loaded());
    await tab.frames.during(resultWithin(loaded, LOAD_CAP_MS));
    return await firstPicture(tab, end);
  } catch {
    return undefined;
  }
}

/** @param end by `performance.now()` */
async function firstPicture(tab: Tab, end: number): Promise<Buffer | undefined> {
  for (let ms = end - performance.now(); ms > 0; ms = end - performance.now()) {
    const taken = await tab.picture(ms).catch((error: unknown) => {
      if (!(error instanceof CommandRefused)) throw error;
    });
    if (taken) return Buffer.from(taken, 'base64');
    await pause(FRAME_MS);
  }
  return undefined;
}
