import { apiKeyQueries, apiKeys } from '../../projections/api-keys.ts';
import { createApiKey, revokeApiKey } from '../use-cases/api-keys.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { isoTime } from '../clock.ts';
import { apiKeyRecord } from '../use-cases/records.ts';
import { everyRow } from '../use-cases/state.ts';
import { ACCOUNT, accountByEmail } from './account.ts';
import { AS_OF, momentOption, readAsOf } from './as-of.ts';
import { type Command, type Output, requiredOption } from './command.ts';
import type { ApiKey } from './service.ts';

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
  summary: 'List the valid API keys of any account on this machine, newest first.',
  examples: ['key list ann@example.com', 'key list ann@example.com --as-of 2026-11-21T08:15:30Z'],
  positionals: { email: ACCOUNT },
  options: { 'as-of': AS_OF },
  run: async (invocation, { withCore, output }) => {
    const [email = ''] = invocation.positionals;
    momentOption(invocation);
    await withCore(async (core) => {
      const moment = momentOption(invocation, await core.store.head());
      const { id: accountId } = await accountByEmail(core, email);
      const view = { accountId, projection: apiKeys, queries: apiKeyQueries };
      const rows = await readAsOf(core, moment, view, (queries) => [
        ...everyRow((page) => queries.page(accountId, page).rows),
      ]);
      tellKeys(output, await Promise.all(rows.map((row) => apiKeyRecord(core.vault, row))));
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
  run: async ({ positionals: [id = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      await revokeApiKey(core, id, undefined, operatorContext(core.clock));
      output.json({ id });
      output.line(`${id} is revoked.`);
    });
  },
};
