/** One sign-in: its refresh token or cookies, and the access tokens made with them. Its id is in every one of them. */
import type { AggregateType, Decider } from './decider.ts';
import type { SessionKind } from './event-fields.ts';
import type { EventOf } from './events.ts';

export const sessionStream = (sessionId: string): string => `session-${sessionId}`;

export type SessionEvent = EventOf<'SessionOpened' | 'SessionRevoked'>;

export interface SessionState {
  readonly status: 'none' | 'open' | 'revoked';
  readonly accountId: string;
  /** Milliseconds since the epoch; nothing of the session holds any longer. */
  readonly expiresAt: number;
  /** The account's when the password was judged: the session holds as long as the account keeps it. */
  readonly epoch: number;
  readonly kind: SessionKind;
}

const initialState: SessionState = {
  status: 'none',
  accountId: '',
  expiresAt: 0,
  epoch: 0,
  kind: 'api',
};

export type SessionCommand =
  | {
      readonly type: 'OpenSession';
      readonly accountId: string;
      readonly sessionId: string;
      readonly expiresAt: number;
      readonly epoch: number;
      /** HMAC of the sign-in address and the client's own, hex. */
      readonly client: string;
      readonly kind: SessionKind;
      /** Sealed. */
      readonly userAgent?: string;
    }
  /** `accountId` is given where one session ends another: an account ends its own sessions only. */
  | { readonly type: 'RevokeSession'; readonly sessionId: string; readonly accountId?: string };

function evolve(state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'SessionOpened':
      return {
        status: 'open',
        accountId: event.data.accountId,
        expiresAt: event.data.expiresAt,
        epoch: event.data.epoch ?? 0,
        kind: event.data.kind ?? 'api',
      };
    case 'SessionRevoked':
      return { ...state, status: 'revoked' };
  }
}

const decide: Decider<SessionState, SessionCommand, SessionEvent>['decide'] = (command, state) => {
  switch (command.type) {
    case 'OpenSession': {
      if (state.status !== 'none') return [];
      const { accountId, sessionId, expiresAt, epoch, client, kind, userAgent } = command;
      const data = { accountId, sessionId, expiresAt, epoch, client, kind };
      return [
        { type: 'SessionOpened', data: userAgent === undefined ? data : { ...data, userAgent } },
      ];
    }
    case 'RevokeSession': {
      const { accountId, status } = state;
      const isOpen = status === 'open';
      if (command.accountId !== undefined && !(isOpen && command.accountId === accountId)) {
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
    version: 3,
    encode: (state) => state,
    decode: (json) => json as SessionState,
  },
};
