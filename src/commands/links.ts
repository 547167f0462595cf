/** Links by which anybody can download the file of a conversion, at a service. */
import { type Run, textOption, UsageError } from './command.ts';
import { idOf } from './conversions.ts';
import { numberOf } from './flag-values.ts';
import { dateOf, limitOf, serviceOf, take } from './service.ts';

export const conversionsShare: Run = async (invocation, context) => {
  const seconds = textOption(invocation, 'expires-in');
  const expiresIn = seconds === undefined ? undefined : numberOf(seconds, 'expires-in');
  if (expiresIn !== undefined && !(Number.isInteger(expiresIn) && expiresIn > 0)) {
    throw new UsageError('--expires-in is a whole number of seconds, from 1.');
  }
  const id = idOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const made = await client.links.create(id, expiresIn === undefined ? {} : { expiresIn });
  context.output.json(made);
  context.output.line(`Anybody can download ${id} with this link until ${made.expires_at}:`);
  context.output.line(made.url);
};

export const conversionsLinks: Run = async (invocation, context) => {
  const limit = limitOf(invocation);
  const id = idOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const found = await take(limit, (query) => client.links.all(id, query));
  context.output.json(found);
  context.output.table(
    ['ID', 'CREATED', 'EXPIRES', 'DOWNLOADS', 'LAST DOWNLOAD'],
    found.map((each) => [
      each.id,
      dateOf(each.created_at),
      dateOf(each.expires_at),
      each.downloads,
      dateOf(each.last_downloaded_at),
    ]),
    'There is no link to the file.',
  );
};

export const conversionsUnshare: Run = async (invocation, context) => {
  const [conversion = '', link = ''] = invocation.positionals;
  const id = idOf({ positionals: [conversion] });
  const { client } = await serviceOf(invocation, context);
  await client.links.revoke(id, link);
  context.output.json({ id: link });
  context.output.line(`${link} is revoked: nobody can download ${id} with it.`);
};
