/** Node 24 for machines whose own is older. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bringPackages } from './npm.mjs';
import { SetupError } from './progress.mjs';

export const NEEDED_MAJOR = 24;

/** @param {string} version such as `20.20.2` */
export function isTooOld(version) {
  return Number.parseInt(version, 10) < NEEDED_MAJOR;
}

/**
 * @param {string} folder setup/node
 * @returns {Promise<string>} the path of an executable of Node 24
 */
export async function bringNode(folder) {
  await bringPackages(`Node ${NEEDED_MAJOR}`, folder, { dev: false });
  const path = join(folder, 'node_modules', '.bin', 'node');
  if (!existsSync(path)) {
    throw new SetupError(
      `Node ${NEEDED_MAJOR} or later is needed; for ${process.platform} ${process.arch} it is not ` +
        'brought automatically: install it from https://nodejs.org',
    );
  }
  return path;
}
