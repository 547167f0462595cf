/** Finds the Chrome to run. */
import { access, constants, readFile, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { ChromeStartError } from './failure.ts';

export interface FoundChrome {
  readonly path: string;
  /** The reason for this one, for the log. */
  readonly source: string;
}

export interface FindOptions {
  /** The operator's choice; nothing else is tried where it is given. */
  readonly chromePath?: string | undefined;
  /** Directories in the form of `PATH`. */
  readonly searchPath?: string | undefined;
  /** The file in which the set-up stored the path of the headless shell that it brought. */
  readonly fallbackFile?: string | undefined;
  /** Paths of Chrome on this kind of system, best first; tests give their own. */
  readonly usualPlaces?: readonly string[];
}

// The wrapper in /usr/bin does not pass signals on, so the binary itself comes first. A headless shell
// prints 4 to 5 times as many documents per second as a full Chrome without a window.
const USUAL_PLACES = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium-browser/headless_shell',
  '/opt/google/chrome-headless-shell/chrome-headless-shell',
  '/usr/lib/chromium/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const SHELL_NAMES = ['chrome-headless-shell', 'chromium-headless-shell', 'headless_shell'];
const FULL_NAMES = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser'];

/** One sentence for operators. */
export const FULL_CHROME_COST =
  'It is a full Chrome, which takes about 290 MB more memory than a headless shell and is slower: install ' +
  'chromium-headless-shell, or set CHROME_PATH to a headless shell';

/** True for a Chrome that has no window at all, by its name. */
export const isHeadlessShell = (path: string): boolean => /headless[-_]shell$/.test(path);

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  const usable = await Promise.all(paths.map(isExecutable));
  const path = paths.find((_, index) => usable[index]);
  return path === undefined ? undefined : await realpath(path);
}

/** The file where the set-up writes the path of the Chrome that it brought. */
const FALLBACK_FILE = join(import.meta.dirname, '../../../setup/chrome/executable');

/**
 * Finds the Chrome of this machine that renders.
 * @throws {ChromeStartError} when there is none, saying what to do
 */
export function findInstalledChrome(chromePath: string | undefined): Promise<FoundChrome> {
  return findChrome({ chromePath, searchPath: process.env['PATH'], fallbackFile: FALLBACK_FILE });
}

/** @throws {ChromeStartError} when there is none, saying what to do */
export async function findChrome(options: FindOptions): Promise<FoundChrome> {
  const { chromePath, fallbackFile } = options;
  if (chromePath !== undefined) {
    if (await isExecutable(chromePath)) return { path: chromePath, source: 'CHROME_PATH' };
    throw new ChromeStartError(
      `There is no program that can be run at ${chromePath}. Set CHROME_PATH to a Chrome or ` +
        'chromium-headless-shell, or leave it out to have one found.',
    );
  }
  const places = options.usualPlaces ?? USUAL_PLACES;
  const directories = (options.searchPath ?? '').split(delimiter).filter((each) => each !== '');
  const inPath = (names: readonly string[]): string[] =>
    names.flatMap((name) => directories.map((directory) => join(directory, name)));
  const isShell = (path: string): boolean => SHELL_NAMES.some((name) => path.endsWith(name));
  const shell = await firstExecutable([...places.filter(isShell), ...inPath(SHELL_NAMES)]);
  if (shell !== undefined) return { path: shell, source: 'installed' };
  if (fallbackFile !== undefined) {
    const path = await readFile(fallbackFile, 'utf8').then(
      (text) => text.trim(),
      () => '',
    );
    if (path !== '' && (await isExecutable(path))) return { path, source: 'set-up' };
  }
  const full = await firstExecutable([
    ...places.filter((path) => !isShell(path)),
    ...inPath(FULL_NAMES),
  ]);
  if (full !== undefined) return { path: full, source: 'installed' };
  throw new ChromeStartError(
    'No Chrome was found. Install chromium-headless-shell (Debian, Ubuntu: apt-get install ' +
      'chromium-headless-shell) or Google Chrome, or set CHROME_PATH. In a clone, `npm start` brings one.',
  );
}
