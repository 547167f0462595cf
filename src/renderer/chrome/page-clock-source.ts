/** The script of a document's clock. */
import { readFileSync } from 'node:fs';

const SOURCE = readFileSync(new URL('in-page/page-clock.js', import.meta.url), 'utf8');

/** @returns the script that gives a document its clock */
export const pageClockSource = (channel: string): string =>
  `(() => { ${SOURCE}; startPageClock(${JSON.stringify(channel)}) })()`;
