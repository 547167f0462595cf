/** Writes the whole log to a file, and goes on with a file whose writer was killed. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EventStoreUnavailable } from '../event-store/port.ts';
import { encodeBlock, readBlock } from './blocks.ts';
import { CheckedLog, type LogReader, positionOf } from './checked-log.ts';
import { type CopyProgress, copy } from './copy.ts';
import { openExport } from './import.ts';
import {
  type Entry,
  endOf,
  headerLine,
  LinesHash,
  parseEntry,
  parseHeader,
  parseTotals,
  type Totals,
  totalsLine,
  UnusableArchive,
} from './log-lines.ts';

export interface Exported extends Totals {
  /** Events that an earlier call had written. */
  readonly found: number;
}

/**
 * It reads alone, beside a running service, and holds a thousand events at a time. The file has its name when it is
 * complete and was read back; until then it has `.part` at its end.
 * @throws {Error} one line: a file that is there, or of another log; a log that is not as it was signed
 */
export async function exportLog(
  store: LogReader,
  path: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<Exported> {
  await refuseThere(path);
  const partial = `${path}.part`;
  const log = new CheckedLog(store);
  const hash = new LinesHash();
  const file = await open(partial, 'a+', 0o600);
  const write = async (lines: readonly string[]) => await file.appendFile(await encodeBlock(lines));
  try {
    const { last, end } = await takeUp(file, partial, log, hash);
    await file.truncate(end);
    if (end === 0) {
      const header = headerLine({ id: randomUUID() });
      hash.line(header);
      await write([header]);
    }
    const found = log.tree.size;
    const after = last === undefined ? 0n : await positionOf(store, last);
    if (after === undefined) {
      throw new Error(`${partial} is an export of another log: remove it, or name another file.`);
    }
    await copy(log.rest(after, onProgress), hash, {
      take: async (entries) => await write(entries.map(({ line }) => line)),
    });
    const totals = { ...endOf(log.tree), sha256: hash.hex(), checkpoint: log.newest ?? null };
    await write([totalsLine(totals)]);
    await file.sync();
    await readBack(partial, totals);
    await giveName(partial, path);
    await syncDirectory(dirname(path));
    return { ...totals, found };
  } finally {
    await file.close();
  }
}

/**
 * Takes the whole blocks of a file that was begun.
 * @returns the last event in it, and where these blocks end
 */
async function takeUp(
  file: FileHandle,
  path: string,
  log: CheckedLog,
  hash: LinesHash,
): Promise<{ readonly last: Entry | undefined; readonly end: number }> {
  let last: Entry | undefined;
  let end = 0;
  try {
    for (;;) {
      const block = await readBlock(file, end);
      if (block === undefined || block === 'cut off') break;
      const [first = ''] = block.lines;
      // Killed between its last line and its name: it may have grown by now.
      if (parseTotals(first) !== undefined) break;
      if (end === 0) {
        parseHeader(first);
        hash.line(first);
      } else {
        const entries = block.lines.map(parseEntry);
        await log.take(entries);
        hash.take(entries);
        last = entries.at(-1) ?? last;
      }
      end = block.end;
    }
  } catch (error) {
    // The file is not to blame for a log that does not answer.
    if (error instanceof EventStoreUnavailable) throw error;
    throw new Error(`${path} cannot be resumed: remove it and start again.`, { cause: error });
  }
  return { last, end };
}

/** @throws {Error} one line: another file has got the name meanwhile, which stays as it is */
async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(path);
    // Such a file system knows no second names.
    await refuseThere(path);
    return await rename(partial, path);
  }
  await unlink(partial);
}

/** @throws {Error} one line: there is such a file */
async function refuseThere(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined)) !== undefined) throw isThere(path);
}

const isThere = (path: string): Error =>
  new Error(`${path} is there already: name another file, or remove it.`);

/** A power failure would otherwise take the file's name back. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** @throws {Error} the file does not read as it was written */
async function readBack(path: string, { sha256 }: Totals): Promise<void> {
  try {
    const { totals } = await openExport(
      path,
      () => {},
      () => {},
    );
    if (totals.sha256 !== sha256) throw new UnusableArchive('holds something else.');
  } catch (error) {
    throw new Error(
      `${path} is not what was written to it: remove it, and let one command alone write there.`,
      { cause: error },
    );
  }
}
