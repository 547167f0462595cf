/** The keyring's records as files of a data directory, or of a folder that nodes share. */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { createDurably, readIfThere, removeDurably, removeTemporary } from '../durable-file.ts';
import { assertOwned } from '../ownership.ts';
import { isAbandoned } from '../writer.ts';
import type { Keyring, ListedKeyRecords } from './port.ts';
import { RecordKeyring } from './records.ts';

/** A look at a tombstone takes microseconds, so there is one before each use of a key. */
export const FILE_RECHECK_MS = 0;

export class FileKeyRecords implements ListedKeyRecords {
  readonly #dir: string;

  /**
   * Makes the folder if there is none, and removes what a killed process has left half written.
   * @param options `write`: false leaves the folder as it is
   */
  constructor(dir: string, { write } = { write: true }) {
    this.#dir = dir;
    if (!write) return;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    removeTemporary(join(dir, sep), isAbandoned);
  }

  async create(name: string, text: string): Promise<boolean> {
    return createDurably(join(this.#dir, name), text);
  }

  async read(name: string): Promise<string | undefined> {
    const path = join(this.#dir, name);
    // Mostly it is a tombstone that is not there: this look makes no error of that.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    assertOwned(path, stats);
    // Another node may have removed it in between.
    return readIfThere(path);
  }

  async names(): Promise<readonly string[]> {
    return readdirSync(this.#dir).filter((name) => !name.endsWith('.tmp'));
  }

  async remove(name: string): Promise<void> {
    const path = join(this.#dir, name);
    removeTemporary(path, () => true);
    removeDurably(path);
  }
}

/** The keyring of a data directory, which is made if there is none. @param masterKey 32 bytes that wrap every data key */
export function fileKeyring(dir: string, masterKey: Buffer): Keyring {
  const gone = async () => (existsSync(dir) ? undefined : `There is no ${dir} any more.`);
  const options = { recheckMs: FILE_RECHECK_MS };
  return new RecordKeyring(new FileKeyRecords(dir), masterKey, gone, options);
}
