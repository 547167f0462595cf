/**
 * One mail to one person. Its id follows from the event that it tells of, so that it is due as soon as that is stored; its
 * stream begins with its first try.
 */
import type { MailFailure, MailKind } from './choices.ts';
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

export const mailStream = (mailId: string): string => `mail-${mailId}`;

export type MailEvent = EventOf<'MailSent' | 'MailFailed'>;

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses after the first try, the second and so on; the last one after each that follows. */
const RETRY_PAUSES_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
] as const;
const LONGEST_PAUSE_MS = 12 * HOUR_MS;
/** A pause is longer by up to this part: mails that were put off together do not come back together. */
const JITTER = 0.2;

/** A mail that could not be sent for so long is given up. */
export const GIVEN_UP_AFTER_MS = 3 * 24 * HOUR_MS;

export interface MailState {
  /** The number of tries. */
  readonly attempt: number;
  /** It was sent, or nobody tries any more. */
  readonly hasEnded: boolean;
}

const initialState: MailState = { attempt: 0, hasEnded: false };

export interface MailCommand {
  readonly type: 'RecordAttempt';
  readonly mailId: string;
  readonly kind: MailKind;
  readonly accountId?: string;
  readonly personId: string;
  readonly attempt: number;
  /** Absent: it was sent. */
  readonly failure?: MailFailure;
  readonly status?: number;
  /** The time of the event that it tells of. */
  readonly since: number;
  /** From 0 to 1, at random. */
  readonly jitter: number;
  readonly at: number;
}

const MAY_PASS: ReadonlySet<MailFailure> = new Set(['deferred', 'connection_failed', 'timeout']);

function evolve(_state: MailState, { type, data }: MailEvent): MailState {
  const hasEnded = type === 'MailSent' || data.nextAt === undefined;
  return { attempt: data.attempt, hasEnded };
}

const decide: Decider<MailState, MailCommand, MailEvent>['decide'] = (command, state) => {
  const { type: _, failure, status, since, jitter, ...of } = command;
  // Of two leaders at a time, one comes second.
  if (state.hasEnded || command.attempt !== state.attempt + 1) return [];
  if (failure === undefined) return [{ type: 'MailSent', data: of }];
  const pause = RETRY_PAUSES_MS[command.attempt - 1] ?? LONGEST_PAUSE_MS;
  const nextAt = Math.round(command.at + pause * (1 + JITTER * jitter));
  const isTriedAgain = MAY_PASS.has(failure) && nextAt < since + GIVEN_UP_AFTER_MS;
  const answered = status === undefined ? {} : { status };
  const next = isTriedAgain ? { nextAt } : {};
  return [{ type: 'MailFailed', data: { ...of, failure, ...answered, ...next } }];
};

export const mail: Decider<MailState, MailCommand, MailEvent> = { initialState, evolve, decide };

export const mailAggregate: AggregateType<MailState, MailCommand, MailEvent> = {
  name: 'mail',
  stream: mailStream,
  decider: mail,
  isBrief: true,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as MailState,
  },
};
