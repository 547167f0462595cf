import { apiKeyQueries } from '../../projections/api-keys.ts';
import { createApiKey, revokeApiKey } from '../use-cases/api-keys.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { isoTime } from '../clock.ts';
import { ACCOUNT, accountByEmail } from './account.ts';
import { type Command, type Output, requiredOption } from './command.ts';
import type { ApiKey } from './service.ts';

const PAGE = 500;

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
  summary: 'Create an API key for an account; the full key is shown only now.',
  examples: ["key create ann@example.com --name 'build server'"],
  positionals: { email: ACCOUNT },
  options: { name: { value: 'name', help: 'a label for the key' } },
  run: async (invocation, { withCore, output }) => {
    const [email = ''] = invocation.positionals;
    const name = requiredOption(invocation, 'name');
    await withCore(async (core) => {
      const { id: accountId } = await accountByEmail(core, email);
      const made = await createApiKey(core, accountId, name, operatorContext(core.clock));
      output.json({
        id: made.id,
        name: made.name,
        key: made.key,
        created_at: isoTime(made.createdAt),
      });
      output.line(`Created ${made.id}, '${made.name}'.`);
      output.line(`Key (shown only now): ${made.key}`);
    });
  },
};

export const keyList: Command = {
  name: 'key list',
  usage: '<email>',
  summary: 'List the API keys of an account that are valid, newest first.',
  examples: ['key list ann@example.com'],
  positionals: { email: ACCOUNT },
  options: {},
  run: async ({ positionals: [email = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      const { id: accountId } = await accountByEmail(core, email);
      await core.caughtUp();
      const keys: ApiKey[] = [];
      for (let offset = 0; ; offset += PAGE) {
        const { rows } = core.readModel
          .query(apiKeyQueries)
          .page(accountId, { offset, limit: PAGE });
        for (const row of rows) {
          const key = {
            id: row.id,
            name: await core.vault.unseal(accountId, row.name),
            prefix: row.prefix,
            created_at: isoTime(row.createdAt),
            last_used_at: row.lastUsedAt === undefined ? null : isoTime(row.lastUsedAt),
          };
          keys.push(key);
        }
        if (rows.length < PAGE) break;
      }
      tellKeys(output, keys);
    });
  },
};

export const keyRevoke: Command = {
  name: 'key revoke',
  usage: '<id>',
  summary: 'Revoke an API key. This cannot be undone; the next request with it is refused.',
  examples: ['key revoke key_01jd3v3p8z6s2q4w9x7y5t1r0k'],
  positionals: { id: "the key's id, as 'key list' shows it" },
  options: {},
  run: async ({ positionals: [id = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      await revokeApiKey(core, id, undefined, operatorContext(core.clock));
      output.json({ id });
      output.line(`${id} is revoked.`);
    });
  },
};
