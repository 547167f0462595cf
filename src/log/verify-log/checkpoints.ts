/**
 * The checkpoints that the log says were signed. The log's own stream is read ahead of the log: a checkpoint
 * is stored after the events that it covers, and its root can only be computed while these pass.
 */
import { LOG_ID, type LogEvent, type LogState, log, logAggregate } from '../../domain/log.ts';
import { errorMessage } from '../../errors/error-message.ts';
import { EventDamaged, type EventStore, type RecordedEvent } from '../../event-store/port.ts';
import { canonicalEvent } from '../../transparency-log/canonical-event.ts';
import { parseCheckpoint } from '../../transparency-log/checkpoint.ts';
import { openNote, verifiedBy } from '../../transparency-log/signed-note.ts';
import { Broken, Difference, type Place, placeOf } from './difference.ts';
import { decoded, KIND_OF } from './streams.ts';

export const LOG_STREAM = logAggregate.stream(LOG_ID);
const PAGE = 500;

export interface SignedCheckpoint {
  readonly at: Place;
  readonly size: number;
  readonly root: Buffer;
  /** One of the given keys has signed it. */
  readonly isTrusted: boolean;
}

export class SignedCheckpoints {
  readonly #store: Pick<EventStore, 'readStream'>;
  readonly #trusted: readonly string[];
  #state: LogState = log.initialState;
  /** The next revision of the log's stream to read. */
  #next = 0;
  /** Read and not yet met in the log. */
  readonly #ahead: RecordedEvent[] = [];
  readonly #due: SignedCheckpoint[] = [];
  /** The first event of the stream that cannot be; nothing is read after it. */
  #failure: { readonly id: string; readonly difference: Difference } | undefined;
  readonly #keys = new Set<string>();
  #newest: SignedCheckpoint | undefined;
  /** Checkpoints that the log was found to have the roots of. */
  count = 0;

  /** @param trusted verifier keys, one of which must have signed the newest checkpoint; none: the log's own do */
  constructor(store: Pick<EventStore, 'readStream'>, trusted: readonly string[]) {
    this.#store = store;
    this.#trusted = trusted;
  }

  get origin(): string | undefined {
    return this.#state.origin;
  }

  /** The keys that a checkpoint may be signed with: those that are trusted, or all that the log has had. */
  get keys(): readonly string[] {
    return this.#trusted.length > 0 ? this.#trusted : [...this.#keys];
  }

  /** The newest checkpoint whose root the log has. */
  get newest(): SignedCheckpoint | undefined {
    return this.#newest;
  }

  /** The next checkpoint whose root is to be compared. */
  get due(): SignedCheckpoint | undefined {
    return this.#due[0];
  }

  /** Reads every checkpoint of at most that size. */
  async readThrough(size: number): Promise<void> {
    while (this.#failure === undefined && (this.#due.at(-1)?.size ?? 0) <= size) {
      const page = await this.#page(PAGE);
      for (const event of page) if (this.#failure === undefined) this.#take(event);
      if (page.length < PAGE) return;
    }
  }

  /**
   * Passes over what was checked before, without checking or keeping it: there is one for each minute of years.
   * @param events of the log's stream @param size of the log with them
   */
  async passOver(events: number, size: number): Promise<void> {
    while (this.#next < events && this.#failure === undefined) {
      const page = await this.#page(Math.min(PAGE, events - this.#next));
      for (const event of page) if (this.#failure === undefined) this.#pass(event);
      if (page.length === 0) return;
    }
    await this.readThrough(size);
    // A checkpoint of fewer events that comes only now is left to a verification of the whole log.
    while (this.#due[0] !== undefined && this.#due[0].size <= size) this.confirm();
  }

  /** An event of the log's stream, as it lies in the log. @throws {Broken} @throws {Difference} */
  meet(event: RecordedEvent, index: number): void {
    const ahead = this.#ahead.shift();
    if (ahead === undefined || canonicalEvent(ahead) !== canonicalEvent(event)) {
      throw new Broken(`the event that ${LOG_STREAM} has as its next one`, 'another one');
    }
    if (this.#failure?.id === event.id) throw this.#failure.difference;
    if (event.type !== 'CheckpointSigned') return;
    const { size } = event.data as { readonly size: number };
    if (size > index) throw new Broken(`a checkpoint of at most ${index} events`, `one of ${size}`);
  }

  /** The root of the due checkpoint is that of the log. */
  confirm(): void {
    this.#newest = this.#due.shift();
    this.count += 1;
  }

  /** @param position of the last event of the log @throws {Difference} */
  checkEnd(position: bigint): void {
    const [unmet] = this.#ahead;
    if (unmet !== undefined && unmet.position <= position) {
      throw new Difference(placeOf(unmet), 'it in the log', 'it in its stream alone');
    }
    if (this.#trusted.length === 0 || this.#newest?.isTrusted) return;
    throw new Difference(
      this.#newest?.at ?? {},
      'a signature of a given key on the newest checkpoint',
      this.#newest === undefined ? 'no checkpoint' : 'signatures of other keys alone',
    );
  }

  /** The next events, up to one that cannot be read: the log names it when it comes there. */
  async #page(limit: number): Promise<readonly RecordedEvent[]> {
    try {
      return await this.#store.readStream(LOG_STREAM, { from: this.#next, limit });
    } catch (error) {
      if (!(error instanceof EventDamaged)) throw error;
      const { revision } = error.event;
      if (revision === undefined || revision >= this.#next + limit) {
        throw new Difference(placeOf(error.event), 'an event', errorMessage(error));
      }
      return revision > this.#next ? await this.#page(revision - this.#next) : [];
    }
  }

  #take(event: RecordedEvent): void {
    this.#ahead.push(event);
    this.#read(event, (...checkpoint) => this.#checkNote(...checkpoint));
  }

  #pass(event: RecordedEvent): void {
    this.#read(event, () => false);
    while (this.#due.length > 0) this.confirm();
  }

  /** @param check says whether one of the given keys has signed a checkpoint */
  #read(event: RecordedEvent, check: (size: number, root: string, note: string) => boolean): void {
    this.#next = event.revision + 1;
    try {
      const domainEvent = logEventOf(event);
      if (domainEvent.type === 'CheckpointSigned') {
        const { size, root, note } = domainEvent.data;
        const before = this.#due.at(-1) ?? this.#newest;
        if (before !== undefined && size <= before.size) {
          throw new Broken(`a checkpoint of more than ${before.size} events`, `one of ${size}`);
        }
        const isTrusted = check(size, root, note);
        this.#due.push({ at: placeOf(event), size, root: Buffer.from(root, 'base64'), isTrusted });
      }
      this.#state = log.evolve(this.#state, domainEvent);
      if (domainEvent.type === 'SigningKeyAdded') this.#keys.add(domainEvent.data.verifierKey);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      const difference = new Difference(placeOf(event), error.expected, error.found);
      this.#failure = { id: event.id, difference };
    }
  }

  /** @returns whether one of the given keys has signed it */
  #checkNote(size: number, root: string, note: string): boolean {
    const { origin = '', keys } = this.#state;
    const inForce = keys.map(({ verifierKey }) => verifierKey);
    const signed = readNote(note);
    if (
      signed.origin !== origin ||
      signed.size !== size ||
      signed.root.toString('base64') !== root
    ) {
      const found = `of ${signed.origin}, ${signed.size} events, ${signed.root.toString('base64')}`;
      throw new Broken(`a note of ${origin}, ${size} events, ${root}`, `one ${found}`);
    }
    const isTrusted = isSignedBy(note, this.#trusted);
    if (isSignedBy(note, inForce) || isTrusted) return isTrusted;
    throw new Broken(`a signature of ${namesOf(inForce)}`, 'none that holds');
  }
}

/** @throws {Broken} it is none */
function logEventOf(recorded: RecordedEvent): LogEvent {
  const event = decoded(recorded);
  if (KIND_OF[event.type] !== 'log') throw new Broken('an event of the log itself', event.type);
  return event as LogEvent;
}

/** @throws {Broken} it is not a checkpoint */
export function readNote(note: string): ReturnType<typeof parseCheckpoint> {
  try {
    return parseCheckpoint(openNote(note).text);
  } catch (error) {
    throw new Broken('a signed checkpoint', errorMessage(error));
  }
}

export function isSignedBy(note: string, keys: readonly string[]): boolean {
  try {
    return verifiedBy(note, keys).length > 0;
  } catch {
    return false;
  }
}

/** Verifier keys without the key itself. */
export const namesOf = (keys: readonly string[]): string =>
  keys.map((key) => key.split('+').slice(0, 2).join('+')).join(' or ') || 'any key';
