/** One sign-in: a refresh token and the access tokens made with it. Its id is in every one of them. */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

export const sessionStream = (sessionId: string): string => `session-${sessionId}`;

export type SessionEvent = EventOf<'SessionOpened' | 'SessionRevoked'>;

export interface SessionState {
  readonly status: 'none' | 'open' | 'revoked';
  readonly accountId: string;
  /** Milliseconds since the epoch; the refresh token's own expiry. */
  readonly expiresAt: number;
  /** The account's when the password was judged: the session holds as long as the account keeps it. */
  readonly epoch: number;
}

const initialState: SessionState = { status: 'none', accountId: '', expiresAt: 0, epoch: 0 };

export type SessionCommand =
  | {
      readonly type: 'OpenSession';
      readonly accountId: string;
      readonly sessionId: string;
      readonly expiresAt: number;
      readonly epoch: number;
      /** HMAC of the sign-in address and the client's own, hex. */
      readonly client: string;
    }
  | { readonly type: 'RevokeSession'; readonly sessionId: string };

function evolve(state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'SessionOpened':
      return {
        status: 'open',
        accountId: event.data.accountId,
        expiresAt: event.data.expiresAt,
        epoch: event.data.epoch ?? 0,
      };
    case 'SessionRevoked':
      return { ...state, status: 'revoked' };
  }
}

const decide: Decider<SessionState, SessionCommand, SessionEvent>['decide'] = (command, state) => {
  switch (command.type) {
    case 'OpenSession': {
      if (state.status !== 'none') return [];
      const { accountId, sessionId, expiresAt, epoch, client } = command;
      return [{ type: 'SessionOpened', data: { accountId, sessionId, expiresAt, epoch, client } }];
    }
    case 'RevokeSession':
      if (state.status !== 'open') return { rejected: 'unauthorized' };
      return [
        {
          type: 'SessionRevoked',
          data: { accountId: state.accountId, sessionId: command.sessionId },
        },
      ];
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
    version: 2,
    encode: (state) => state,
    decode: (json) => json as SessionState,
  },
};
