/** What a folder lacks of its package-lock.json. Pure, apart from the reading at the end. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} LockedPackage an entry of a lock file, version 3
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 * @property {boolean} [link] to a workspace
 *
 * @typedef {Readonly<Record<string, LockedPackage>>} Packages by path, such as `node_modules/koa`
 * @typedef {{ os: string, cpu: string, libc: string }} Platform
 */

/** @param {string[] | undefined} allowed @param {string} value */
const fits = (allowed, value) => allowed === undefined || allowed.includes(value);

/**
 * Whether npm must have installed the package: an optional one counts only where it is a binary
 * for this very platform, because npm may leave out any other.
 * @param {LockedPackage} entry @param {Platform} platform @param {boolean} withDev
 */
function isNeeded(entry, platform, withDev) {
  if (entry.dev === true && !withDev) return false;
  if (entry.optional !== true && entry.devOptional !== true) return true;
  const binary = entry.os !== undefined || entry.cpu !== undefined;
  return (
    binary &&
    fits(entry.os, platform.os) &&
    fits(entry.cpu, platform.cpu) &&
    fits(entry.libc, platform.libc)
  );
}

/**
 * The paths whose package is missing or is not the locked one.
 * @param {Packages} wanted of package-lock.json
 * @param {Packages} installed of node_modules/.package-lock.json, which npm writes last
 * @param {Platform} platform
 * @param {boolean} withDev
 * @returns {string[]}
 */
export function lacking(wanted, installed, platform, withDev) {
  return Object.entries(wanted)
    .filter(([path, entry]) => {
      // The clone itself and its workspaces, which are there.
      if (!path.startsWith('node_modules/') || entry.link === true) return false;
      const found = installed[path];
      if (found === undefined) return isNeeded(entry, platform, withDev);
      return found.version !== entry.version || found.integrity !== entry.integrity;
    })
    .map(([path]) => path);
}

/** @param {string} file @returns {Packages} empty if there is none that can be read */
function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

/** @returns {Platform} */
export function thisPlatform() {
  const musl = ['x86_64', 'aarch64'].some((cpu) => existsSync(`/lib/ld-musl-${cpu}.so.1`));
  return { os: process.platform, cpu: process.arch, libc: musl ? 'musl' : 'glibc' };
}

/**
 * @param {string} folder with a package.json and a package-lock.json
 * @param {boolean} withDev
 */
export function inspect(folder, withDev) {
  const wanted = readLock(join(folder, 'package-lock.json'));
  const installed = readLock(join(folder, 'node_modules', '.package-lock.json'));
  const gone = Object.keys(installed).filter((path) => !existsSync(join(folder, path)));
  const hasDev = Object.entries(installed).some(([path, { dev }]) => dev && !gone.includes(path));
  return {
    complete: gone.length === 0 && lacking(wanted, installed, thisPlatform(), withDev).length === 0,
    /** Development packages are there: a set-up for `start` must not take them away. */
    hasDev,
  };
}
