/**
 * A person: passkeys, the second factor and, of one who was invited into an account or let in by an identity provider, name
 * and credentials. Password and address of founders lie in the account's stream; the stream of a founder has a name, if one
 * was given, passkeys, the second factor, identities at providers, and the erasure.
 */
import type { OptionalMail } from './choices.ts';
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';
import {
  decideOnPasskeys,
  evolvePasskeys,
  noPasskeys,
  type PasskeyCommand,
  type PasskeyEvent,
  type Passkeys,
} from './passkeys.ts';
import {
  decideOnSecondFactor,
  evolveSecondFactor,
  noSecondFactor,
  type SecondFactor,
  type SecondFactorCommand,
  type SecondFactorEvent,
} from './second-factor.ts';
import {
  changeAddress,
  firstAddress,
  offerAddress,
  type OfferedAddress,
  offeredAddress,
  SESSION_ENDED,
  type SignInAddress,
  type UsedLink,
} from './sign-in-address.ts';
import {
  isResetOffered,
  noReset,
  type OfferedReset,
  offeredReset,
  offerReset,
  RESET_GONE,
  type ResetOffer,
} from './standing.ts';

export const personStream = (personId: string): string => `person-${personId}`;

export type PersonEvent =
  | PasskeyEvent
  | SecondFactorEvent
  | EventOf<
      | 'PersonRegistered'
      | 'PersonNamed'
      | 'IdentityLinked'
      | 'PersonResetOffered'
      | 'PersonPasswordChanged'
      | 'PersonEmailOffered'
      | 'PersonEmailChanged'
      | 'PersonMailsChanged'
      | 'PersonErased'
    >;

export interface PersonState extends Passkeys, SecondFactor, SignInAddress {
  /** `none`: not registered: a founder, or nobody. `erased` is for good. */
  readonly status: 'none' | 'registered' | 'erased';
  /** Sealed, as are the hash, which is empty for a person without a password, and the name. */
  readonly email: string;
  readonly passwordHash: string;
  readonly name: string | undefined;
  /** By the provider's issuer: the identity that the person has there, for good. */
  readonly identities: Readonly<Record<string, string>>;
  /** Counts the passwords and addresses after the first ones: sessions that were opened with earlier ones are over. */
  readonly passwords: number;
  readonly reset: ResetOffer | undefined;
  readonly mailedReset: ResetOffer | undefined;
  readonly mailsOff: readonly OptionalMail[];
}

const initialState: PersonState = {
  status: 'none',
  email: '',
  passwordHash: '',
  name: undefined,
  identities: {},
  passwords: 0,
  ...noReset,
  ...firstAddress,
  mailsOff: [],
  ...noPasskeys,
  ...noSecondFactor,
};

/** Whom a provider knows. */
export interface Identity {
  readonly issuer: string;
  /** HMAC of issuer and subject, hex. */
  readonly identity: string;
  /** Sealed. */
  readonly subject: string;
}

export type PersonCommand = PasskeyCommand | SecondFactorCommand | OwnCommand;

type OwnCommand = { readonly personId: string } & (
  | {
      readonly type: 'RegisterPerson';
      readonly accountId: string;
      readonly email: string;
      readonly name: string;
      /** One of the two at least. */
      readonly passwordHash?: string;
      readonly identity?: Identity;
    }
  | { readonly type: 'LinkIdentity'; readonly accountId: string; readonly identity: Identity }
  | { readonly type: 'NamePerson'; readonly accountId: string; readonly name: string }
  | {
      readonly type: 'ChangePersonPassword';
      readonly accountId?: string;
      readonly passwordHash: string;
      /** The count of passwords when the present one was judged; absent for the operator, who needs none. */
      readonly passwords?: number;
    }
  | ({ readonly type: 'OfferPersonReset'; readonly accountId?: string } & OfferedReset)
  | ({ readonly type: 'OfferPersonEmail'; readonly accountId: string } & OfferedAddress)
  | ({ readonly type: 'ChangePersonEmail'; readonly accountId: string } & UsedLink)
  | {
      readonly type: 'ChangePersonMails';
      readonly accountId: string;
      readonly off: readonly OptionalMail[];
    }
  | {
      readonly type: 'ResetPersonPassword';
      readonly accountId?: string;
      readonly tokenHash: string;
      readonly passwordHash: string;
      readonly now: number;
    }
  | { readonly type: 'ErasePerson'; readonly accountId?: string }
);

export const OTHER_IDENTITY =
  'The person with this address is another one at the identity provider. The operator of the service can erase them, and an owner invite you.';

function evolve(state: PersonState, event: PersonEvent): PersonState {
  switch (event.type) {
    case 'PersonRegistered': {
      const { email, name, passwordHash = '' } = event.data;
      return { ...state, status: 'registered', email, name, passwordHash };
    }
    case 'PersonNamed':
      return { ...state, name: event.data.name };
    case 'PersonResetOffered': {
      return { ...state, ...offeredReset(event.data) };
    }
    case 'IdentityLinked': {
      const { issuer, identity } = event.data;
      return { ...state, identities: { ...state.identities, [issuer]: identity } };
    }
    case 'PersonPasswordChanged': {
      const { passwordHash } = event.data;
      return { ...state, passwordHash, passwords: state.passwords + 1, ...noReset };
    }
    case 'PersonEmailOffered':
      return { ...state, ...offeredAddress(event.data) };
    case 'PersonEmailChanged': {
      const { email, addressHash } = event.data;
      return { ...state, email, addressHash, passwords: state.passwords + 1, ...noReset };
    }
    case 'PasskeyAdded':
    case 'PasskeyRenamed':
    case 'PasskeyUsed':
    case 'PasskeyRefused':
    case 'PasskeyRemoved':
      return evolvePasskeys(state, event);
    case 'PersonMailsChanged':
      return { ...state, mailsOff: event.data.off };
    case 'SecondFactorAdded':
    case 'SecondFactorUsed':
    case 'SecondFactorRefused':
    case 'RecoveryCodeUsed':
    case 'RecoveryCodesRenewed':
    case 'SecondFactorRemoved':
      return evolveSecondFactor(state, event);
    case 'PersonErased':
      return { ...initialState, status: 'erased' };
  }
}

const NOBODY = { rejected: 'not_found', message: 'There is no such person.' } as const;

const whereOf = ({ accountId }: { readonly accountId?: string }) =>
  accountId === undefined ? {} : { accountId };

const decide: Decider<PersonState, PersonCommand, PersonEvent>['decide'] = (command, state) => {
  const { personId } = command;
  if (state.status === 'erased') {
    if (command.type === 'ErasePerson') return [];
    return { rejected: 'not_found', message: 'There is no such person any more.' };
  }
  switch (command.type) {
    case 'RegisterPerson': {
      if (state.status === 'registered') return [];
      const { accountId, email, name, passwordHash, identity } = command;
      const password = passwordHash === undefined ? {} : { passwordHash };
      const registered = { personId, accountId, email, name, ...password };
      const linked = identity && ({ personId, accountId, ...identity } as const);
      return [
        { type: 'PersonRegistered', data: registered },
        ...(linked === undefined ? [] : [{ type: 'IdentityLinked', data: linked } as const]),
      ];
    }
    case 'LinkIdentity': {
      const { accountId, identity } = command;
      const known = state.identities[identity.issuer];
      if (known === identity.identity) return [];
      // The provider gave the address of somebody who has left to somebody else.
      if (known !== undefined) return { rejected: 'forbidden', message: OTHER_IDENTITY };
      return [{ type: 'IdentityLinked', data: { personId, accountId, ...identity } }];
    }
    case 'NamePerson': {
      const { accountId, name } = command;
      return [{ type: 'PersonNamed', data: { personId, accountId, name } }];
    }
    case 'ChangePersonPassword': {
      const { passwordHash, passwords = state.passwords } = command;
      if (state.status !== 'registered') return NOBODY;
      if (passwords !== state.passwords) {
        return SESSION_ENDED;
      }
      const data = { personId, ...whereOf(command), passwordHash };
      return [{ type: 'PersonPasswordChanged', data }];
    }
    case 'OfferPersonReset':
      if (state.status !== 'registered') return NOBODY;
      return [
        {
          type: 'PersonResetOffered',
          data: { personId, ...whereOf(command), ...offerReset(command) },
        },
      ];
    case 'ResetPersonPassword': {
      const { tokenHash, passwordHash, now } = command;
      if (!isResetOffered(state, tokenHash, now)) return { rejected: 'gone', message: RESET_GONE };
      const data = { personId, ...whereOf(command), passwordHash, byLink: true } as const;
      return [{ type: 'PersonPasswordChanged', data }];
    }
    case 'OfferPersonEmail': {
      const { accountId, epoch } = command;
      if (state.status !== 'registered') return NOBODY;
      if (epoch !== state.passwords) return SESSION_ENDED;
      const data = { personId, accountId, ...offerAddress(command) };
      return [{ type: 'PersonEmailOffered', data }];
    }
    case 'ChangePersonEmail': {
      const changed = changeAddress(state, command);
      if ('rejected' in changed) return changed;
      const { accountId } = command;
      return [{ type: 'PersonEmailChanged', data: { personId, accountId, ...changed } }];
    }
    case 'AddPasskey':
    case 'RenamePasskey':
    case 'UsePasskey':
    case 'RemovePasskey':
      return decideOnPasskeys(state, command);
    case 'ChangePersonMails': {
      const { accountId, off } = command;
      if (off.join() === state.mailsOff.join()) return [];
      return [{ type: 'PersonMailsChanged', data: { personId, accountId, off: [...off] } }];
    }
    case 'AddSecondFactor':
    case 'UseSecondFactor':
    case 'RefuseCode':
    case 'UseRecoveryCode':
    case 'RenewRecoveryCodes':
    case 'RemoveSecondFactor':
      return decideOnSecondFactor(state, command);
    case 'ErasePerson':
      return [{ type: 'PersonErased', data: { personId, ...whereOf(command) } }];
  }
};

export const person: Decider<PersonState, PersonCommand, PersonEvent> = {
  initialState,
  evolve,
  decide,
};

export const personAggregate: AggregateType<PersonState, PersonCommand, PersonEvent> = {
  name: 'person',
  stream: personStream,
  decider: person,
  snapshot: {
    version: 8,
    encode: (state) => state,
    decode: (json) => ({ ...initialState, ...(json as Partial<PersonState>) }),
  },
};
