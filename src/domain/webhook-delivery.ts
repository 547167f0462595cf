/**
 * One delivery: what an endpoint, or the URL of a request, is to be told of one event. Its id follows from both, so
 * that it is due as soon as the event is stored; its stream begins with its first try.
 */
import type { DeliveryFailure, WebhookMessage } from './choices.ts';
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

export const deliveryStream = (deliveryId: string): string => `delivery-${deliveryId}`;

export type DeliveryEvent = EventOf<'DeliveryAttempted' | 'RedeliveryRequested'>;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses after the first try, the second and so on. After the last of them there is one more try. */
export const RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** A pause is longer or shorter by up to this part: receivers that come back are not all asked at once. */
const JITTER = 0.1;

/** The receiver will never take it: there is no other try. */
export const GONE = 410;

export interface DeliveryState {
  readonly round: number;
  /** The number of tries in this round. */
  readonly attempt: number;
}

const initialState: DeliveryState = { round: 0, attempt: 0 };

interface CommandOf {
  readonly accountId: string;
  readonly deliveryId: string;
  readonly webhookId?: string;
  readonly conversionId?: string;
  readonly round: number;
  readonly at: number;
}

export type DeliveryCommand =
  | ({
      readonly type: 'RecordAttempt';
      readonly message: WebhookMessage;
      readonly attempt: number;
      readonly status?: number;
      readonly failure?: DeliveryFailure;
      readonly durationMs: number;
      /** Sealed. */
      readonly answer?: string;
      /** From 0 to 1, at random. */
      readonly jitter: number;
    } & CommandOf)
  /** `round` is the next one. */
  | ({ readonly type: 'RequestRedelivery' } & CommandOf);

function evolve(_state: DeliveryState, event: DeliveryEvent): DeliveryState {
  const { round } = event.data;
  switch (event.type) {
    case 'DeliveryAttempted':
      return { round, attempt: event.data.attempt };
    case 'RedeliveryRequested':
      return { round, attempt: 0 };
  }
}

/** A round may have begun with an event of its endpoint's stream, for all that failed. */
const isNext = ({ round, attempt }: DeliveryState, command: CommandOf & { attempt: number }) =>
  command.round === round ? command.attempt === attempt + 1 : command.round > round;

function outcomeOf(
  status: number | undefined,
  attempt: number,
): EventOf<'DeliveryAttempted'>['data']['outcome'] {
  if (status !== undefined && status >= 200 && status < 300) return 'delivered';
  return status === GONE || attempt > RETRY_PAUSES_MS.length ? 'failed' : 'retry';
}

const decide: Decider<DeliveryState, DeliveryCommand, DeliveryEvent>['decide'] = (
  command,
  state,
) => {
  switch (command.type) {
    case 'RecordAttempt': {
      // Of two leaders at a time, one comes second.
      if (!isNext(state, command)) return [];
      const { type: _, at: attemptedAt, jitter, ...facts } = command;
      const outcome = outcomeOf(command.status, command.attempt);
      const pause = RETRY_PAUSES_MS[command.attempt - 1] ?? 0;
      const nextAt = Math.round(attemptedAt + pause * (1 - JITTER + 2 * JITTER * jitter));
      const data = { ...facts, outcome, attemptedAt, ...(outcome === 'retry' && { nextAt }) };
      return [{ type: 'DeliveryAttempted', data }];
    }
    case 'RequestRedelivery': {
      const { type: _, at: requestedAt, ...about } = command;
      if (command.round <= state.round) return [];
      return [{ type: 'RedeliveryRequested', data: { ...about, requestedAt } }];
    }
  }
};

export const delivery: Decider<DeliveryState, DeliveryCommand, DeliveryEvent> = {
  initialState,
  evolve,
  decide,
};

export const deliveryAggregate: AggregateType<DeliveryState, DeliveryCommand, DeliveryEvent> = {
  name: 'delivery',
  stream: deliveryStream,
  decider: delivery,
  isBrief: true,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as DeliveryState,
  },
};
