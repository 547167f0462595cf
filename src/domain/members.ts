/**
 * The people of an account: who belongs to it, and as what. Decided in the account's stream, so that an account keeps an
 * owner whoever removes whom at the same time.
 */
import { UNPROVEN_ADDRESS } from './address-proof.ts';
import type { Decision, Rejection } from './decider.ts';
import type { EventOf } from './events.ts';
import type { SignInRequirement } from './choices.ts';
import type { MembersCommand, MembersEvent } from './member-commands.ts';
import type { Role } from './member-events.ts';

/** The most members of an account, and the most invitations that are open. */
export const MAX_MEMBERS = 200;
export const MAX_INVITATIONS = 50;

/**
 * The person who an account was opened for. The id follows from the account's: so accounts that were opened before there
 * were members have their owner, and the credentials stay in the account's stream.
 */
export const founderOf = (accountId: string): string => accountId.replace(/^acct_/, 'person_');
/** The account that the person would have founded. */
export const homeOf = (personId: string): string => personId.replace(/^person_/, 'acct_');

export interface Member {
  readonly role: Role;
  /** An auditor reads documents, too. */
  readonly documents?: true;
  /** The account's session epoch when the person joined: it tells this membership from an earlier one. */
  readonly since: number;
  /** The session epoch when the person's sessions were last ended: those that were opened before are over. */
  readonly epoch: number;
}

interface Invitation {
  readonly tokenHash: string;
  readonly role: Role;
  readonly documents?: true;
  /** The member whose it is: it ends when they are no owner any more. */
  readonly invitedBy?: string;
  /** Only a mail brought the link: it proves the address. */
  readonly byMail?: true;
  readonly expiresAt: number;
}

export interface People {
  /** By the person's id, in the order in which they joined. */
  readonly members: Readonly<Record<string, Member>>;
  /** By their id: those that are open, and those that have expired, until the next round of `forgetInvitations`. */
  readonly invitations: Readonly<Record<string, Invitation>>;
  /** Those who were removed or have left: a provider does not let them in again, an invitation does. */
  readonly former: Readonly<Record<string, true>>;
  /** Counts what ended sessions, and who joined. */
  readonly sessionEpoch: number;
  readonly signInRequirement: SignInRequirement;
}

export const nobody: People = {
  members: {},
  invitations: {},
  former: {},
  sessionEpoch: 0,
  signInRequirement: 'none',
};

const without = <T>(all: Readonly<Record<string, T>>, id: string): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([each]) => each !== id));

const withDocuments = (documents: boolean | undefined): { readonly documents?: true } =>
  documents === true ? { documents } : {};

/** The account with its founder as its owner. */
export const founded = (accountId: string): Pick<People, 'members'> => ({
  members: { [founderOf(accountId)]: { role: 'owner', since: 0, epoch: 0 } },
});

/** The founder's session epoch, also of one who has left. */
export const founderEpoch = ({ members, sessionEpoch }: People, accountId: string): number =>
  members[founderOf(accountId)]?.epoch ?? sessionEpoch;

/** Ends sessions: of one member, or of all. */
export function endSessions(
  { members, sessionEpoch }: People,
  personId?: string,
): Pick<People, 'members' | 'sessionEpoch'> {
  const epoch = sessionEpoch + 1;
  const ended = Object.entries(members).map(([id, member]): [string, Member] => [
    id,
    personId === undefined || id === personId ? { ...member, epoch } : member,
  ]);
  return { members: Object.fromEntries(ended), sessionEpoch: epoch };
}

export function evolvePeople<State extends People>(state: State, event: MembersEvent): State {
  const { members, invitations } = state;
  switch (event.type) {
    case 'MemberInvited': {
      const { personId, tokenHash, role, documents, invitedBy, byMail, expiresAt } = event.data;
      const by = { ...(invitedBy !== undefined && { invitedBy }), ...(byMail && { byMail }) };
      const invitation = { tokenHash, role, ...withDocuments(documents), ...by, expiresAt };
      return { ...state, invitations: { ...invitations, [personId]: invitation } };
    }
    case 'InvitationRevoked':
      return { ...state, invitations: without(invitations, event.data.personId) };
    case 'MemberJoined': {
      const { personId, invitation, role, documents } = event.data;
      const sessionEpoch = state.sessionEpoch + 1;
      const joined = { since: sessionEpoch, epoch: sessionEpoch };
      return {
        ...state,
        sessionEpoch,
        members: { ...members, [personId]: { role, ...withDocuments(documents), ...joined } },
        former: without(state.former, personId),
        invitations: invitation === undefined ? invitations : without(invitations, invitation),
      };
    }
    case 'MemberChanged': {
      const { personId, role, documents } = event.data;
      const { since = 0, epoch = 0 } = members[personId] ?? {};
      const changed = { role, ...withDocuments(documents), since, epoch };
      return { ...state, members: { ...members, [personId]: changed } };
    }
    case 'MemberRemoved': {
      const { personId, unproven } = event.data;
      // Whoever proved the address may never have been here: the identity provider lets them in.
      const former = unproven ? state.former : ({ ...state.former, [personId]: true } as const);
      return { ...state, members: without(members, personId), former };
    }
    case 'MemberPasswordReset':
    case 'MemberSecondFactorRemoved':
      return state;
    case 'SessionsEnded':
      return { ...state, ...endSessions(state, event.data.personId) };
    case 'SignInPolicyChanged':
      return { ...state, signInRequirement: event.data.require };
  }
}

const LAST_OWNER: Rejection = {
  rejected: 'forbidden',
  message: 'An account keeps at least one owner. Make another member an owner first.',
};
const NOT_OWNER: Rejection = {
  rejected: 'forbidden',
  message: 'Only an owner of the account may change who belongs to it, and how they sign in.',
};
const NO_MEMBER: Rejection = { rejected: 'not_found', message: 'There is no such member.' };
export const INVITATION_GONE =
  'The invitation was used or revoked, or it has expired. Ask for another one.';
const NO_INVITATION: Rejection = { rejected: 'gone', message: INVITATION_GONE };

export const NO_MEMBER_ANY_MORE = 'You do not belong to an account any more.';
const MOST_MEMBERS = `An account has at most ${MAX_MEMBERS} members.`;

const refused = (field: string, message: string): Rejection => ({
  rejected: 'validation_error',
  message,
  details: { [field]: [message] },
});

/** The id and what it stands for of the invitation with the secret, if it is open. */
export const openInvitation = (
  { invitations }: Pick<People, 'invitations'>,
  tokenHash: string,
  now: number,
): (Invitation & { readonly id: string }) | undefined => {
  const found = Object.entries(invitations).find(([, each]) => each.tokenHash === tokenHash);
  return found === undefined || found[1].expiresAt <= now
    ? undefined
    : { id: found[0], ...found[1] };
};

/** Ends what would let somebody back in who was removed: an invitation of their own making. */
const invitationsEnded = (
  { invitations }: People,
  accountId: string,
  invitedBy: string,
): readonly EventOf<'InvitationRevoked'>[] =>
  Object.entries(invitations)
    .filter(([, each]) => each.invitedBy === invitedBy)
    .map(([personId]) => ({ type: 'InvitationRevoked', data: { accountId, personId } }));

const isLastOwner = ({ members }: People, personId: string): boolean =>
  members[personId]?.role === 'owner' &&
  Object.values(members).filter(({ role }) => role === 'owner').length === 1;

/** Why the person cannot be removed from the account, if so. */
export const removalRefused = (state: People, personId: string): Rejection | undefined =>
  isLastOwner(state, personId) ? LAST_OWNER : undefined;

export function decideOnPeople(state: People, command: MembersCommand): Decision<MembersEvent> {
  const { accountId, by } = command;
  const isOwner = by === undefined || state.members[by]?.role === 'owner';
  switch (command.type) {
    case 'InviteMember': {
      const { personId, tokenHash, email, role, documents, byMail, now, expiresAt } = command;
      if (!isOwner) return NOT_OWNER;
      const open = Object.values(state.invitations).filter((each) => each.expiresAt > now);
      if (Object.keys(state.members).length + open.length >= MAX_MEMBERS) {
        return refused('email', `${MOST_MEMBERS} Remove one first.`);
      }
      if (open.length >= MAX_INVITATIONS) {
        const most = `An account has at most ${MAX_INVITATIONS} open invitations.`;
        return refused('email', `${most} Revoke one first.`);
      }
      const right = {
        ...withDocuments(role === 'auditor' && documents),
        ...(by !== undefined && { invitedBy: by }),
        ...(byMail && { byMail }),
      };
      const invited = { accountId, personId, tokenHash, email, role, ...right };
      return [{ type: 'MemberInvited', data: { ...invited, invitedAt: now, expiresAt } }];
    }
    case 'RevokeInvitation': {
      const { personId } = command;
      if (!isOwner) return NOT_OWNER;
      if (state.invitations[personId] === undefined) return NO_MEMBER;
      return [{ type: 'InvitationRevoked', data: { accountId, personId } }];
    }
    case 'JoinAccount': {
      const { personId, isProven, tokenHash, now } = command;
      const invitation = openInvitation(state, tokenHash, now);
      if (invitation === undefined) return NO_INVITATION;
      if (state.members[personId] !== undefined) {
        return refused('invitation', 'You are a member of this account already.');
      }
      const { id, role, documents } = invitation;
      // Without a proof, a handed-over link lets in only whoever it makes a person, and who was here before.
      if (!isProven && personId !== id && !state.former[personId]) {
        return { rejected: 'forbidden', message: UNPROVEN_ADDRESS };
      }
      const joined = { accountId, personId, invitation: id, role, ...withDocuments(documents) };
      return [{ type: 'MemberJoined', data: joined }];
    }
    case 'AdmitMember': {
      const { personId, role } = command;
      if (state.members[personId] !== undefined) return [];
      if (state.former[personId]) return { rejected: 'forbidden', message: NO_MEMBER_ANY_MORE };
      if (Object.keys(state.members).length >= MAX_MEMBERS) {
        return { rejected: 'forbidden', message: `${MOST_MEMBERS} Ask an owner to remove one.` };
      }
      return [{ type: 'MemberJoined', data: { accountId, personId, role } }];
    }
    case 'ChangeMember': {
      const { personId, byProvider } = command;
      const member = state.members[personId];
      if (!isOwner) return NOT_OWNER;
      if (member === undefined) return NO_MEMBER;
      const { role = member.role } = command;
      // Members and owners read documents anyway.
      const { documents: read = false } = member;
      const documents = role === 'auditor' && (command.documents ?? read);
      if (role === member.role && documents === read) return [];
      if (role !== 'owner' && isLastOwner(state, personId)) return LAST_OWNER;
      const right = { role, ...withDocuments(documents), ...(byProvider && { byProvider }) };
      const changed = { accountId, personId, ...right };
      const ended = role === 'owner' ? [] : invitationsEnded(state, accountId, personId);
      return [{ type: 'MemberChanged', data: changed }, ...ended];
    }
    case 'RemoveMember': {
      const { personId, unproven } = command;
      const leaves = by === personId;
      if (!isOwner && !leaves) return NOT_OWNER;
      if (state.members[personId] === undefined) return NO_MEMBER;
      if (isLastOwner(state, personId)) return LAST_OWNER;
      const left = { ...(leaves && { left: true as const }), ...(unproven && { unproven }) };
      const removed = { type: 'MemberRemoved', data: { accountId, personId, ...left } } as const;
      return [removed, ...invitationsEnded(state, accountId, personId)];
    }
    case 'RecordPasswordReset': {
      const { personId, expiresAt } = command;
      if (state.members[personId] === undefined) return [];
      const link = expiresAt === undefined ? {} : { expiresAt };
      return [{ type: 'MemberPasswordReset', data: { accountId, personId, ...link } }];
    }
    case 'RecordSecondFactorRemoval': {
      const { personId } = command;
      if (state.members[personId] === undefined) return [];
      return [{ type: 'MemberSecondFactorRemoved', data: { accountId, personId } }];
    }
    case 'EndSessions': {
      const { personId } = command;
      const whose = personId === undefined ? {} : { personId };
      return [{ type: 'SessionsEnded', data: { accountId, ...whose } }];
    }
    case 'ChangeSignInPolicy': {
      const { require } = command;
      if (!isOwner) return NOT_OWNER;
      if (require === state.signInRequirement) return [];
      return [{ type: 'SignInPolicyChanged', data: { accountId, require } }];
    }
  }
}
