import type { EventOf, EventType } from '../domain/events.ts';
import type { RecordedEvent } from '../event-store/port.ts';

type Handle = (event: RecordedEvent) => void;

/**
 * Lets each handler see its own event's data. The runner has lifted the data to today's schema before
 * it gets here, which is what makes the types true.
 */
export function typedHandlers(
  handlers: {
    readonly [T in EventType]?: (data: EventOf<T>['data'], event: RecordedEvent) => void;
  },
): Readonly<Record<string, Handle>> {
  return Object.fromEntries(
    Object.entries(handlers).map(([type, handle]) => {
      const untyped = handle as (data: object, event: RecordedEvent) => void;
      return [type, (event: RecordedEvent) => untyped(event.data, event)];
    }),
  );
}
