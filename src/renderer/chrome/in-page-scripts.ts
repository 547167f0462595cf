/** The scripts that run in pages. */
import { readFileSync } from 'node:fs';

const scriptOf = (name: string): string =>
  readFileSync(new URL(`in-page/${name}`, import.meta.url), 'utf8');

/** Gives the world that it runs in the functions that `settle.ts` asks for. */
export const SETTLE = scriptOf('settle.js');

const PAGE_CLOCK = scriptOf('page-clock.js');
/** @returns the script that gives a document its clock */
export const pageClockSource = (channel: string): string =>
  `(() => { ${PAGE_CLOCK}; startPageClock(${JSON.stringify(channel)}) })()`;
