/** The passkeys of a person, in the person's stream: so a signature counts once, on whichever node it arrives. */
import type { Decision, Rejection } from './decider.ts';
import type { EventOf } from './events.ts';

/** The most passkeys of a person. */
export const MAX_PASSKEYS = 20;
/** A challenge is good for so long. */
export const CHALLENGE_LIFETIME_MS = 5 * 60 * 1000;
/** Used challenges are known for longer than they are good: the clocks of nodes may differ by as much. */
const REMEMBERED_MS = 2 * CHALLENGE_LIFETIME_MS;

/** Texts are sealed. */
export interface Passkey {
  readonly credential: string;
  readonly publicKey: string;
  readonly name: string;
  readonly counter: number;
  readonly addedAt: number;
  /** Absent: never yet. */
  readonly lastUsedAt?: number;
}

export interface Passkeys {
  /** By their ids, in the order in which they were added. */
  readonly passkeys: Readonly<Record<string, Passkey>>;
  /** When each challenge was used, by its hash. */
  readonly usedChallenges: Readonly<Record<string, number>>;
}

export const noPasskeys: Passkeys = { passkeys: {}, usedChallenges: {} };

export type PasskeyEvent = EventOf<
  'PasskeyAdded' | 'PasskeyRenamed' | 'PasskeyUsed' | 'PasskeyRefused' | 'PasskeyRemoved'
>;

/** Texts are sealed. */
export type PasskeyCommand = {
  readonly personId: string;
  /** The account in which it is done; absent for the operator. */
  readonly accountId?: string;
  readonly passkeyId: string;
} & (
  | {
      readonly type: 'AddPasskey';
      readonly credential: string;
      readonly publicKey: string;
      readonly name: string;
      readonly counter: number;
      readonly challenge: string;
      readonly now: number;
    }
  | { readonly type: 'RenamePasskey'; readonly name: string }
  | {
      readonly type: 'UsePasskey';
      readonly counter: number;
      readonly challenge: string;
      readonly now: number;
    }
  | { readonly type: 'RemovePasskey' }
);

function withUsed(used: Passkeys['usedChallenges'], challenge: string, now: number) {
  const recent = Object.entries(used).filter(([, usedAt]) => now - usedAt < REMEMBERED_MS);
  return { ...Object.fromEntries(recent), [challenge]: now };
}

const changed = <State extends Passkeys>(
  state: State,
  passkeyId: string,
  change: Partial<Passkey>,
): State => {
  const before = state.passkeys[passkeyId];
  if (before === undefined) return state;
  return { ...state, passkeys: { ...state.passkeys, [passkeyId]: { ...before, ...change } } };
};

export function evolvePasskeys<State extends Passkeys>(state: State, event: PasskeyEvent): State {
  const { passkeys, usedChallenges } = state;
  const { passkeyId } = event.data;
  switch (event.type) {
    case 'PasskeyAdded': {
      const { credential, publicKey, name, counter, challenge, addedAt } = event.data;
      const added = { credential, publicKey, name, counter, addedAt };
      return {
        ...state,
        passkeys: { ...passkeys, [passkeyId]: added },
        usedChallenges: withUsed(usedChallenges, challenge, addedAt),
      };
    }
    case 'PasskeyRenamed':
      return changed(state, passkeyId, { name: event.data.name });
    case 'PasskeyUsed': {
      const { counter, challenge, usedAt } = event.data;
      const used = changed(state, passkeyId, { counter, lastUsedAt: usedAt });
      return { ...used, usedChallenges: withUsed(usedChallenges, challenge, usedAt) };
    }
    case 'PasskeyRefused':
      return state;
    case 'PasskeyRemoved': {
      const { [passkeyId]: _, ...others } = passkeys;
      return { ...state, passkeys: others };
    }
  }
}

const NO_PASSKEY: Rejection = { rejected: 'not_found', message: 'There is no such passkey.' };
/** Nobody is told which: who has signed sees it by trying again. */
const NOT_GOOD: Rejection = { rejected: 'unauthorized' };

const refused = (message: string): Rejection => ({
  rejected: 'validation_error',
  message,
  details: { passkey: [message] },
});

/** A passkey that counts has counted on since; one that does not says 0 each time. */
const hasGoneBack = (counter: number, before: number): boolean =>
  (counter > 0 || before > 0) && counter <= before;

export function decideOnPasskeys(state: Passkeys, command: PasskeyCommand): Decision<PasskeyEvent> {
  const { personId, accountId, passkeyId } = command;
  const ids = { personId, ...(accountId !== undefined && { accountId }), passkeyId };
  const passkey = state.passkeys[passkeyId];
  switch (command.type) {
    case 'AddPasskey': {
      const { credential, publicKey, name, counter, challenge, now } = command;
      if (state.usedChallenges[challenge] !== undefined) {
        return refused('This was sent before. Add the passkey again.');
      }
      if (passkey !== undefined) return refused('This passkey is one of yours already.');
      if (Object.keys(state.passkeys).length >= MAX_PASSKEYS) {
        return refused(`A person has at most ${MAX_PASSKEYS} passkeys. Remove one first.`);
      }
      const texts = { credential, publicKey, name };
      const data = { ...ids, ...texts, counter, challenge, addedAt: now };
      return [{ type: 'PasskeyAdded', data }];
    }
    case 'RenamePasskey':
      if (passkey === undefined) return NO_PASSKEY;
      return [{ type: 'PasskeyRenamed', data: { ...ids, name: command.name } }];
    case 'UsePasskey': {
      const { counter, challenge, now } = command;
      if (passkey === undefined || state.usedChallenges[challenge] !== undefined) return NOT_GOOD;
      return hasGoneBack(counter, passkey.counter)
        ? [{ type: 'PasskeyRefused', data: { ...ids, counter, refusedAt: now } }]
        : [{ type: 'PasskeyUsed', data: { ...ids, counter, challenge, usedAt: now } }];
    }
    case 'RemovePasskey':
      if (passkey === undefined) return NO_PASSKEY;
      return [{ type: 'PasskeyRemoved', data: ids }];
  }
}
