/** The log itself: its first start names it, so that what one deployment signs is good for no other. */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

/** There is one. Its name must not be the beginning of streams that others keep on the same server. */
const LOG_STREAM = 'pressledger-log';

export type LogEvent = EventOf<'LogOpened'>;

export interface LogState {
  /** Absent before the first start. */
  readonly origin: string | undefined;
}

export interface LogCommand {
  readonly type: 'OpenLog';
  /** A random one, taken where the log has none. */
  readonly origin: string;
}

export const log: Decider<LogState, LogCommand, LogEvent> = {
  initialState: { origin: undefined },
  evolve: (_, event) => ({ origin: event.data.origin }),
  decide: ({ origin }, state) =>
    state.origin === undefined ? [{ type: 'LogOpened', data: { origin } }] : [],
};

export const logAggregate: AggregateType<LogState, LogCommand, LogEvent> = {
  name: 'log',
  stream: () => LOG_STREAM,
  decider: log,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as LogState,
  },
};
