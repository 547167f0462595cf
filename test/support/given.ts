/** given(events).when(command).thenEvents(…), .thenNothing() or .thenRejected(…). */
import type { Test } from 'tap';
import { type Decider, isRejection, type Rejection } from '../../src/domain/decider.ts';
import type { DomainEvent } from '../../src/domain/events.ts';
import { decodeEvent, encodeEvent } from '../../src/event-store/codec.ts';

export function fold<State, Command, Event>(
  decider: Decider<State, Command, Event>,
  events: readonly Event[],
): State {
  return events.reduce((state, event) => decider.evolve(state, event), decider.initialState);
}

/** An event as it comes back from a store: its shape is checked, and only what JSON keeps is left. */
export function throughStore<Event extends DomainEvent>(event: Event, position = 1n): Event {
  const written = encodeEvent('00000000-0000-5000-8000-000000000000', event, {
    correlationId: 'cmd_1',
    causationId: 'cmd_1',
    actor: { kind: 'operator' },
    time: 0,
  });
  const data = JSON.parse(JSON.stringify(written.data)) as object;
  return decodeEvent({ ...written, data, stream: 's', revision: 0, position }) as Event;
}

/** One scenario of a decider. Every event in it, given or decided, must be of its schema. */
export function given<State, Command extends { readonly type: string }, Event extends DomainEvent>(
  t: Test,
  decider: Decider<State, Command, Event>,
  ...events: readonly Event[]
) {
  const state = fold(
    decider,
    events.map((event) => throughStore(event)),
  );
  return {
    when(command: Command) {
      const decision = decider.decide(command, state);
      const told = `${events.map((each) => each.type).join(', ') || 'nothing'} + ${command.type}`;
      return {
        thenEvents(...expected: readonly Event[]): void {
          t.strictSame(decision, expected, `${told} → ${expected.map((each) => each.type).join()}`);
          if (!isRejection(decision)) for (const event of decision) throughStore(event);
        },
        thenNothing(): void {
          t.strictSame(decision, [], `${told} → nothing`);
        },
        thenRejected(code: Rejection['rejected'], message?: RegExp): void {
          if (!isRejection(decision)) {
            t.fail(`${told} → rejected`, { found: decision });
            return;
          }
          t.equal(decision.rejected, code, `${told} → ${code}`);
          if (message) t.match(decision.message, message);
        },
      };
    },
  };
}
