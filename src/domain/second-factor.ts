/**
 * The second factor of a person: the secret of an authenticator that makes codes by the time (RFC 6238), and recovery codes
 * for who has lost it. Decided in the person's stream, so that a code works once on all nodes together.
 */
import type { Decision, Rejection } from './decider.ts';
import type { EventOf } from './events.ts';

export const RECOVERY_CODES = 10;
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

export interface SecondFactor {
  readonly authenticator: Authenticator | undefined;
}

export type SecondFactorEvent = EventOf<
  | 'SecondFactorAdded'
  | 'SecondFactorUsed'
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
  { authenticator }: SecondFactor,
  command: SecondFactorCommand,
): Decision<SecondFactorEvent> {
  const { personId, accountId } = command;
  const of = { personId, ...(accountId !== undefined && { accountId }) };
  if (command.type === 'AddSecondFactor') {
    if (authenticator !== undefined) return { rejected: 'validation_error', message: HAS_ONE };
    const { secret, addedAt, step, recoveryCodes } = command;
    const added = { secret, addedAt, step, recoveryCodes: [...recoveryCodes] };
    return [{ type: 'SecondFactorAdded', data: { ...of, ...added } }];
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
