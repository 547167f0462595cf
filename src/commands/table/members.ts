/** The commands that manage the people of accounts. */
import { ROLES } from '../../domain/choices.ts';
import type { Command } from '../command.ts';
import { ACCOUNT, HEADER } from '../options.ts';

const ROLE = { value: 'role', help: ROLES.join(', '), choices: ROLES };
const DOCUMENTS = { help: 'an auditor may read documents' };
const ID = "the id of the member or invitation, as 'members list' shows it";
const ONE = 'person_01jd3v3p8z6s2q4w9x7y5t1r0k';

export const MEMBERS: readonly Command[] = [
  {
    name: 'members list',
    summary: 'List the people of any account on this machine, and the invitations that are open.',
    examples: ['members list ann@example.com'],
    positionals: { account: ACCOUNT },
    options: { header: HEADER },
    run: async (...given) => (await import('../members.ts')).membersList(...given),
  },
  {
    name: 'members invite',
    summary: 'Make a link by which a person joins the account. A service with mail sends it, too.',
    examples: ['members invite ann@example.com bob@example.com --role auditor --documents'],
    positionals: { account: ACCOUNT, address: 'the address of the person to invite' },
    options: { role: { ...ROLE, needed: true }, documents: DOCUMENTS },
    run: async (...given) => (await import('../members.ts')).membersInvite(...given),
  },
  {
    name: 'members change',
    summary: 'Give a member another role, or an auditor the right to documents.',
    examples: [
      `members change ann@example.com ${ONE} --role owner`,
      `members change ann@example.com ${ONE} --no-documents`,
    ],
    positionals: { account: ACCOUNT, id: ID },
    options: {
      role: ROLE,
      documents: DOCUMENTS,
      'no-documents': { help: 'an auditor may not' },
    },
    run: async (...given) => (await import('../members.ts')).membersChange(...given),
  },
  {
    name: 'members remove',
    summary:
      'Remove a member, whose sessions and keys of the account end, or revoke an invitation.',
    examples: [`members remove ann@example.com ${ONE}`],
    positionals: { account: ACCOUNT, id: ID },
    run: async (...given) => (await import('../members.ts')).membersRemove(...given),
  },
  {
    name: 'members erase',
    summary:
      'Erase a person for good, but no account; asks for the address again, unless --yes is given.',
    examples: ['members erase bob@example.com --yes'],
    positionals: { address: 'the sign-in address of the person' },
    options: { yes: { help: 'do not ask' } },
    run: async (...given) => (await import('../members.ts')).membersErase(...given),
  },
];
