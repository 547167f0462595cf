/** Backups in a folder. */
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  hasCode,
  sweepTemporary,
  syncPath,
  temporaryName,
  writeDurably,
} from '../../documents/durable-file.ts';
import { FileBlobStore } from '../../documents/files.ts';
import type { BackupPlace } from './port.ts';

const DOCUMENTS = 'documents';
const TEMPORARY = 'tmp';

export class BackupFolder implements BackupPlace {
  readonly name: string;
  readonly documents: FileBlobStore;

  private constructor(path: string, documents: FileBlobStore) {
    this.name = path;
    this.documents = documents;
  }

  /**
   * Makes the folder if there is none, and removes what killed writers left in it.
   * @throws {Error} one line: what is written or removed in it would lie elsewhere
   */
  static async open(path: string): Promise<BackupFolder> {
    for (const folder of ['', DOCUMENTS]) await refuseLinks(join(path, folder));
    await mkdir(join(path, TEMPORARY), { recursive: true, mode: 0o700 });
    await sweepTemporary(join(path, TEMPORARY));
    return new BackupFolder(path, await FileBlobStore.open(join(path, DOCUMENTS)));
  }

  /** Changes nothing. */
  static readOnly(path: string): BackupFolder {
    return new BackupFolder(path, FileBlobStore.readOnly(join(path, DOCUMENTS)));
  }

  async read(file: string): Promise<Buffer | undefined> {
    return await readFile(join(this.name, file)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error;
      return undefined;
    });
  }

  async write(file: string, content: Buffer): Promise<void> {
    const path = join(this.name, file);
    const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (made !== undefined) await syncPath(dirname(made));
    await writeDurably(path, join(this.name, TEMPORARY, temporaryName()), content);
  }

  async delete(file: string): Promise<void> {
    await rm(join(this.name, file), { force: true });
  }

  async *list(): AsyncGenerator<string> {
    for (const name of await readdir(this.name)) {
      if (name !== DOCUMENTS && name !== TEMPORARY) yield name;
    }
  }
}

/** Sweeping and dropping follow links: somebody who may write the folder could have others' files removed. */
async function refuseLinks(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    return [];
  });
  for (const name of names) {
    const path = join(folder, name);
    if (!(await lstat(path)).isSymbolicLink()) continue;
    throw new Error(
      `${path} is a symbolic link, and a backup has none: remove it, and find out who made it.`,
    );
  }
}
