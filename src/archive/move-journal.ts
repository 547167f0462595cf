/** How far the documents of a move are: a file in the new data directory, so that the next call goes on from there. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Done {
  /** Names the log and both places: the journal of another move does not count. */
  readonly subject: string;
  /** All files that the log's first events name were copied and read back, so many events. */
  readonly through: number;
  /** The same of so many events, for the conversions up to this id alone: how far the last pass has come. */
  readonly pass?: { readonly events: number; readonly lastId: string };
}

export class Journal {
  readonly #directory: string;
  readonly #path: string;
  #done: Done;

  constructor(dataDir: string, subject: string) {
    this.#directory = join(dataDir, 'move');
    this.#path = join(this.#directory, 'documents.json');
    const known = read(this.#path);
    this.#done = known?.subject === subject ? known : { subject, through: 0 };
  }

  get through(): number {
    return this.#done.through;
  }

  /** @param number of the event that names the file */
  has(conversionId: string, number: number): boolean {
    const { through, pass } = this.#done;
    if (number < through) return true;
    return pass !== undefined && number < pass.events && conversionId <= pass.lastId;
  }

  /** The files of conversions up to this one are done, of the log's first events. */
  reached(events: number, lastId: string): void {
    this.#write({ ...this.#done, pass: { events, lastId } });
  }

  completed(events: number): void {
    const { subject } = this.#done;
    this.#write({ subject, through: events });
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #write(done: Done): void {
    this.#done = done;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    // Not synced: after a power failure, the files that it no longer names are copied or read once more.
    writeFileSync(`${this.#path}.new`, JSON.stringify(done), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function read(path: string): Done | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Done;
  } catch {
    return undefined;
  }
}
