/**
 * A person: passkeys, the second factor and, of one who was invited into an account or let in by an identity provider, name
 * and credentials. Password and address of founders lie in the account's stream; the stream of a founder has a name, if one
 * was given, passkeys, the second factor, identities at providers, and the erasure.
 */
import { proveAddress, type ProvenAddress, UNPROVEN_ADDRESS } from './address-proof.ts';
import type { OptionalMail } from './choices.ts';
import type { AggregateType, Decider } from './decider.ts';
import type { PersonCommand, PersonEvent } from './person-commands.ts';
import { decideOnPasskeys, evolvePasskeys, noPasskeys, type Passkeys } from './passkeys.ts';
import {
  decideOnSecondFactor,
  evolveSecondFactor,
  noSecondFactor,
  type SecondFactor,
} from './second-factor.ts';
import {
  changeAddress,
  firstAddress,
  offerAddress,
  offeredAddress,
  SESSION_ENDED,
  type SignInAddress,
} from './sign-in-address.ts';
import {
  isResetOffered,
  noReset,
  offeredReset,
  offerReset,
  RESET_GONE,
  type ResetOffer,
} from './standing.ts';

export const personStream = (personId: string): string => `person-${personId}`;

export interface PersonState extends Passkeys, SecondFactor, SignInAddress, ProvenAddress {
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
  provenBy: undefined,
  passwords: 0,
  ...noReset,
  ...firstAddress,
  mailsOff: [],
  ...noPasskeys,
  ...noSecondFactor,
};

export const OTHER_IDENTITY =
  'The person with this address is another one at the identity provider. The operator of the service can erase them, and an owner invite you.';

function evolve(state: PersonState, event: PersonEvent): PersonState {
  switch (event.type) {
    case 'PersonRegistered': {
      const { email, name, passwordHash = '', provenBy } = event.data;
      return { ...state, status: 'registered', email, name, passwordHash, provenBy };
    }
    case 'PersonAddressProven':
      return {
        ...state,
        provenBy: event.data.provenBy,
        passwordHash: '',
        passwords: state.passwords + 1,
        ...noReset,
        passkeys: {},
        authenticator: undefined,
        identities: {},
        mailsOff: [],
      };
    case 'PersonNamed':
      return { ...state, name: event.data.name };
    case 'PersonResetOffered': {
      return { ...state, ...offeredReset(event.data) };
    }
    case 'IdentityLinked': {
      const { issuer, identity } = event.data;
      // Links from before there were proofs needed a verified address, too.
      const { provenBy = 'provider' } = state;
      return { ...state, provenBy, identities: { ...state.identities, [issuer]: identity } };
    }
    case 'PersonPasswordChanged': {
      const { passwordHash, byLink } = event.data;
      // Before there were proofs, this alone told that a mail had brought the link.
      const isMailed = byLink && state.mailedReset !== undefined && state.reset === undefined;
      const { provenBy = isMailed ? 'mail' : undefined } = state;
      const passwords = state.passwords + 1;
      return { ...state, passwordHash, passwords, provenBy, ...noReset };
    }
    case 'PersonEmailOffered':
      return { ...state, ...offeredAddress(event.data) };
    case 'PersonEmailChanged': {
      const { email, addressHash, provenBy } = event.data;
      const passwords = state.passwords + 1;
      return { ...state, email, addressHash, provenBy, passwords, ...noReset };
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
      const { accountId, email, name, passwordHash, identity, provenBy } = command;
      const password = passwordHash === undefined ? {} : { passwordHash };
      const proven = provenBy === undefined ? {} : { provenBy };
      const registered = { personId, accountId, email, name, ...password, ...proven };
      const linked = identity && ({ personId, accountId, ...identity } as const);
      return [
        { type: 'PersonRegistered', data: registered },
        ...(linked === undefined ? [] : [{ type: 'IdentityLinked', data: linked } as const]),
      ];
    }
    case 'ProveAddress': {
      const { name, passwordHash, ...proof } = command;
      if (state.status !== 'registered') return NOBODY;
      const proven = proveAddress(state, proof);
      if (proven.length === 0) return [];
      const of = { personId, ...whereOf(command) };
      return [
        ...proven,
        ...(name === undefined ? [] : [{ type: 'PersonNamed', data: { ...of, name } } as const]),
        ...(passwordHash === undefined
          ? []
          : [{ type: 'PersonPasswordChanged', data: { ...of, passwordHash } } as const]),
      ];
    }
    case 'LinkIdentity': {
      const { accountId, identity } = command;
      if (state.status === 'registered' && state.provenBy === undefined) {
        return { rejected: 'forbidden', message: UNPROVEN_ADDRESS };
      }
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
      const { tokenHash, passwordHash, memberships = 0, now } = command;
      if (!isResetOffered(state, tokenHash, now)) return { rejected: 'gone', message: RESET_GONE };
      const of = { personId, ...whereOf(command) };
      const isMailed = state.mailedReset?.tokenHash === tokenHash;
      const proven = isMailed ? proveAddress(state, { ...of, provenBy: 'mail', memberships }) : [];
      const data = { ...of, passwordHash, byLink: true } as const;
      return [...proven, { type: 'PersonPasswordChanged', data }];
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
      const { accountId, provenBy, memberships = 0 } = command;
      const proven = proveAddress(state, { personId, accountId, provenBy, memberships });
      return [...proven, { type: 'PersonEmailChanged', data: { personId, accountId, ...changed } }];
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
    case 'ErasePerson': {
      const { unproven } = command;
      if (unproven && state.provenBy !== undefined) return { rejected: 'forbidden' };
      const why = unproven ? { unproven } : {};
      return [{ type: 'PersonErased', data: { personId, ...whereOf(command), ...why } }];
    }
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
    version: 9,
    encode: (state) => state,
    decode: (json) => ({ ...initialState, ...(json as Partial<PersonState>) }),
  },
};
