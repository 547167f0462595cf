/** What may be asked of a person, and the events that `person.ts` makes of it. */
import type { FirstProof } from './address-proof.ts';
import type { AddressProof, OptionalMail } from './choices.ts';
import type { EventOf } from './events.ts';
import type { PasskeyCommand, PasskeyEvent } from './passkeys.ts';
import type { SecondFactorCommand, SecondFactorEvent } from './second-factor.ts';
import type { OfferedAddress, UsedLink } from './sign-in-address.ts';
import type { OfferedReset } from './standing.ts';

export type PersonEvent =
  | PasskeyEvent
  | SecondFactorEvent
  | EventOf<
      | 'PersonRegistered'
      | 'PersonAddressProven'
      | 'PersonNamed'
      | 'IdentityLinked'
      | 'PersonResetOffered'
      | 'PersonPasswordChanged'
      | 'PersonEmailOffered'
      | 'PersonEmailChanged'
      | 'PersonMailsChanged'
      | 'PersonErased'
    >;

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
      /** Absent: the link was handed over. */
      readonly provenBy?: AddressProof;
    }
  | ({
      readonly type: 'ProveAddress';
      /** The credentials of the person who has proven it, if they choose some. */
      readonly name?: string;
      readonly passwordHash?: string;
    } & Omit<FirstProof, 'personId'>)
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
  | ({
      readonly type: 'ChangePersonEmail';
      readonly accountId: string;
      /** As for `ResetPersonPassword`. */
      readonly memberships?: number;
    } & UsedLink)
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
      /** The number of memberships that were ended, where the link is the first proof of the address. */
      readonly memberships?: number;
      readonly now: number;
    }
  | {
      readonly type: 'ErasePerson';
      readonly accountId?: string;
      /** The address is proven for somebody else: refused where it is proven for the person. */
      readonly unproven?: true;
    }
);
