/** Reads a backup through once, and says what a restore of it comes to. Nothing is changed. */
import type { EventMetadata } from '../domain/event-metadata.ts';
import { isSignedBy, readNote } from '../log/verify-log/checkpoints.ts';
import { BackupLog } from './backup-log.ts';
import { CheckedLog, NotAsSigned } from './checked-log.ts';
import { type CopyProgress, copy, telling } from './copy.ts';
import { KeptDocuments } from './kept-documents.ts';
import { KeyHolders } from './keys.ts';
import { type Entry, endOf, knownEvent, type LogEnd, UnusableArchive } from './log-lines.ts';
import { type Manifest, neededManifest } from './manifest.ts';
import type { BackupPlace } from './places/port.ts';

/** The end of the restored log: after so many events, or before the first event of a later time. */
export type Until = { readonly events: number } | { readonly time: number };

export interface RestorePlan {
  readonly manifest: Manifest;
  /** The restored log: the first events of the backup. */
  readonly events: number;
  readonly root: string;
  /** The id of its first event, which its blob store is marked with. */
  readonly firstEvent: string;
  /** The name that it got at its first start. */
  readonly openedAs: string;
  /** The name that it signs under at its end. */
  readonly origin: string;
  /** The id of its keyring, where it was recorded. */
  readonly keyring: string | undefined;
  readonly kept: KeptDocuments;
  /** Owners of keys that are in use at its end, with the account that each belongs to. */
  readonly open: ReadonlyMap<string, string>;
  /** Owners whose keys the whole backup says are erased. */
  readonly erased: ReadonlyMap<string, string>;
  /** A checkpoint was signed that the restored log would contradict, if it went on under its name. */
  readonly isBehind: boolean;
  /** The newest checkpoint under the backup's last name that is known, as it was signed. */
  readonly checkpoint: string | undefined;
  readonly entries: () => AsyncGenerator<readonly Entry[]>;
}

/**
 * @param known checkpoints that were published
 * @throws {UnusableArchive} @throws {Error} one line: a checkpoint is not of this log
 */
export async function planRestore(
  place: BackupPlace,
  until: Until | undefined,
  known: readonly string[],
  onProgress: (progress: CopyProgress) => void,
): Promise<RestorePlan> {
  const manifest = await neededManifest(place);
  const log = new BackupLog(place, manifest);
  const reading = new Reading(manifest, new CheckedLog(log), until, known);
  await copy(telling(log.entries(), manifest.events, onProgress), reading);
  const plan = reading.end();
  const entries = async function* (): AsyncGenerator<readonly Entry[]> {
    let left = plan.events;
    for await (const some of log.entries()) {
      if (left === 0) return;
      const wanted = some.slice(0, left);
      left -= wanted.length;
      yield wanted;
    }
  };
  return { ...plan, manifest, entries };
}

interface End extends LogEnd {
  readonly origin: string;
}

class Reading {
  readonly #manifest: Manifest;
  readonly #until: Until | undefined;
  readonly #known: readonly string[];
  readonly #log: CheckedLog;
  readonly #kept = new KeptDocuments();
  readonly #holders = new KeyHolders();
  /** Owners of keys that are in use at the end, where that is not the backup's. */
  #open: ReadonlyMap<string, string> | undefined;
  /** Roots at the sizes of checkpoints that are known from elsewhere. */
  readonly #roots = new Map<number, Buffer | undefined>();
  #first: Entry['event'] | undefined;
  /** Events that must follow the last one: the request of a debit, or all of a batch. */
  #following = 0;
  /** The state before the last append that has several. */
  #before: End | undefined;
  #end: End | undefined;

  constructor(
    manifest: Manifest,
    log: CheckedLog,
    until: Until | undefined,
    known: readonly string[],
  ) {
    this.#manifest = manifest;
    this.#log = log;
    this.#until = until;
    this.#known = known;
    for (const note of known) this.#roots.set(readNote(note).size, undefined);
  }

  async take(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) await this.#take(entry);
  }

  async #take(entry: Entry): Promise<void> {
    const { event } = entry;
    if (this.#end === undefined && this.#isBeyond(event)) {
      this.#end = this.#following > 0 ? this.#before : this.#now();
      this.#open = new Map(this.#holders.open);
    }
    const { type, data } = knownEvent(event);
    this.#first ??= event;
    if (this.#following > 0) this.#following -= 1;
    else {
      // A debit, unless it costs nothing, and a request for each conversion of a batch.
      if (type === 'BatchRequested') this.#following = (data.unpaid ? 1 : 2) * data.total;
      if (type === 'CreditDebited') this.#following = 1;
      if (this.#following > 0) this.#before = this.#now();
    }
    if (this.#end === undefined) this.#kept.take([entry]);
    this.#holders.take([entry]);
    await this.#check(entry);
    const { tree } = this.#log;
    if (this.#roots.has(tree.size)) this.#roots.set(tree.size, tree.root());
  }

  end(): Omit<RestorePlan, 'manifest' | 'entries'> {
    const whole = this.#now();
    const { events, root, origin } = this.#end ?? whole;
    if (whole.events !== this.#manifest.events || whole.root !== this.#manifest.root) {
      throw new UnusableArchive('is damaged: its events are not those that its manifest says.');
    }
    const { open, erased, openedAs, keyring } = this.#holders;
    if (this.#first === undefined || openedAs === undefined || events === 0) {
      throw new UnusableArchive('has no events up to that moment.');
    }
    return {
      events,
      root,
      origin,
      firstEvent: this.#first.id,
      openedAs,
      keyring,
      kept: this.#kept,
      open: this.#open ?? open,
      erased,
      ...this.#signed(events, origin),
    };
  }

  /** A file that was changed together with the manifest is told by the log's signatures alone. */
  async #check(entry: Entry): Promise<void> {
    try {
      await this.#log.take([entry]);
    } catch (error) {
      if (!(error instanceof NotAsSigned)) throw error;
      throw new UnusableArchive(
        `is not as its log was signed (${error.where}): use another backup.`,
        { cause: error },
      );
    }
  }

  #isBeyond({ metadata }: Entry['event']): boolean {
    if (this.#until === undefined) return false;
    if ('events' in this.#until) return this.#log.tree.size >= this.#until.events;
    return (metadata as EventMetadata).time > this.#until.time;
  }

  #now(): End {
    return { ...endOf(this.#log.tree), origin: this.#log.origin ?? '' };
  }

  /** @throws {Error} one line: a checkpoint that is known is not one of this log */
  #signed(events: number, origin: string): Pick<RestorePlan, 'isBehind' | 'checkpoint'> {
    const { newest, keys, tree } = this.#log;
    const notes = [...(newest === undefined ? [] : [newest]), ...this.#known];
    // Left before already: the name at that moment may have signed more than this backup knows.
    let isBehind = origin !== this.#log.origin;
    for (const note of notes) {
      const { origin: signer, size, root } = readNote(note);
      if (signer !== this.#log.origin) {
        throw new Error(
          `The published checkpoint is one of the log ${signer}, and the backup is of ${this.#log.origin}: name the newest one of this log.`,
        );
      }
      if (size <= tree.size && !isSignedBy(note, keys)) {
        throw new Error('The published checkpoint is not signed by a key of this log.');
      }
      const own = this.#roots.get(size);
      if (own !== undefined && !own.equals(root)) {
        throw new UnusableArchive(
          `has other events than those of the published checkpoint over ${size}: it was changed, or two logs ` +
            'were signed under one name. Use another backup.',
        );
      }
      isBehind ||= size > events;
    }
    const [checkpoint] = notes.toSorted((a, b) => readNote(b).size - readNote(a).size);
    return { isBehind, checkpoint };
  }
}
