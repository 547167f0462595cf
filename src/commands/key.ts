import { ACCOUNT } from './account.ts';
import { AS_OF, momentOption, pastOf } from './as-of.ts';
import { type Command, type Output, requiredOption } from './command.ts';
import { type ApiKey, type NewApiKey, take } from './service.ts';

export function tellNewKey(output: Output, made: NewApiKey): void {
  output.json(made);
  output.line(`Created ${made.id}, '${made.name}'.`);
  output.line(`Key (shown only now): ${made.key}`);
}

/** The keys of an account, as the API lists them. */
export function tellKeys(output: Output, keys: readonly ApiKey[]): void {
  output.json(keys);
  output.table(
    ['ID', 'PREFIX', 'CREATED', 'LAST USED', 'NAME'],
    keys.map(({ id, prefix, created_at, last_used_at, name }) => [
      id,
      prefix,
      new Date(created_at),
      last_used_at === null ? undefined : new Date(last_used_at),
      name,
    ]),
    'There is no API key.',
  );
}

export const keyCreate: Command = {
  name: 'key create',
  usage: '<email> --name <name>',
  summary: 'Create an API key for any account on this machine; the full key is shown only now.',
  examples: ["key create ann@example.com --name 'build server'"],
  positionals: { email: ACCOUNT },
  options: { name: { value: 'name', help: 'a label for the key' } },
  run: async (invocation, { withOperator, output }) => {
    const [email = ''] = invocation.positionals;
    const name = requiredOption(invocation, 'name');
    await withOperator(async (api) => {
      const { id: accountId } = await api.account(email);
      tellNewKey(output, await api.as(accountId).createKey(name));
    });
  },
};

export const keyList: Command = {
  name: 'key list',
  usage: '<email>',
  summary: 'List the valid API keys of any account on this machine, newest first.',
  examples: ['key list ann@example.com', 'key list ann@example.com --as-of 2026-11-21T08:15:30Z'],
  positionals: { email: ACCOUNT },
  options: { 'as-of': AS_OF },
  run: async (invocation, { withOperator, output }) => {
    const [email = ''] = invocation.positionals;
    momentOption(invocation);
    await withOperator(async (api) => {
      const { id: accountId } = await api.account(email);
      const past = pastOf(invocation);
      tellKeys(
        output,
        await take(Infinity, (query) => api.as(accountId).keys({ ...query, ...past })),
      );
    });
  },
};

export const keyRevoke: Command = {
  name: 'key revoke',
  usage: '<id>',
  summary: 'Revoke an API key of any account on this machine. This cannot be undone.',
  examples: ['key revoke key_01jd3v3p8z6s2q4w9x7y5t1r0k'],
  positionals: { id: "the key's id, as 'key list' shows it" },
  options: {},
  run: async ({ positionals: [id = ''] }, { withOperator, output }) => {
    await withOperator(async (api) => {
      await api.as().revokeKey(id);
      output.json({ id });
      output.line(`${id} is revoked.`);
    });
  },
};
