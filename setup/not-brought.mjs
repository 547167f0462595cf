/** What no set-up could bring: `npm start` does not wait for a network for it again, and every other set-up does. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param {string} root of the clone */
const fileOf = (root) => join(root, 'setup', 'not-brought');

/** @param {string} root of the clone @returns {readonly string[]} the names of packages */
export function notBrought(root) {
  try {
    return readFileSync(fileOf(root), 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** @param {string} root of the clone @param {readonly string[]} packages */
export function noteNotBrought(root, packages) {
  const known = notBrought(root);
  if (packages.every((name) => known.includes(name))) return;
  try {
    writeFileSync(fileOf(root), [...new Set([...known, ...packages])].join('\n'));
  } catch {
    // In a folder of somebody else each start tries again.
  }
}

/** @param {string} root of the clone */
export const forgetNotBrought = (root) => rmSync(fileOf(root), { force: true });
