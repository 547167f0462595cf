/** One sign-in: its refresh token or cookies, and the access tokens made with them. Its id is in every one of them. */
import type { AggregateType, Decider } from './decider.ts';
import type { SignInMethod } from './choices.ts';
import type { SessionKind } from './event-fields.ts';
import type { EventOf } from './events.ts';
import { founderOf } from './members.ts';

export const sessionStream = (sessionId: string): string => `session-${sessionId}`;

export type SessionEvent = EventOf<'SessionOpened' | 'SessionConfirmed' | 'SessionRevoked'>;

export interface SessionState {
  readonly status: 'none' | 'open' | 'revoked';
  readonly accountId: string;
  readonly personId: string;
  /** Milliseconds since the epoch; nothing of the session holds any longer. */
  readonly expiresAt: number;
  /** The member's when the password was judged: the session holds as long as the account keeps it. */
  readonly epoch: number;
  /** The person's count of passwords then, where that is not kept in this account. */
  readonly passwords: number;
  readonly kind: SessionKind;
  /** What the person has proved. */
  readonly methods: readonly SignInMethod[];
}

const initialState: SessionState = {
  status: 'none',
  accountId: '',
  personId: '',
  expiresAt: 0,
  epoch: 0,
  passwords: 0,
  kind: 'api',
  methods: [],
};

export type SessionCommand =
  | {
      readonly type: 'OpenSession';
      readonly accountId: string;
      readonly sessionId: string;
      readonly expiresAt: number;
      readonly epoch: number;
      /** Absent for the founder. */
      readonly personId?: string;
      readonly passwords?: number;
      /** HMAC of the sign-in address and the client's own, hex. */
      readonly client: string;
      readonly kind: SessionKind;
      /** Sealed. */
      readonly userAgent?: string;
      readonly methods: readonly SignInMethod[];
    }
  | {
      readonly type: 'ConfirmSession';
      readonly sessionId: string;
      readonly methods: readonly SignInMethod[];
    }
  /** Both are given where one session ends another: people end their own sessions of an account only. */
  | {
      readonly type: 'RevokeSession';
      readonly sessionId: string;
      readonly accountId?: string;
      readonly personId?: string;
    };

function evolve(state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'SessionOpened':
      return {
        status: 'open',
        accountId: event.data.accountId,
        personId: event.data.personId ?? founderOf(event.data.accountId),
        expiresAt: event.data.expiresAt,
        epoch: event.data.epoch ?? 0,
        passwords: event.data.passwords ?? 0,
        kind: event.data.kind ?? 'api',
        methods: event.data.methods ?? ['password'],
      };
    case 'SessionConfirmed':
      return { ...state, methods: [...new Set([...state.methods, ...event.data.methods])] };
    case 'SessionRevoked':
      return { ...state, status: 'revoked' };
  }
}

const decide: Decider<SessionState, SessionCommand, SessionEvent>['decide'] = (command, state) => {
  switch (command.type) {
    case 'OpenSession': {
      if (state.status !== 'none') return [];
      const { type: _, methods, ...data } = command;
      return [{ type: 'SessionOpened', data: { ...data, methods: [...methods] } }];
    }
    case 'ConfirmSession': {
      const { sessionId } = command;
      if (state.status !== 'open') return { rejected: 'unauthorized' };
      const methods = command.methods.filter((each) => !state.methods.includes(each));
      if (methods.length === 0) return [];
      const { accountId } = state;
      return [{ type: 'SessionConfirmed', data: { accountId, sessionId, methods } }];
    }
    case 'RevokeSession': {
      const { accountId, personId, status } = state;
      const isOpen = status === 'open';
      const asked = command.personId ?? personId;
      const isTheirs = command.accountId === accountId && asked === personId;
      if (command.accountId !== undefined && !(isOpen && isTheirs)) {
        return { rejected: 'not_found', message: 'There is no such session.' };
      }
      if (!isOpen) return { rejected: 'unauthorized' };
      return [{ type: 'SessionRevoked', data: { accountId, sessionId: command.sessionId } }];
    }
  }
};

export const session: Decider<SessionState, SessionCommand, SessionEvent> = {
  initialState,
  evolve,
  decide,
};

export const sessionAggregate: AggregateType<SessionState, SessionCommand, SessionEvent> = {
  name: 'session',
  stream: sessionStream,
  decider: session,
  snapshot: {
    version: 5,
    encode: (state) => state,
    decode: (json) => json as SessionState,
  },
};
