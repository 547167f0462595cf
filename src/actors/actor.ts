import { setTimeout as delay } from 'node:timers/promises';
import type { DomainEvent } from '../domain/events.ts';
import { ServiceError } from '../errors.ts';
import { type AppendResult, type EventStore, VersionConflict } from '../event-store/port.ts';
import type { CommandContext, Outcome, Version, Waiting } from './command.ts';
import { History } from './history.ts';
import type { ActorKind } from './kind.ts';
import type { Limits } from './limits.ts';
import { Mailbox } from './mailbox.ts';
import { answer, type Plan, planBatch } from './plan.ts';
import { Snapshotter } from './snapshotter.ts';
import type { SnapshotCache } from './snapshots.ts';

/** Conflicts answered at once; after them a random pause lets the other writer finish. */
const PROMPT_ATTEMPTS = 5;
const LONGEST_PAUSE_MS = 20;

/** One stream's writer in this process: takes what waits, decides it, appends it, then answers. */
export class Actor<State, Command, Event extends DomainEvent> {
  readonly kind: ActorKind<State, Command, Event>;
  readonly #stream: string;
  readonly #store: EventStore;
  readonly #limits: Limits;
  readonly #mailbox: Mailbox<Waiting<State, Command, Event>>;
  readonly #snapshotter: Snapshotter<State>;
  readonly #history: History<State, Command, Event>;
  readonly #snapshotFailed: (error: unknown) => void;
  #warm: Version<State> | undefined;
  /** Up to this position of the whole log, nothing of this stream is missing in the warm version. */
  #confirmed = -1n;
  #loading: Promise<Version<State>> | undefined;
  /** An append failed: what the stream holds after the warm version is not known. */
  #inDoubt = false;
  #draining: Promise<void> | undefined;
  #readers = 0;
  #snapshotPlanned = false;

  constructor(
    kind: ActorKind<State, Command, Event>,
    stream: string,
    store: EventStore,
    snapshots: SnapshotCache,
    limits: Limits,
    snapshotFailed: (error: unknown) => void,
  ) {
    this.kind = kind;
    this.#stream = stream;
    this.#store = store;
    this.#limits = limits;
    this.#snapshotFailed = snapshotFailed;
    this.#mailbox = new Mailbox(limits.mailbox);
    this.#snapshotter = new Snapshotter(kind.snapshot, snapshots, stream);
    this.#history = new History(kind, stream, store, limits.page, this.#snapshotter);
  }

  get isBusy(): boolean {
    return this.#draining !== undefined || this.#readers > 0;
  }

  /** @throws {ServiceError} service_unavailable: too many wait, or other writers kept winning */
  send(command: Command, context: CommandContext): Promise<Outcome<State, Event>> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome<State, Event>>();
    if (this.#mailbox.offer({ command, context, resolve, reject })) {
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
    if (this.#warm !== undefined && asOf >= 0n && asOf <= this.#confirmed) return this.#warm;
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

  /** Keeps the state in the snapshot cache now, if enough events came since the last time. */
  keep(every: number): void {
    if (this.#warm === undefined || !this.#snapshotter.isDue(this.#warm.revision, every)) return;
    try {
      this.#snapshotter.write(this.#warm);
    } catch (error) {
      this.#snapshotFailed(error);
    }
  }

  async #drain(): Promise<void> {
    // One turn of the microtask queue: what is sent in the same breath is decided together.
    await Promise.resolve();
    while (this.#mailbox.size > 0) {
      await this.#serve(this.#mailbox.take(this.#limits.batch));
      this.#planSnapshot();
    }
    this.#draining = undefined;
  }

  async #serve(batch: readonly Waiting<State, Command, Event>[]): Promise<void> {
    try {
      await this.#handle(batch);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }

  async #handle(batch: readonly Waiting<State, Command, Event>[]): Promise<void> {
    let confirmed = this.#warm === undefined || this.#inDoubt;
    let base = (!confirmed && this.#warm) || (await this.#current());
    for (let attempt = 1; attempt <= this.#limits.attempts; attempt += 1) {
      const plan = planBatch(this.kind, this.#stream, base, batch);
      if (plan.events.length === 0) {
        // Nothing to append, so no expected revision proves that the state is current: read on.
        const current = confirmed ? base : await this.#current();
        if (current === base) return answer(batch, plan);
        confirmed = true;
        base = current;
        continue;
      }
      try {
        const appended = await this.#append(plan);
        this.#adopt({ state: plan.after, ...appended, eventId: plan.events.at(-1)?.id });
        this.#confirm(appended.position);
        return answer(batch, plan, appended);
      } catch (error) {
        if (!(error instanceof VersionConflict)) {
          this.#inDoubt = true;
          throw error;
        }
        // A store put back to an older state: what is warm here never happened there.
        if (error.actual < base.revision) {
          this.#warm = undefined;
          this.#confirmed = -1n;
        }
        if (attempt > PROMPT_ATTEMPTS) await delay(Math.random() * LONGEST_PAUSE_MS);
        base = await this.#current();
        confirmed = true;
      }
    }
    throw new ServiceError('service_unavailable', undefined, { retryAfter: 1 });
  }

  #append({ base, events, blobs }: Plan<State, Event>): Promise<AppendResult> {
    const expected = base.revision === -1 ? 'no-stream' : base.revision;
    return this.#store.append(this.#stream, events, expected, blobs);
  }

  /** Reads what the stream holds now; every caller's read begins after its call. */
  async #current(): Promise<Version<State>> {
    const inDoubt = this.#inDoubt;
    const known = this.#warm ?? (await this.#loading);
    const version = await (known === undefined ? this.#load() : this.#history.readOn(known));
    if (inDoubt) this.#inDoubt = false;
    return this.#adopt(version);
  }

  #load(): Promise<Version<State>> {
    this.#loading ??= this.#history.load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Versions are read and appended side by side; the newest is kept. */
  #adopt(version: Version<State>): Version<State> {
    if (this.#warm === undefined || this.#warm.revision < version.revision) this.#warm = version;
    return this.#warm;
  }

  #confirm(position: bigint): void {
    if (position > this.#confirmed) this.#confirmed = position;
  }

  #planSnapshot(): void {
    const due = this.#snapshotter.isDue(this.#warm?.revision ?? -1, this.#limits.snapshotEvery);
    if (!due || this.#snapshotPlanned) return;
    this.#snapshotPlanned = true;
    setImmediate(() => {
      this.#snapshotPlanned = false;
      this.keep(this.#limits.snapshotEvery);
    });
  }
}
