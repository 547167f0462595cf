/** What may be asked of the people of an account, and the events that `members.ts` makes of it. */
import type { SignInRequirement } from './choices.ts';
import type { EventOf } from './events.ts';
import type { Role } from './member-events.ts';

export type MembersEvent = EventOf<
  | 'MemberInvited'
  | 'InvitationRevoked'
  | 'MemberJoined'
  | 'MemberChanged'
  | 'MemberRemoved'
  | 'MemberPasswordReset'
  | 'SessionsEnded'
  | 'SignInPolicyChanged'
  | 'MemberSecondFactorRemoved'
>;

/** `by`: the person who asks; absent for the operator. Whether they may is decided with it. */
interface By {
  readonly accountId: string;
  readonly by?: string;
}

export type MembersCommand = By &
  (
    | {
        readonly type: 'InviteMember';
        readonly personId: string;
        readonly tokenHash: string;
        /** Sealed. */
        readonly email: string;
        readonly role: Role;
        readonly documents?: boolean;
        /** The service sends the link to the address. */
        readonly byMail: boolean;
        readonly now: number;
        readonly expiresAt: number;
      }
    | { readonly type: 'RevokeInvitation'; readonly personId: string }
    | {
        readonly type: 'JoinAccount';
        readonly personId: string;
        /** Something proves that the address is the person's. */
        readonly isProven: boolean;
        readonly tokenHash: string;
        readonly now: number;
      }
    /** The identity provider lets the person in. */
    | { readonly type: 'AdmitMember'; readonly personId: string; readonly role: Role }
    | {
        readonly type: 'ChangeMember';
        readonly personId: string;
        readonly role?: Role;
        readonly documents?: boolean;
        /** The identity provider says so. */
        readonly byProvider?: true;
      }
    | {
        readonly type: 'RemoveMember';
        readonly personId: string;
        /** The first proof of the person's address ends it. */
        readonly unproven?: true;
      }
    /** The operator's. With a time: that until which a link may be used. */
    | {
        readonly type: 'RecordPasswordReset';
        readonly personId: string;
        readonly expiresAt?: number;
      }
    | { readonly type: 'RecordSecondFactorRemoval'; readonly personId: string }
    /** Without a person: of all who belong to the account. */
    | { readonly type: 'EndSessions'; readonly personId?: string }
    | { readonly type: 'ChangeSignInPolicy'; readonly require: SignInRequirement }
  );
