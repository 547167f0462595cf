/** The rules that the people of an account keep: nobody gets in without an invitation or by the identity provider, and an owner stays. */
import type { AccountEvent, AccountState } from '../../domain/account.ts';
import type { Member } from '../../domain/members.ts';
import { Broken } from './difference.ts';

type People = Pick<AccountState, 'members' | 'invitations'>;

/**
 * @param before the people before the event
 * @param after those after it
 * @throws {Broken}
 */
export function checkPeople(before: People, { type, data }: AccountEvent, after: People): void {
  if (type === 'MemberJoined') {
    const { personId, invitation, role, documents } = data;
    const open: Pick<Member, 'role' | 'documents'> | undefined =
      invitation === undefined ? { role } : before.invitations[invitation];
    if (open?.role !== role || open.documents !== documents) {
      throw new Broken(`an open invitation as ${role} before it`, open?.role ?? 'none');
    }
    if (before.members[personId]) throw new Broken('somebody who is no member', 'a member');
  } else if (type === 'InvitationRevoked') {
    if (before.invitations[data.personId]) return;
    throw new Broken('an open invitation before it', 'none');
  } else if (type === 'MemberChanged' || type === 'MemberRemoved') {
    if (before.members[data.personId] === undefined) throw new Broken('a member', 'nobody');
    if (Object.values(after.members).some(({ role }) => role === 'owner')) return;
    throw new Broken('an owner of the account after it', 'none');
  }
}
