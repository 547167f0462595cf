/** The doctor's checks of the machine: fonts, memory, disk and clock. */
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../config/config.ts';
import { errorLine } from '../errors/error-message.ts';
import { type Finding, ok, warning } from './checks.ts';

const MiB = 2 ** 20;
const GiB = 2 ** 30;
/** Below this much room, a day of documents may fill the disk. */
const LITTLE_DISK_BYTES = GiB;
/** Below this much, SQLite and Chrome fail. */
const NO_DISK_BYTES = 64 * MiB;
const RUN_MS = 5_000;

/** The output of a program; undefined where it is missing, fails or takes too long. */
async function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], { timeout: RUN_MS });
    return stdout;
  } catch {
    return undefined;
  }
}

/** A character of each script, and the Debian package that has a font for it. */
const SCRIPTS: readonly (readonly [script: string, character: string, fontPackage: string])[] = [
  ['Latin', 'A', 'fonts-liberation'],
  ['Chinese', '中', 'fonts-noto-cjk'],
  ['Japanese', 'か', 'fonts-noto-cjk'],
  ['Korean', '한', 'fonts-noto-cjk'],
  ['Arabic', 'ع', 'fonts-noto-core'],
  ['Hebrew', 'א', 'fonts-noto-core'],
  ['Devanagari', 'अ', 'fonts-noto-core'],
  ['Thai', 'ก', 'fonts-noto-core'],
  ['emoji', '😀', 'fonts-noto-color-emoji'],
];

/** Text in a script without a font is printed as empty boxes. */
export async function fonts(): Promise<Finding> {
  const found = await Promise.all(
    SCRIPTS.map(async ([, character]) => {
      const code = character.codePointAt(0)?.toString(16);
      return await outputOf('fc-list', [`:charset=${code}`, 'family']);
    }),
  );
  if (found.includes(undefined)) {
    return warning(
      'not looked at: fc-list is not here or fails; install it (Debian, Ubuntu: apt-get install fontconfig)',
    );
  }
  const lacking = SCRIPTS.filter((_, at) => found[at]?.trim() === '');
  if (lacking.length === 0) {
    return ok(`there is one for ${SCRIPTS.map(([script]) => script).join(', ')}`);
  }
  const scripts = lacking.map(([script]) => script).join(', ');
  const packages = [...new Set(lacking.map(([, , each]) => each))].join(' ');
  return warning(
    `none for ${scripts}: such text is printed as empty boxes; install some (Debian, Ubuntu: apt-get install ${packages})`,
  );
}

/** The memory that the pages at work may take together, and the tools that hold each to its part. */
export async function processLimits(config: Config): Promise<Finding> {
  const { renderConcurrency: slots, maxPageMemoryBytes } = config;
  const { MAX_WARM_BYTES } = await import('../renderer/browser/memory.ts');
  const missing: string[] = [];
  for (const tool of ['prlimit', 'setpriv']) {
    if ((await outputOf(tool, ['--version'])) === undefined) missing.push(tool);
  }
  if (missing.length > 0) {
    return warning(
      `${missing.join(' and ')} cannot be run, which bound a page's memory and end a Chrome with its owner; ` +
        'install them (Debian, Ubuntu: apt-get install util-linux)',
    );
  }
  const constrained = process.constrainedMemory();
  const there = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  const most = slots * (MAX_WARM_BYTES + maxPageMemoryBytes);
  const said = `${slots} slots may take ${inGiB(most)} of ${inGiB(there)}`;
  return most <= there
    ? ok(said)
    : warning(
        `${said}: where large pages meet, the kernel ends processes; lower RENDER_CONCURRENCY or MAX_PAGE_MEMORY_BYTES, or give more memory`,
      );
}

/** The service starts without it: most conversions need none. */
export async function workOnPdfs(): Promise<Finding> {
  const { findQpdf } = await import('../pdf/qpdf-process.ts');
  try {
    const { path, product, bounds } = await findQpdf();
    return bounds.length > 0
      ? ok(`${product} at ${path}`)
      : warning(`${product} at ${path}: this system cannot bound its memory`);
  } catch (error) {
    return warning(
      `${errorLine(error).replace(/\.$/, '')}. Without it these fail: POST /documents/, the options pages, rotate, stamp, ` +
        'encrypt and optimize of pdf, and PDFs that are made with a test key',
    );
  }
}

const inGiB = (bytes: number): string => `${(bytes / GiB).toFixed(1)} GiB`;

/** @throws {Error} one line: there is too little room */
export async function diskSpace(path: string): Promise<Finding> {
  const { bavail, bsize } = await nearestFileSystem(path);
  const free = Number(bavail) * Number(bsize);
  const said = `${inGiB(free)} are free for ${path}`;
  if (free < NO_DISK_BYTES) throw new Error(`Only ${said}: make room, or set DATA_DIR elsewhere.`);
  return free < LITTLE_DISK_BYTES
    ? warning(`only ${said}: make room before the disk is full, for then nothing is accepted`)
    : ok(said);
}

async function nearestFileSystem(path: string): ReturnType<typeof statfs> {
  try {
    return await statfs(path);
  } catch (error) {
    if (dirname(path) === path) throw error;
    return await nearestFileSystem(dirname(path));
  }
}

/** Tells whether the clock is set by a time server, as far as systemd knows. */
export async function clockSet(): Promise<Finding> {
  const said = await outputOf('timedatectl', ['show', '--property=NTPSynchronized', '--value']);
  const now = new Date().toISOString();
  if (said?.trim() === 'yes') return ok(`${now}, set by a time server`);
  if (said?.trim() === 'no') {
    return warning(
      `${now}, not set by a time server: have it set (timedatectl set-ntp true); tokens and timestamps depend on it`,
    );
  }
  return ok(`${now}; whether a time server sets it cannot be seen from here`);
}
