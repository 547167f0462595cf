/** The people of any account on this machine, as the operator manages them. */
import type { PressledgerClient } from '../../client/src/client.ts';
import { ROLES } from '../domain/choices.ts';
import {
  type CommandContext,
  choiceOf,
  type Invocation,
  type Run,
  textOption,
  UsageError,
} from './command.ts';
import { onAccount } from './on-account.ts';
import { ask } from './output.ts';
import { take } from './service.ts';

type Role = (typeof ROLES)[number];

/** @throws {UsageError} */
function roleOf(invocation: Invocation): Role | undefined {
  const given = textOption(invocation, 'role');
  const role = given === undefined ? undefined : choiceOf(given, ROLES);
  if (given !== undefined && role === undefined) {
    throw new UsageError(`--role must be one of ${ROLES.join(', ')}, not ${given}.`);
  }
  return role;
}

/** @throws {UsageError} */
function documentsOf({ values }: Invocation): { readonly documents?: boolean } {
  const [yes, no] = [values['documents'] === true, values['no-documents'] === true];
  if (yes && no) throw new UsageError('Give --documents or --no-documents, not both.');
  return yes || no ? { documents: yes } : {};
}

/** Acts as a client of the account that signs in with the first argument. */
const ofAccount = (
  invocation: Invocation,
  context: CommandContext,
  act: (client: PressledgerClient) => Promise<void>,
): Promise<void> => onAccount(invocation, context, (api, id) => act(api.as(id)));

export const membersList: Run = (invocation, context) =>
  ofAccount(invocation, context, async (client) => {
    const members = await take(Infinity, (query) => client.members.all(query));
    context.output.json(members);
    context.output.table(
      ['ID', 'ROLE', 'DOCUMENTS', 'STATUS', 'SINCE', 'NAME', 'ADDRESS'],
      members.map(({ id, role, documents, status, since, name, email }) => [
        id,
        role,
        documents ? 'yes' : 'no',
        status,
        new Date(since),
        name ?? undefined,
        email ?? undefined,
      ]),
      'Nobody belongs to the account.',
    );
  });

export const membersInvite: Run = async (invocation, context) => {
  const role = roleOf(invocation);
  if (role === undefined) throw new UsageError('--role is needed.');
  const documents = documentsOf(invocation);
  const [, email = ''] = invocation.positionals;
  await ofAccount(invocation, context, async (client) => {
    const invited = await client.members.invite({ email, role, ...documents });
    context.output.json(invited);
    context.output.line(`Invited ${email} as ${role}, until ${invited.expires_at}.`);
    context.output.line(
      invited.link === null
        ? 'The service sends the link to that address, and shows it to nobody else.'
        : `Link (shown only now): ${invited.link}`,
    );
  });
};

export const membersChange: Run = async (invocation, context) => {
  const role = roleOf(invocation);
  const documents = documentsOf(invocation);
  if (role === undefined && documents.documents === undefined) {
    throw new UsageError('Give --role, --documents or --no-documents.');
  }
  const [, id = ''] = invocation.positionals;
  await ofAccount(invocation, context, async (client) => {
    const member = await client.members.change(id, { ...(role && { role }), ...documents });
    context.output.json(member);
    const texts = member.documents ? 'may read documents' : 'may not read documents';
    context.output.line(`${id} is ${member.role} now, and ${texts}.`);
  });
};

export const membersRemove: Run = (invocation, context) =>
  ofAccount(invocation, context, async (client) => {
    const [, id = ''] = invocation.positionals;
    await client.members.remove(id);
    context.output.json({ id });
    context.output.line(`${id} does not belong to the account any more.`);
  });

export const membersErase: Run = async (
  { positionals: [given = ''], values },
  { open, output },
) => {
  await open.withOperator(async (api) => {
    if (values['yes'] !== true) {
      const typed = await ask(`Erase the person who signs in with ${given}? Type the address: `, {
        hidden: false,
        cancelled: 'Nobody was erased.',
      });
      if (typed.trim() !== given) throw new Error('That is another address. Nobody was erased.');
    }
    const path = `/operator/people/${encodeURIComponent(given)}/erase/`;
    const { id } = await api.post<{ readonly id: string }>(path);
    output.json({ id, email: given, erased: true });
    output.line(`Erased ${id}: nobody can read the name and address any more.`);
  });
};
