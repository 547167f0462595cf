/** The documents and schemas of the routes of members, invitations and persons. */
import Type from 'typebox';
import { ROLES, SIGN_IN_REQUIREMENTS } from '../../domain/choices.ts';
import { ACCOUNT_ID, PERSON_ID } from '../../domain/ids.ts';
import { compile } from '../../requests/validation.ts';
import { AS_OF } from '../as-of.ts';
import {
  ACCOUNT,
  Closed,
  example,
  Flag,
  OrNull,
  PERSON,
  Text,
  Timestamp,
} from '../openapi/fields.ts';
import type { OperationDoc, ParameterDoc } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems } from '../pagination.ts';

const TOKEN = '06f3k8r1v2w9x4y5z6a7b8c9d0-d2hvIGhvbGRzIHRoaXMgbGluayBtYXkgam9pbiB0aGU';

const LINK = `https://pdf.example.com/invitation#${TOKEN}`;

const PersonId = Type.String({ pattern: `^${PERSON_ID}$`, examples: [PERSON] });
const AccountId = Type.String({ pattern: `^${ACCOUNT_ID}$`, examples: [ACCOUNT] });
const Role = Type.Enum([...ROLES], {
  description: 'owner: everything; member: converts and makes keys of their own; auditor: reads.',
  examples: ['owner'],
});
const Email = Type.String({ minLength: 1, maxLength: 320, examples: ['ada@example.com'] });
const Documents = Flag(
  'true if they may read the text of documents. Auditors may only where an owner granted it.',
  true,
);
const Name = Text(
  'Ada Lovelace',
  'A name of 1 to 100 characters, without control characters, line breaks or marks of text direction.',
);
const KnownEmail = OrNull(Text('ada@example.com', 'null for a person who was erased.'));
const KnownName = OrNull(Text('Ada Lovelace', 'null where none was given.'));

/** One item of `GET /account/members/`. */
export const Member = Closed({
  id: PersonId,
  status: Type.Enum(['active', 'invited'], {
    description: 'invited: the invitation is open, and the person has no rights yet.',
    examples: ['active'],
  }),
  email: KnownEmail,
  name: KnownName,
  role: Role,
  documents: Documents,
  second_factor: Type.Optional(
    Flag(
      'true if they have an authenticator or a passkey. Owners are told of members; absent for others and of invitations.',
      false,
    ),
  ),
  since: Timestamp('The time when the person joined, or was invited.'),
  expires_at: Type.Optional(Timestamp('The time when the invitation ends.')),
});

/** The answer of `POST /account/members/`. */
export const InvitedMember = Closed({
  ...Member.properties,
  link: OrNull(
    Text(
      LINK,
      'The link for the person, to hand over. It is shown only this once. null if the service sends it to the address: nobody else gets it.',
    ),
  ),
  sends_mail: Flag('true if the service sends the link to the address.', true),
});

const InvitationRequest = Closed({ email: Email, role: Role, documents: Type.Optional(Documents) });
const MemberChange = Closed({ role: Type.Optional(Role), documents: Type.Optional(Documents) });
const PersonChange = Closed({ name: Name });
const Acceptance = Closed({
  name: Type.Optional(Name),
  password: Type.Optional(
    Text(
      'correct horse battery',
      'The password to sign in with from now on or, where the address signs in already, its password. With the access token of a session of that person, none is needed.',
      { format: 'password', minLength: 1, maxLength: 1024 },
    ),
  ),
});

/** The answer of `GET /account/person/`. */
export const Person = Closed({
  id: PersonId,
  email: KnownEmail,
  name: KnownName,
  role: Role,
  documents: Documents,
  has_password: Flag('false for somebody who signs in with the identity provider alone.', true),
  operator: Flag(
    'true for an operator of the service: the person whom an account was opened for that is one.',
    false,
  ),
  acts_as_operator: Flag(
    'true if the routes for operators are open to this session: an operator has changed the password that the first start printed.',
    false,
  ),
  lacks: Type.Enum([...SIGN_IN_REQUIREMENTS], {
    description:
      'What the account requires at sign-in and this session has not proved. Until then it may only set up its sign-in. none: nothing.',
    examples: ['none'],
  }),
  accounts: Type.Array(
    Closed({
      id: AccountId,
      name: OrNull(
        Text('office@example.com', 'The address of the person whom the account was opened for.'),
      ),
      role: Role,
      current: Flag('true for the account of the session.', true),
    }),
    { description: 'The accounts that the person can sign in to, their own first.' },
  ),
});

/** The answer of `GET /invitations/{token}/`. */
export const OpenInvitation = Closed({
  account: AccountId,
  account_name: OrNull(Text('office@example.com')),
  email: Email,
  role: Role,
  documents: Documents,
  expires_at: Timestamp('The time when the invitation ends.'),
});

const Accepted = Closed({ id: PersonId, account: AccountId, email: Email, role: Role });

export const checkInvitation = compile(InvitationRequest);
export const checkMemberChange = compile(MemberChange);
export const checkPersonChange = compile(PersonChange);
export const checkAcceptance = compile(Acceptance);

const { expires_at: ends, ...ACTIVE } = example(Member);
const { second_factor: _, ...OF_INVITED } = ACTIVE;
const INVITED = { ...OF_INVITED, status: 'invited', name: null, expires_at: ends };

const LAST_OWNER = 'An account keeps at least one owner. Make another member an owner first.';
const GONE = {
  when: 'The invitation was used or revoked, or it has expired.',
  message: 'The invitation was used or revoked, or it has expired. Ask for another one.',
};

const NOT_A_TOKEN = {
  when: 'The token is not of an invitation.',
  message: 'There is no such invitation.',
};
const IN_PATH: ParameterDoc = {
  name: 'token',
  in: 'path',
  description: 'The token: the part of the link behind #.',
  schema: Text(TOKEN),
};

export const listMembersDoc: OperationDoc = {
  id: 'listMembers',
  tag: 'People',
  summary: 'List members and invitations',
  description: 'Everybody who belongs to the account, and the invitations that are open.',
  parameters: [...PAGE_PARAMETERS, AS_OF],
  answers: {
    200: {
      ...pageOfItems(Member, ['Pressledger-As-Of']),
      examples: { members: [ACTIVE, INVITED] },
    },
  },
};

export const postMemberDoc: OperationDoc = {
  id: 'inviteMember',
  tag: 'People',
  summary: 'Invite a person',
  description:
    'Makes a link by which the holder of the address joins the account. It works once, within 7 days. If the service has a mail server, it sends the link to the address, and to nobody else: at most 20 invitations of an account, and 2 to an address, in a quarter of an hour. Otherwise hand the link over. It does not prove the address then, so nobody can invite somebody who signs in with an address that nobody has proven. Apart from that, the answer does not tell whether the address has a sign-in already. An account has at most 200 members and 50 open invitations.',
  body: { schema: InvitationRequest },
  answers: {
    201: {
      description: 'The invitation, with its link.',
      schema: InvitedMember,
      examples: { invited: { ...INVITED, link: null, sends_mail: true } },
    },
  },
};

export const patchMemberDoc: OperationDoc = {
  id: 'changeMember',
  tag: 'People',
  summary: 'Change a member',
  description:
    'Gives a member another role, or an auditor the right to documents. It holds at once.',
  body: { schema: MemberChange },
  answers: {
    200: {
      description: 'The member, as they are now.',
      schema: Member,
      examples: { member: ACTIVE },
    },
  },
  errors: {
    forbidden: {
      when: 'Only owners may, and an account keeps at least one; or the credential is an API key.',
      message: LAST_OWNER,
    },
  },
};

export const deleteMemberDoc: OperationDoc = {
  id: 'removeMember',
  tag: 'People',
  summary: 'Remove a member, leave or revoke an invitation',
  description:
    'Ends a membership: sessions and API keys of the person in this account end at once, on every node. Owners remove anybody; everybody may leave. With the id of an invitation, it is revoked.',
  answers: { 204: { description: 'The person does not belong to the account. There is no body.' } },
  errors: {
    forbidden: {
      when: 'Only owners may remove others, and an account keeps at least one; the person is the last operator of the service who can act; or the credential is an API key.',
      message: LAST_OWNER,
    },
  },
};

export const getPersonDoc: OperationDoc = {
  id: 'getPerson',
  tag: 'People',
  summary: 'Retrieve the person who is signed in',
  description: 'Who signed in, with which role, and to which accounts they can sign in.',
  answers: { 200: { description: 'The person.', schema: Person } },
};

export const patchPersonDoc: OperationDoc = {
  id: 'renamePerson',
  tag: 'People',
  summary: 'Change your name',
  description: 'The name that members of your accounts see, also in the history.',
  body: { schema: PersonChange },
  answers: { 200: { description: 'The person, as they are now.', schema: Person } },
};

export const getInvitationDoc: OperationDoc = {
  id: 'getInvitation',
  tag: 'People',
  summary: 'Retrieve an invitation',
  description: 'What the link of an invitation is for. The token in it is the credential.',
  parameters: [IN_PATH],
  answers: { 200: { description: 'The invitation.', schema: OpenInvitation } },
  errors: { gone: GONE, not_found: NOT_A_TOKEN },
};

export const acceptInvitationDoc: OperationDoc = {
  id: 'acceptInvitation',
  tag: 'People',
  summary: 'Accept an invitation',
  description:
    'The person joins the account. A new address gets the password that is given; an address that signs in already has to prove it, by its password or by an access token of the person, which needs neither name nor password and may be of a sign-in with the identity provider. If nobody has proven that address before and the link was mailed, the link does: name and password replace what was there, and passkeys, second factor, sessions and other memberships end. It opens no session: sign in afterwards.',
  parameters: [IN_PATH],
  body: { schema: Acceptance },
  answers: { 200: { description: 'The person belongs to the account.', schema: Accepted } },
  errors: {
    unauthorized: {
      when: 'The password is not that of the address, or the access token is wrong or has expired.',
      message:
        'The password is wrong. This address signs in to the service already: give the password that it has.',
    },
    forbidden: {
      when: 'The access token is of somebody else. Or nobody has proven the address, and this link does not, or it would end the session.',
      message:
        'The invitation is for another address than that of the session. Sign out, and open the link again.',
    },
    gone: GONE,
    not_found: NOT_A_TOKEN,
    rate_limit_exceeded:
      'The rate limit was exceeded, or there were too many failed sign-ins in 15 minutes.',
  },
};
