import { apiKeyQueries } from '../../projections/api-keys.ts';
import { createApiKey, revokeApiKey } from '../use-cases/api-keys.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { isoTime } from '../clock.ts';
import { ACCOUNT, accountByEmail } from './account.ts';
import { type Command, requiredOption } from './command.ts';

const PAGE = 500;

export const keyCreate: Command = {
  name: 'key create',
  usage: 'EMAIL --name NAME',
  summary: 'Make an API key; the full key is shown only now.',
  positionals: { EMAIL: ACCOUNT },
  options: { name: { value: 'name', help: 'a label to tell the key by' } },
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
      output.line(`${made.id}  ${made.name}`);
      output.line(`Key (shown only now): ${made.key}`);
    });
  },
};

export const keyList: Command = {
  name: 'key list',
  usage: 'EMAIL',
  summary: 'List the keys of an account that are not revoked, newest first.',
  positionals: { EMAIL: ACCOUNT },
  options: {},
  run: async ({ positionals: [email = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      const { id: accountId } = await accountByEmail(core, email);
      await core.caughtUp();
      const keys: object[] = [];
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
          const used = key.last_used_at === null ? 'never used' : `last used ${key.last_used_at}`;
          output.line([key.id, `${key.prefix}…`, key.name, used].join('  '));
        }
        if (rows.length < PAGE) break;
      }
      output.json(keys);
      if (keys.length === 0) output.line(`${email} has no API key.`);
    });
  },
};

export const keyRevoke: Command = {
  name: 'key revoke',
  usage: 'ID',
  summary: 'Revoke an API key for good; its next request is refused on every node.',
  positionals: { ID: "the key's id, as 'key list' shows it" },
  options: {},
  run: async ({ positionals: [id = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      await revokeApiKey(core, id, undefined, operatorContext(core.clock));
      output.json({ id });
      output.line(`${id} is revoked.`);
    });
  },
};
