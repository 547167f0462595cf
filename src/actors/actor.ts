import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { AggregateType } from '../domain/decider.ts';
import type { DomainEvent } from '../domain/events.ts';
import { ServiceError } from '../errors/errors.ts';
import { decodeEvent } from '../event-store/codec.ts';
import { findEvent } from '../event-store/look-again.ts';
import {
  type EventStore,
  LogDiffers,
  type RecordedEvent,
  VersionConflict,
} from '../event-store/port.ts';
import { answer, decideBatch, type Waiting } from './batch.ts';
import type { CommandContext, Limits, Outcome, Version } from './command.ts';
import { type SnapshotCache, Snapshotter } from './snapshots.ts';

/** Conflicts answered at once; after them a random pause lets the other writer finish. */
const PROMPT_ATTEMPTS = 5;
const LONGEST_PAUSE_MS = 20;

/** Receives what an actor has to report. */
export interface ActorReport {
  snapshotFailed(error: unknown): void;
  logDiffers(error: LogDiffers): void;
}

/** One stream's writer in this process: decides the commands that wait, appends, then answers. */
export class Actor<State, Command, Event extends DomainEvent> {
  readonly type: AggregateType<State, Command, Event>;
  readonly #stream: string;
  readonly #store: EventStore;
  readonly #limits: Limits;
  readonly #snapshotter: Snapshotter<State>;
  readonly #report: ActorReport;
  readonly #mailbox: Waiting<State, Command, Event>[] = [];
  #cached: Version<State> | undefined;
  /** The position of the whole log up to which the cached version misses nothing of this stream. */
  #confirmed = -1n;
  /** The last read of the stream that was asked for; also `#nextRead`, until it begins. */
  #reading: Promise<unknown> = Promise.resolve();
  #nextRead: Promise<Version<State>> | undefined;
  /** An append failed: the stream may hold events after the cached version. */
  #inDoubt = false;
  /** The stream is shorter than it was. */
  #stopped: LogDiffers | undefined;
  #draining: Promise<void> | undefined;
  #readers = 0;
  #snapshotPlanned = false;

  constructor(
    type: AggregateType<State, Command, Event>,
    stream: string,
    store: EventStore,
    snapshots: SnapshotCache | undefined,
    limits: Limits,
    report: ActorReport,
  ) {
    this.type = type;
    this.#stream = stream;
    this.#store = store;
    this.#limits = limits;
    this.#snapshotter = new Snapshotter(type.snapshot, snapshots, stream);
    this.#report = report;
  }

  get isBusy(): boolean {
    return this.#draining !== undefined || this.#readers > 0;
  }

  /** @throws {ServiceError} service_unavailable: too many wait, or other writers kept winning */
  send(command: Command, context: CommandContext): Promise<Outcome<State, Event>> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome<State, Event>>();
    if (this.#mailbox.length < this.#limits.mailbox) {
      this.#mailbox.push({ command, context, resolve, reject });
      this.#draining ??= this.#drain();
    } else {
      reject(
        new ServiceError('service_unavailable', 'Too many requests wait for the same resource.', {
          retryAfter: 1,
        }),
      );
    }
    return promise;
  }

  /**
   * The stream as of now, or as of a position of the whole log that was its head just now. It does not
   * wait for commands, and does not see them before the log has them.
   */
  async read(asOf = -1n): Promise<Version<State>> {
    if (this.#stopped !== undefined) throw this.#stopped;
    if (this.#cached !== undefined && asOf >= 0n && asOf <= this.#confirmed) return this.#cached;
    this.#readers += 1;
    try {
      const version = await this.#current();
      this.#confirm(asOf);
      return version;
    } finally {
      this.#readers -= 1;
      this.#planSnapshot();
    }
  }

  /** Resolves when no command waits. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  /** Saves the state in the snapshot cache now, if enough events came since the last time. */
  saveSnapshot(every: number): void {
    if (this.#cached === undefined || !this.#snapshotter.isDue(this.#cached.revision, every)) {
      return;
    }
    try {
      this.#snapshotter.write(this.#cached);
    } catch (error) {
      this.#report.snapshotFailed(error);
    }
  }

  async #drain(): Promise<void> {
    // One turn of the microtask queue: commands that are sent in the same breath are decided together.
    await Promise.resolve();
    while (this.#mailbox.length > 0) {
      const waiting = this.#mailbox.splice(0, this.#countNext());
      try {
        await this.#handle(waiting);
      } catch (error) {
        for (const each of waiting) each.reject(error);
      }
      this.#planSnapshot();
    }
    this.#draining = undefined;
  }

  /** The number of waiting commands that are decided together next. */
  #countNext(): number {
    const large = this.#mailbox.findIndex(({ context }) => context.isLarge);
    return large < 0 ? this.#limits.batch : Math.min(Math.max(large, 1), this.#limits.batch);
  }

  async #handle(waiting: readonly Waiting<State, Command, Event>[]): Promise<void> {
    if (this.#stopped !== undefined) throw this.#stopped;
    const isUnread = this.#cached === undefined || this.#inDoubt;
    const begins = isUnread && waiting.every(({ context }) => context.beginsStream === true);
    let isCurrent = isUnread && !begins;
    let base = begins ? this.#none() : (!isCurrent && this.#cached) || (await this.#current());
    for (let attempt = 1; attempt <= this.#limits.attempts; attempt += 1) {
      const batch = decideBatch(this.type.decider, this.#stream, base, waiting);
      if (batch.events.length === 0) {
        // Nothing to append, so no expected revision proves that the state is current: read on.
        const current = isCurrent ? base : await this.#current();
        if (current === base) return answer(waiting, batch);
        isCurrent = true;
        base = current;
        continue;
      }
      try {
        const expected = base.revision === -1 ? 'no-stream' : base.revision;
        const { events, blobs } = batch;
        const appended = await this.#store.append(this.#stream, events, expected, blobs);
        this.#adopt({ state: batch.after, ...appended, eventId: events.at(-1)?.id });
        this.#confirm(appended.position);
        return answer(waiting, batch, appended);
      } catch (error) {
        if (!(error instanceof VersionConflict)) {
          this.#inDoubt = true;
          throw error;
        }
        if (error.actual < base.revision) await this.#checkStream(base, error.actual);
        if (attempt > PROMPT_ATTEMPTS) await delay(Math.random() * LONGEST_PAUSE_MS);
        base = await this.#current();
        isCurrent = true;
      }
    }
    throw new ServiceError('service_unavailable', undefined, { retryAfter: 1 });
  }

  /**
   * Reads the events that the stream holds now. Callers share the read that begins after their calls, when the one
   * under way has ended: reading each for itself would transfer the same events once for every caller.
   */
  #current(): Promise<Version<State>> {
    this.#nextRead ??= this.#reading = this.#readAfter(this.#reading);
    return this.#nextRead;
  }

  async #readAfter(earlier: Promise<unknown>): Promise<Version<State>> {
    await earlier.catch(() => {});
    this.#nextRead = undefined;
    const inDoubt = this.#inDoubt;
    const known = this.#cached;
    const version = await (known === undefined ? this.#loadFromSnapshot() : this.#catchUp(known));
    if (inDoubt) this.#inDoubt = false;
    return version;
  }

  /** Begins at the snapshot, where the stream holds the snapshot's last event; else at the beginning. */
  async #loadFromSnapshot(): Promise<Version<State>> {
    const snapshot = this.#snapshotter.read();
    if (snapshot !== undefined) {
      const { revision: from } = snapshot;
      const { page: limit } = this.#limits;
      const events = await this.#store.readStream(this.#stream, { from, limit });
      const [last, ...newer] = events;
      if (last?.revision === from && last.id === snapshot.eventId) {
        this.#snapshotter.confirmed(from);
        const version = this.#adopt(this.#evolve({ ...snapshot, position: last.position }, newer));
        return events.length < limit ? version : this.#catchUp(version);
      }
    }
    return this.#catchUp(this.#none());
  }

  #none(): Version<State> {
    const { initialState: state } = this.type.decider;
    return { state, revision: -1, position: undefined, eventId: undefined };
  }

  /** The stream as of now; that very version where nothing came since. Pages are kept if a later one fails. */
  async #catchUp(known: Version<State>): Promise<Version<State>> {
    let version = known;
    for (;;) {
      const { page: limit } = this.#limits;
      const from = version.revision + 1;
      const events = await this.#store.readStream(this.#stream, { from, limit });
      version = this.#adopt(this.#evolve(version, events));
      if (events.length < limit) return version;
      await nextTurn();
    }
  }

  #evolve(known: Version<State>, events: readonly RecordedEvent[]): Version<State> {
    return events.reduce<Version<State>>((version, recorded) => {
      // An aggregate's own streams hold its own events: nothing else writes them.
      const state = this.type.decider.evolve(version.state, decodeEvent(recorded) as Event);
      const { revision, position, id } = recorded;
      return { state, revision, position, eventId: id };
    }, known);
  }

  /** Versions are read and appended side by side; the newest is kept. */
  #adopt(version: Version<State>): Version<State> {
    if (this.#cached === undefined || this.#cached.revision < version.revision) {
      this.#cached = version;
    }
    return this.#cached;
  }

  /**
   * Stops the actor if an older log was put back: it would append to a past that others have seen differently.
   * @throws {LogDiffers} the stream does not have the event of that version
   */
  async #checkStream({ revision, eventId: id }: Version<State>, actual: number): Promise<void> {
    const stream = this.#stream;
    if (id !== undefined && (await findEvent(this.#store, { stream, revision, id }))) return;
    this.#stopped = new LogDiffers(
      `The log lacks revision ${revision} of ${stream} (event ${id}), which this process has appended or read: the stream ends at ${actual}.`,
    );
    this.#report.logDiffers(this.#stopped);
    throw this.#stopped;
  }

  #confirm(position: bigint): void {
    if (position > this.#confirmed) this.#confirmed = position;
  }

  #planSnapshot(): void {
    const due = this.#snapshotter.isDue(this.#cached?.revision ?? -1, this.#limits.snapshotEvery);
    if (!due || this.#snapshotPlanned) return;
    this.#snapshotPlanned = true;
    setImmediate(() => {
      this.#snapshotPlanned = false;
      this.saveSnapshot(this.#limits.snapshotEvery);
    });
  }
}
