/**
 * Commands and their appends, traced. An actor decides the commands of several requests together, and
 * appends them at once, so that the code that runs says nothing about whose append it is: the events do.
 */
import {
  ActorSystem,
  type ActorSystemOptions,
  type CommandContext,
  type Outcome,
} from '../actors/system.ts';
import type { AggregateType } from '../domain/decider.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import type { DomainEvent } from '../domain/events.ts';
import type { EventStore } from '../event-store/port.ts';
import type { OpenSpan, Tracing } from '../tracing/port.ts';

/** The commands that are traced and have not been answered, by their ids. */
type Commands = Map<string, OpenSpan>;

class TracedActors extends ActorSystem {
  readonly #tracing: Tracing;
  readonly #commands: Commands;

  constructor(options: ActorSystemOptions, tracing: Tracing, commands: Commands) {
    super(options);
    this.#tracing = tracing;
    this.#commands = commands;
  }

  override async send<State, Command, Event extends DomainEvent>(
    type: AggregateType<State, Command, Event>,
    id: string,
    command: Command,
    context: CommandContext,
  ): Promise<Outcome<State, Event>> {
    const send = () => super.send(type, id, command, context);
    // Work that no request has caused is not traced.
    if (this.#tracing.current() === undefined) return await send();
    return await this.#tracing.span(`command to ${type.name}`, {}, async (span) => {
      this.#commands.set(context.commandId, span);
      try {
        return await send();
      } finally {
        this.#commands.delete(context.commandId);
      }
    });
  }
}

function tracedAppends(store: EventStore, tracing: Tracing, commands: Commands): EventStore {
  return {
    append: async (stream, events, expected, blobs) => {
      const causes = new Set(events.map(({ metadata }) => (metadata as EventMetadata).causationId));
      const spans = [...causes].flatMap((cause) => {
        const parent = commands.get(cause)?.traceParent;
        return parent === undefined
          ? []
          : [tracing.begin('event store append', { kind: 'client', parent })];
      });
      const append = () => store.append(stream, events, expected, blobs);
      const [first] = spans;
      try {
        return await (first === undefined ? tracing.outside(append) : first.within(append));
      } catch (error) {
        for (const span of spans) span.fail(error instanceof Error ? error.name : 'error');
        throw error;
      } finally {
        for (const span of spans) span.end();
      }
    },
    readStream: (...args) => store.readStream(...args),
    readAll: (...args) => store.readAll(...args),
    head: () => store.head(),
    subscribe: (...args) => store.subscribe(...args),
    close: () => store.close(),
  };
}

/** @returns actors, and the store for them; traced where there is tracing */
export function createActors(
  options: ActorSystemOptions,
  tracing: Tracing | undefined,
): ActorSystem {
  if (tracing === undefined) return new ActorSystem(options);
  const commands: Commands = new Map();
  const store = tracedAppends(options.store, tracing, commands);
  return new TracedActors({ ...options, store }, tracing, commands);
}
