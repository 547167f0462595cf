/**
 * The second factor of a person: the secret of an authenticator that makes codes by the time (RFC 6238), and recovery codes
 * for who has lost it. Decided in the person's stream, so that a code works once on all nodes together.
 */
import type { Decision, Rejection } from './decider.ts';
import type { EventOf } from './events.ts';

export const RECOVERY_CODES = 10;
/**
 * Wrong codes in a day (UTC), after which only recovery codes are taken. Clients that the person has signed in from have a
 * count of their own: strangers do not use it up.
 */
export const WRONG_CODES_A_DAY = 20;
const DAY_MS = 24 * 60 * 60 * 1000;
/** The time that one code stands for. */
export const STEP_MS = 30_000;

export interface Authenticator {
  /** Sealed. */
  readonly secret: string;
  /** Milliseconds since the Unix epoch. */
  readonly addedAt: number;
  /** The step of the last code that was taken: it and all before it are used up. */
  readonly step: number;
  /** SHA-256 of each that is left, hex. */
  readonly recoveryCodes: readonly string[];
}

/** The wrong codes of a day, which is counted from the Unix epoch. */
export interface WrongCodes {
  readonly day: number;
  readonly strangers: number;
  readonly known: number;
}

export interface SecondFactor {
  readonly authenticator: Authenticator | undefined;
  /** They outlast the authenticator: another one brings no further guesses. */
  readonly wrongCodes: WrongCodes;
}

export const noSecondFactor: SecondFactor = {
  authenticator: undefined,
  wrongCodes: { day: -1, strangers: 0, known: 0 },
};

/** A clock that lags does not bring a day back. */
function wrongCodesAt({ wrongCodes }: SecondFactor, now: number): WrongCodes {
  const day = Math.floor(now / DAY_MS);
  return day > wrongCodes.day ? { ...noSecondFactor.wrongCodes, day } : wrongCodes;
}

const counterOf = (isKnownClient: boolean) => (isKnownClient ? 'known' : 'strangers');

/** @returns the time when codes are taken again; undefined: they are taken */
export function codesRefusedUntil(
  state: SecondFactor,
  isKnownClient: boolean,
  now: number,
): number | undefined {
  const codes = wrongCodesAt(state, now);
  const isOver = codes[counterOf(isKnownClient)] >= WRONG_CODES_A_DAY;
  return isOver ? (codes.day + 1) * DAY_MS : undefined;
}

export type SecondFactorEvent = EventOf<
  | 'SecondFactorAdded'
  | 'SecondFactorUsed'
  | 'SecondFactorRefused'
  | 'RecoveryCodeUsed'
  | 'RecoveryCodesRenewed'
  | 'SecondFactorRemoved'
>;

export type SecondFactorCommand = {
  readonly personId: string;
  /** The account in which it is done; absent for the operator. */
  readonly accountId?: string;
} & (
  | ({ readonly type: 'AddSecondFactor' } & Authenticator)
  | { readonly type: 'UseSecondFactor'; readonly step: number }
  | { readonly type: 'RefuseCode'; readonly isKnownClient: boolean; readonly now: number }
  | { readonly type: 'UseRecoveryCode'; readonly codeHash: string }
  | { readonly type: 'RenewRecoveryCodes'; readonly recoveryCodes: readonly string[] }
  | { readonly type: 'RemoveSecondFactor' }
);

export function evolveSecondFactor<State extends SecondFactor>(
  state: State,
  event: SecondFactorEvent,
): State {
  const { authenticator: present } = state;
  const changed = (change: Partial<Authenticator>): State =>
    present === undefined ? state : { ...state, authenticator: { ...present, ...change } };
  switch (event.type) {
    case 'SecondFactorAdded': {
      const { secret, addedAt, step, recoveryCodes } = event.data;
      return { ...state, authenticator: { secret, addedAt, step, recoveryCodes } };
    }
    case 'SecondFactorUsed':
      return changed({ step: event.data.step });
    case 'SecondFactorRefused': {
      const { refusedAt, isKnownClient = false, count } = event.data;
      const wrongCodes = wrongCodesAt(state, refusedAt);
      return { ...state, wrongCodes: { ...wrongCodes, [counterOf(isKnownClient)]: count } };
    }
    case 'RecoveryCodeUsed': {
      const { codeHash } = event.data;
      const left = present?.recoveryCodes.filter((each) => each !== codeHash) ?? [];
      return changed({ recoveryCodes: left });
    }
    case 'RecoveryCodesRenewed':
      return changed({ recoveryCodes: event.data.recoveryCodes });
    case 'SecondFactorRemoved':
      return { ...state, authenticator: undefined };
  }
}

const NONE: Rejection = {
  rejected: 'not_found',
  message: 'There is no second factor. Set one up first.',
};
const USED: Rejection = { rejected: 'unauthorized', message: 'The code was used already.' };
export const HAS_ONE =
  'There is a second factor already. Remove it before you set up another authenticator.';

export function decideOnSecondFactor(
  state: SecondFactor,
  command: SecondFactorCommand,
): Decision<SecondFactorEvent> {
  const { authenticator } = state;
  const { personId, accountId } = command;
  const of = { personId, ...(accountId !== undefined && { accountId }) };
  if (command.type === 'AddSecondFactor') {
    if (authenticator !== undefined) return { rejected: 'validation_error', message: HAS_ONE };
    const { secret, addedAt, step, recoveryCodes } = command;
    const added = { secret, addedAt, step, recoveryCodes: [...recoveryCodes] };
    return [{ type: 'SecondFactorAdded', data: { ...of, ...added } }];
  }
  if (command.type === 'RefuseCode') {
    const { isKnownClient, now: refusedAt } = command;
    const count = wrongCodesAt(state, refusedAt)[counterOf(isKnownClient)] + 1;
    const client = isKnownClient ? ({ isKnownClient } as const) : {};
    return [{ type: 'SecondFactorRefused', data: { ...of, ...client, count, refusedAt } }];
  }
  if (authenticator === undefined) return NONE;
  switch (command.type) {
    case 'UseSecondFactor': {
      const { step } = command;
      if (step <= authenticator.step) return USED;
      return [{ type: 'SecondFactorUsed', data: { ...of, step } }];
    }
    case 'UseRecoveryCode': {
      const { codeHash } = command;
      if (!authenticator.recoveryCodes.includes(codeHash)) return USED;
      const left = authenticator.recoveryCodes.length - 1;
      return [{ type: 'RecoveryCodeUsed', data: { ...of, codeHash, left } }];
    }
    case 'RenewRecoveryCodes': {
      const recoveryCodes = [...command.recoveryCodes];
      return [{ type: 'RecoveryCodesRenewed', data: { ...of, recoveryCodes } }];
    }
    case 'RemoveSecondFactor':
      return [{ type: 'SecondFactorRemoved', data: of }];
  }
}
