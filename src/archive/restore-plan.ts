/** Reads a backup through once, and says what a restore of it comes to. Nothing is changed. */
import { decodeEvent } from '../event-store/codec.ts';
import { errorMessage } from '../error-message.ts';
import type { BackupPlace } from './places/port.ts';
import type { DomainEvent } from '../domain/events.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import { CheckedLog, type CopyProgress, NotAsSigned } from './checked-log.ts';
import type { Entry } from './log-lines.ts';
import { isSignedBy, readNote } from '../use-cases/verify-log/checkpoints.ts';
import { BackupLog } from './backup-log.ts';
import { KeptDocuments } from './kept-documents.ts';
import { type Manifest, neededManifest, UnusableBackup } from './manifest.ts';

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
  /** Accounts that are open at its end. */
  readonly open: ReadonlySet<string>;
  /** Accounts that the whole backup says are erased. */
  readonly erased: ReadonlySet<string>;
  /** A checkpoint was signed that the restored log would contradict, if it went on under its name. */
  readonly isBehind: boolean;
  /** The newest checkpoint under the backup's last name that is known, as it was signed. */
  readonly checkpoint: string | undefined;
  readonly entries: () => AsyncGenerator<readonly Entry[]>;
}

/**
 * @param known checkpoints that were published
 * @throws {UnusableBackup} @throws {Error} one line: a checkpoint is not of this log
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
  const began = performance.now();
  for await (const entries of log.entries()) {
    for (const entry of entries) await reading.take(entry);
    const perSecond = (reading.read * 1000) / (performance.now() - began);
    onProgress({ done: reading.read, total: manifest.events, perSecond });
  }
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

interface End {
  readonly events: number;
  readonly root: string;
  readonly origin: string;
}

class Reading {
  readonly #manifest: Manifest;
  readonly #until: Until | undefined;
  readonly #known: readonly string[];
  readonly #log: CheckedLog;
  readonly #kept = new KeptDocuments();
  readonly #open = new Set<string>();
  readonly #erased = new Set<string>();
  /** The newest checkpoint under the present name. */
  #newest: string | undefined;
  readonly #keys: string[] = [];
  /** Roots at the sizes of checkpoints that are known from elsewhere. */
  readonly #roots = new Map<number, Buffer | undefined>();
  #first: Entry['event'] | undefined;
  #opened: { readonly origin: string; readonly keyring?: string | undefined } | undefined;
  #origin = '';
  /** The last event was a debit, which its request must follow. */
  #isWithinAppend = false;
  /** The state before the debit that was read last. */
  #before: End | undefined;
  #end: End | undefined;
  read = 0;

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

  async take(entry: Entry): Promise<void> {
    const { event } = entry;
    if (this.#end === undefined && this.#isBeyond(event)) {
      this.#end = this.#isWithinAppend ? this.#before : this.#now();
    }
    let domainEvent: DomainEvent;
    try {
      domainEvent = decodeEvent({ ...event, position: 0n });
    } catch (error) {
      throw new UnusableBackup(
        `cannot be read by this release: ${errorMessage(error).replace(/\.$/, '')}. Install the release that wrote it, or a newer one.`,
        { cause: error },
      );
    }
    this.#first ??= event;
    if (domainEvent.type === 'CreditDebited') this.#before = this.#now();
    this.#isWithinAppend = domainEvent.type === 'CreditDebited';
    this.#note(domainEvent, event);
    await this.#check(entry);
    this.read += 1;
    if (this.#roots.has(this.read)) this.#roots.set(this.read, this.#log.digest.tree.root());
  }

  end(): Omit<RestorePlan, 'manifest' | 'entries'> {
    const { events, root, origin } = this.#end ?? this.#now();
    const whole = this.#now();
    if (whole.events !== this.#manifest.events || whole.root !== this.#manifest.root) {
      throw new UnusableBackup('is damaged: its events are not those that its manifest says.');
    }
    if (this.#first === undefined || this.#opened === undefined || events === 0) {
      throw new UnusableBackup('has no events up to that moment.');
    }
    return {
      events,
      root,
      origin,
      firstEvent: this.#first.id,
      openedAs: this.#opened.origin,
      keyring: this.#opened.keyring,
      kept: this.#kept,
      open: this.#open,
      erased: this.#erased,
      ...this.#signed(events, origin),
    };
  }

  /** A file that was changed together with the manifest is told by the log's signatures alone. */
  async #check(entry: Entry): Promise<void> {
    try {
      await this.#log.take([entry]);
    } catch (error) {
      if (!(error instanceof NotAsSigned)) throw error;
      throw new UnusableBackup(
        `is not as its log was signed (${error.where}): use another backup.`,
        { cause: error },
      );
    }
  }

  #isBeyond({ metadata }: Entry['event']): boolean {
    if (this.#until === undefined) return false;
    if ('events' in this.#until) return this.read >= this.#until.events;
    return (metadata as EventMetadata).time > this.#until.time;
  }

  #now(): End {
    return {
      events: this.read,
      root: this.#log.digest.tree.root().toString('base64'),
      origin: this.#origin,
    };
  }

  #note(event: DomainEvent, recorded: Entry['event']): void {
    const isKept = this.#end === undefined;
    if (isKept) this.#kept.take(recorded);
    const { type, data } = event;
    if (type === 'LogOpened') {
      this.#opened = data;
      this.#origin = data.origin;
    } else if (type === 'LogRenamed' || type === 'LogContinued') {
      this.#origin = data.origin;
      this.#newest = undefined;
    } else if (type === 'SigningKeyAdded') {
      this.#keys.push(data.verifierKey);
    } else if (type === 'CheckpointSigned') {
      this.#newest = data.note;
    } else if (type === 'AccountOpened') {
      if (isKept) this.#open.add(data.accountId);
    } else if (type === 'AccountErased') {
      if (isKept) this.#open.delete(data.accountId);
      this.#erased.add(data.accountId);
    }
  }

  /** @throws {Error} one line: a checkpoint that is known is none of this log */
  #signed(events: number, origin: string): Pick<RestorePlan, 'isBehind' | 'checkpoint'> {
    const notes = [...(this.#newest === undefined ? [] : [this.#newest]), ...this.#known];
    // Left before already: the name at that moment may have signed more than this backup knows.
    let isBehind = origin !== this.#origin;
    for (const note of notes) {
      const { origin: signer, size, root } = readNote(note);
      if (signer !== this.#origin) {
        throw new Error(
          `The published checkpoint is one of the log ${signer}, and the backup is of ${this.#origin}: name the newest one of this log.`,
        );
      }
      if (size <= this.read && !isSignedBy(note, this.#keys)) {
        throw new Error('The published checkpoint is not signed by a key of this log.');
      }
      const own = this.#roots.get(size);
      if (own !== undefined && !own.equals(root)) {
        throw new UnusableBackup(
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
