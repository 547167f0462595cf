/** One API key, known by its hash alone. Its id is computed from the key, so its stream is found at once. */
import type { AggregateType, Decider } from './decider.ts';
import type { KeyRights } from './event-fields.ts';
import type { EventOf } from './events.ts';
import { founderOf } from './members.ts';

export const apiKeyStream = (keyId: string): string => `apikey-${keyId}`;

export type ApiKeyEvent = EventOf<'KeyCreated' | 'KeyUsed' | 'KeyRevoked'>;

/** `last_used_at` is at most this far behind, and one use in this time is recorded. */
export const KEY_USE_INTERVAL_MS = 60_000;

export interface ApiKeyState {
  readonly status: 'none' | 'active' | 'revoked';
  readonly accountId: string;
  /** The member who made it, and which membership of theirs it ends with. */
  readonly createdBy: string;
  readonly memberSince: number;
  readonly keyHash: string;
  readonly lastUsedAt: number | undefined;
  readonly rights: KeyRights;
}

const initialState: ApiKeyState = {
  status: 'none',
  accountId: '',
  createdBy: '',
  memberSince: 0,
  keyHash: '',
  lastUsedAt: undefined,
  rights: {},
};

export type ApiKeyCommand =
  | {
      readonly type: 'CreateKey';
      readonly accountId: string;
      readonly keyId: string;
      readonly keyHash: string;
      readonly prefix: string;
      readonly name: string;
      readonly rights?: KeyRights;
      /** Absent for the founder in the first membership. */
      readonly maker?: Pick<ApiKeyState, 'createdBy' | 'memberSince'>;
      readonly now: number;
    }
  | { readonly type: 'RecordKeyUse'; readonly keyId: string; readonly now: number }
  /** Only a key of that account, and of that maker where `createdBy` is given, is revoked. */
  | {
      readonly type: 'RevokeKey';
      readonly keyId: string;
      readonly accountId: string;
      readonly createdBy?: string;
      readonly isTest?: true;
    };

/** The rights among the fields of a KeyCreated event. */
export function rightsIn(data: KeyRights): KeyRights {
  const { scopes, expiresAt, addresses, rateLimit, creditLimit, isTest } = data;
  return {
    ...(scopes && { scopes }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(addresses !== undefined && { addresses }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(creditLimit !== undefined && { creditLimit }),
    ...(isTest && { isTest }),
  };
}

/** The key's time is over. It may be listed and revoked like others. */
export const hasExpired = ({ rights: { expiresAt } }: ApiKeyState, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now;

/** True where a use now is due to be recorded. */
export function useIsDue(state: ApiKeyState, now: number): boolean {
  return (
    state.status === 'active' &&
    (state.lastUsedAt === undefined || now - state.lastUsedAt >= KEY_USE_INTERVAL_MS)
  );
}

function evolve(state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  switch (event.type) {
    case 'KeyCreated': {
      const { accountId, keyHash, memberSince = 0 } = event.data;
      const { createdBy = founderOf(accountId) } = event.data;
      const rights = rightsIn(event.data);
      const made = { accountId, createdBy, memberSince, keyHash, rights };
      return { ...state, status: 'active', ...made };
    }
    case 'KeyUsed':
      return { ...state, lastUsedAt: event.data.usedAt };
    case 'KeyRevoked':
      return { ...state, status: 'revoked' };
  }
}

const decide: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent>['decide'] = (command, state) => {
  switch (command.type) {
    case 'CreateKey': {
      if (state.status !== 'none') return [];
      const { accountId, keyId, keyHash, prefix, name, rights, maker, now } = command;
      const key = { accountId, keyId, keyHash, prefix, name };
      return [{ type: 'KeyCreated', data: { ...key, ...rights, createdAt: now, ...maker } }];
    }
    case 'RecordKeyUse': {
      const { keyId, now } = command;
      if (!useIsDue(state, now)) return [];
      return [{ type: 'KeyUsed', data: { accountId: state.accountId, keyId, usedAt: now } }];
    }
    case 'RevokeKey': {
      const { accountId, createdBy = state.createdBy, isTest = state.rights.isTest } = command;
      const owned = accountId === state.accountId && createdBy === state.createdBy;
      if (state.status !== 'active' || !owned || isTest !== state.rights.isTest) {
        return { rejected: 'not_found', message: 'There is no such API key.' };
      }
      return [{ type: 'KeyRevoked', data: { accountId: state.accountId, keyId: command.keyId } }];
    }
  }
};

export const apiKey: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent> = {
  initialState,
  evolve,
  decide,
};

export const apiKeyAggregate: AggregateType<ApiKeyState, ApiKeyCommand, ApiKeyEvent> = {
  name: 'apikey',
  stream: apiKeyStream,
  decider: apiKey,
  snapshot: {
    version: 3,
    encode: (state) => state,
    decode: (json) => json as ApiKeyState,
  },
};
