/** A full Chrome, with windows, beside the headless shell that all other tests use. */
import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/lib/chromium/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const fullChrome: string | undefined = PLACES.find((path) => existsSync(path));

/** Why there is none, or false: for a test's `skip`. */
export const noFullChrome: string | false =
  fullChrome === undefined && 'no full Chrome or Chromium is installed on this machine';
