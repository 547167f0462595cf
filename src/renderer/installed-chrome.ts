/** The Chrome of this machine that renders. */
import { join } from 'node:path';
import { findChrome, type FoundChrome } from './chrome/find.ts';

/** The file where the set-up writes the path of the Chrome that it brought. */
const FALLBACK_FILE = join(import.meta.dirname, '../../setup/chrome/executable');

/** @throws {ChromeStartError} there is none, saying what to do */
export function findInstalledChrome(chromePath: string | undefined): Promise<FoundChrome> {
  return findChrome({ chromePath, searchPath: process.env['PATH'], fallbackFile: FALLBACK_FILE });
}
