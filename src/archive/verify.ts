/** Checks all that a backup holds: each file, the log with its checkpoints, and each document. */

import type { Difference } from '../log/verify-log/difference.ts';
import type { GivenNote } from '../log/verify-log/kept.ts';
import { type VerifyOptions, verifyLog } from '../log/verify-log.ts';
import { BackupLog } from './backup-log.ts';
import { readLines } from './blocks.ts';
import { copy } from './copy.ts';
import { each, faultOf } from './documents.ts';
import { type KeptDocument, KeptDocuments } from './kept-documents.ts';
import { KeyHolders } from './keys.ts';
import { UnusableArchive } from './log-lines.ts';
import { type Manifest, neededManifest, readManifest } from './manifest.ts';
import type { BackupPlace } from './places/port.ts';
import { type CheckedCopy, checkCopy, type GivenCopy } from './verify-keyring.ts';

/** Documents that are read at a time. */
const AT_ONCE = 8;

export interface Problem {
  /** The file of the backup, or the place in the log. */
  readonly at: string;
  readonly problem: string;
  /** The same in the form of `verify`, where it was found so. */
  readonly difference?: Pick<Difference, 'at' | 'expected' | 'found'>;
}

export interface VerifiedBackup {
  readonly ok: boolean;
  readonly made_at: number;
  readonly events: number;
  readonly root: string;
  readonly checkpoints: number;
  readonly documents: number;
  readonly bytes: number;
  /** Documents that were due for deletion, and deleted, before an event said so. */
  readonly due: number;
  readonly problems: readonly Problem[];
  /** The keyring's copy; undefined where none was given, or it could not be read as one. */
  readonly keyring: CheckedCopy | undefined;
  /** The name that the log got at its first start. */
  readonly openedAs: string | undefined;
}

export interface BackupVerifyOptions extends VerifyOptions {
  readonly checkpoints?: readonly GivenNote[];
  readonly keyring?: GivenCopy | undefined;
}

/**
 * Reads it all, and changes nothing. A backup that is made meanwhile is waited for by reading again.
 * @throws {UnusableArchive} there is no backup
 */
export async function verifyBackup(
  place: BackupPlace,
  options: BackupVerifyOptions,
): Promise<VerifiedBackup> {
  for (;;) {
    const manifest = await neededManifest(place);
    const verified = await new Verification(place, manifest, options).run();
    if (verified.ok) return verified;
    // A backup that has ended meanwhile has removed files that its manifest no longer names.
    const now = await readManifest(place);
    if (now?.madeAt === manifest.madeAt) return verified;
  }
}

class Verification {
  readonly #place: BackupPlace;
  readonly #manifest: Manifest;
  readonly #options: BackupVerifyOptions;
  readonly #problems: Problem[] = [];
  readonly #holders = new KeyHolders();

  constructor(place: BackupPlace, manifest: Manifest, options: BackupVerifyOptions) {
    this.#place = place;
    this.#manifest = manifest;
    this.#options = options;
  }

  async run(): Promise<VerifiedBackup> {
    const { madeAt, events, root } = this.#manifest;
    const expected = await this.#expected();
    const checkpoints = expected === undefined ? 0 : await this.#checkLog();
    const index = await this.#index();
    if (expected && index) this.#compare(expected, index);
    const documents = await this.#checkDocuments(index ?? expected);
    const keyring = this.#checkKeyring(expected !== undefined);
    return {
      ok: this.#problems.length === 0,
      made_at: madeAt,
      events,
      root,
      checkpoints,
      ...documents,
      problems: this.#problems,
      keyring,
      openedAs: this.#holders.openedAs,
    };
  }

  #checkKeyring(isLogRead: boolean): CheckedCopy | undefined {
    const { keyring } = this.#options;
    if (keyring === undefined) return undefined;
    return checkCopy(keyring, isLogRead ? this.#holders : undefined, (difference) =>
      this.#problems.push(problemOf(difference)),
    );
  }

  /** Reads each segment, and what the events in them name; nothing where one cannot be read. */
  async #expected(): Promise<KeptDocuments | undefined> {
    const { segments, events } = this.#manifest;
    const kept = new KeptDocuments();
    let isWhole = true;
    let count = 0;
    for (const segment of segments) {
      if (segment.first !== count) this.#problems.push(misplaced(segment.file));
      count += segment.events;
      const log = new BackupLog(this.#place, { ...this.#manifest, segments: [segment] });
      const read = await this.#noting(segment.file, async () => {
        await copy(log.entries(), kept, this.#holders);
        return true;
      });
      isWhole &&= read === true;
    }
    if (count !== events) this.#problems.push(misplaced('log'));
    return isWhole ? kept : undefined;
  }

  /** @returns the number of checkpoints that the log has the roots of */
  async #checkLog(): Promise<number> {
    const { checkpoint, root } = this.#manifest;
    const known =
      checkpoint === null ? [] : [{ at: { checkpoint: 'manifest.json' }, note: checkpoint }];
    const checkpoints = [...known, ...(this.#options.checkpoints ?? [])];
    const store = new BackupLog(this.#place, this.#manifest);
    const result = await verifyLog({ store, retentionMs: 0 }, { ...this.#options, checkpoints });
    if (!result.ok) {
      this.#problems.push(problemOf(result));
      return 0;
    }
    if (result.root !== root) {
      const problem = `its root is ${result.root}, and the manifest says ${root}`;
      this.#problems.push({ at: 'log', problem });
    }
    return result.checkpoints;
  }

  async #index(): Promise<KeptDocuments | undefined> {
    const { index } = this.#manifest;
    if (index === null) return undefined;
    return await this.#noting(index.file, async () =>
      KeptDocuments.parse(await readLines(this.#place, index)),
    );
  }

  #compare(expected: KeptDocuments, index: KeptDocuments): void {
    for (const [, { ref }] of expected.all()) {
      if (!index.has(ref))
        this.#problems.push({ at: ref.key, problem: 'not in the list of documents' });
    }
    for (const [, { ref }] of index.all()) {
      if (!expected.has(ref)) this.#problems.push({ at: ref.key, problem: 'not named by the log' });
    }
  }

  async #checkDocuments(kept: KeptDocuments | undefined) {
    const counts = { documents: 0, bytes: 0, due: 0 };
    const began = performance.now();
    const check = async ({ ref, gone }: KeptDocument): Promise<void> => {
      if (gone === 'due') {
        counts.due += 1;
        return;
      }
      const problem = await faultOf(ref, this.#place.documents);
      if (problem === undefined) {
        counts.documents += 1;
        counts.bytes += ref.bytes;
      } else {
        const lost = gone === 'lost' ? ': the service did not have it either' : '';
        this.#problems.push({ at: ref.key, problem: problem + lost });
      }
      const perSecond = (counts.documents * 1000) / (performance.now() - began);
      this.#options.onProgress?.({ done: counts.documents, perSecond });
    };
    const all = kept === undefined ? [] : [...kept.all()];
    await each(all, async ([, document]) => await check(document), AT_ONCE);
    return counts;
  }

  async #noting<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnusableArchive)) throw error;
      const problem = error.message.replace(/^is damaged: (\S+ )?/, '').replace(/\.$/, '');
      this.#problems.push({ at: file, problem });
      return undefined;
    }
  }
}

function problemOf({ at, expected, found }: NonNullable<Problem['difference']>): Problem {
  const where = Object.entries(at)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
  const problem = `expected ${expected}, found ${found}`;
  return { at: where || 'log', problem, difference: { at, expected, found } };
}

const misplaced = (at: string): Problem => ({ at, problem: 'not in its place in the log' });
