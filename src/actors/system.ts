import type { Logger } from 'pino';
import type { AggregateType } from '../domain/decider.ts';
import type { DomainEvent } from '../domain/events.ts';
import { ServiceError } from '../errors/errors.ts';
import type { EventStore, LogDiffers } from '../event-store/port.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { Actor } from './actor.ts';
import { type CommandContext, DEFAULT_LIMITS, type Limits, type Outcome } from './command.ts';
import type { SnapshotCache } from './snapshots.ts';

export type { CommandContext, Outcome } from './command.ts';

/** Uses so close together count as one: each move to the end of the line costs as much as a read. */
const SAME_USE_MS = 100;

export interface ActorSystemOptions {
  readonly store: EventStore;
  /** Without any, each stream is read from its beginning. */
  readonly snapshots?: SnapshotCache;
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
  /** Logs states that could not be saved. */
  readonly log?: Logger;
  /** Told where a stream is shorter than it was. */
  readonly onDifference?: (error: LogDiffers) => void;
}

interface Resident {
  readonly type: { readonly name: string };
  readonly isBusy: boolean;
  idle(): Promise<void>;
  saveSnapshot(every: number): void;
}

/** All actors of a process: one per stream in use, made when needed and let go when idle. */
export class ActorSystem {
  readonly #store: EventStore;
  readonly #snapshots: SnapshotCache | undefined;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  readonly #onDifference: (error: LogDiffers) => void;
  /** The actors of each stream, least recently used first, to within `SAME_USE_MS`. */
  readonly #actors = new Map<string, { readonly actor: Resident; readonly usedAt: number }>();
  readonly #sweep: NodeJS.Timeout;
  #closed = false;

  constructor({
    store,
    snapshots,
    limits,
    clock = systemClock,
    log,
    onDifference = () => {},
  }: ActorSystemOptions) {
    this.#store = store;
    this.#snapshots = snapshots;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#clock = clock;
    this.#log = log;
    this.#onDifference = onDifference;
    this.#sweep = setInterval(() => this.#releaseIdle(), this.#limits.idleMs / 2).unref();
  }

  /** Streams whose state is cached now. */
  get cached(): number {
    return this.#actors.size;
  }

  /**
   * Decides the command on its stream's state and resolves when its events are durable.
   * @throws {ServiceError} service_unavailable: closed, too many wait, or other writers kept winning
   * @throws {EventStoreUnavailable} its outcome is not known; sent again, it is decided on what was stored
   */
  async send<State, Command, Event extends DomainEvent>(
    type: AggregateType<State, Command, Event>,
    id: string,
    command: Command,
    context: CommandContext,
  ): Promise<Outcome<State, Event>> {
    const actor = this.#actor(type, id);
    const outcome = actor.send(command, context);
    if (type.isBrief === true) void this.#forgetIdle(type.stream(id), actor);
    return outcome;
  }

  /**
   * The stream's state as of now; revision -1 if there is no stream.
   * @param asOf the log's head, read just now: a cached state that has been compared with the log up to
   * there is not compared again, so that one look at the head serves all reads of a request
   */
  async read<State, Command, Event extends DomainEvent>(
    type: AggregateType<State, Command, Event>,
    id: string,
    asOf?: bigint,
  ): Promise<{ readonly state: State; readonly revision: number }> {
    const actor = this.#actor(type, id);
    const { state, revision } = await actor.read(asOf);
    // Ids that somebody guesses must not push out streams in use.
    if (revision === -1 && !actor.isBusy) this.#actors.delete(type.stream(id));
    return { state, revision };
  }

  /** Takes no more commands, answers those that wait, saves the cached states. Store and file stay open. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    await Promise.all([...this.#actors.values()].map(({ actor }) => actor.idle()));
    for (const { actor } of this.#actors.values())
      actor.saveSnapshot(this.#limits.snapshotOnRelease);
    this.#actors.clear();
  }

  #actor<State, Command, Event extends DomainEvent>(
    type: AggregateType<State, Command, Event>,
    id: string,
  ): Actor<State, Command, Event> {
    if (this.#closed) {
      throw new ServiceError('service_unavailable', 'The service is stopping.', { retryAfter: 1 });
    }
    const stream = type.stream(id);
    const known = this.#actors.get(stream);
    const found = known?.actor;
    if (found && found.type !== type) {
      throw new Error(`Stream ${stream} is of ${found.type.name}, not of ${type.name}.`);
    }
    // The type is the same object, so the actor was made with its types.
    const actor = (found as Actor<State, Command, Event> | undefined) ?? this.#open(type, stream);
    if (known === undefined || this.#clock.now() - known.usedAt >= SAME_USE_MS) {
      this.#actors.delete(stream);
      this.#actors.set(stream, { actor, usedAt: this.#clock.now() });
    }
    return actor;
  }

  #open<State, Command, Event extends DomainEvent>(
    type: AggregateType<State, Command, Event>,
    stream: string,
  ): Actor<State, Command, Event> {
    for (const [oldest, { actor }] of this.#actors) {
      if (this.#actors.size < this.#limits.cached) break;
      if (!actor.isBusy) this.#release(oldest, actor);
    }
    return new Actor(type, stream, this.#store, this.#snapshots, this.#limits, {
      snapshotFailed: (err) =>
        this.#log?.error({ err, stream }, 'an actor state could not be saved'),
      logDiffers: this.#onDifference,
    });
  }

  async #forgetIdle(stream: string, actor: Resident): Promise<void> {
    await actor.idle();
    if (!actor.isBusy && this.#actors.get(stream)?.actor === actor) this.#actors.delete(stream);
  }

  #releaseIdle(): void {
    const before = this.#clock.now() - this.#limits.idleMs;
    for (const [stream, { actor, usedAt }] of this.#actors) {
      if (usedAt > before) break;
      if (!actor.isBusy) this.#release(stream, actor);
    }
  }

  #release(stream: string, actor: Resident): void {
    this.#actors.delete(stream);
    setImmediate(() => actor.saveSnapshot(this.#limits.snapshotOnRelease));
  }
}
