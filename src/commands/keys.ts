/** The API keys of the account at a service. */
import { AS_OF, pastOf } from './as-of.ts';
import { type Command, requiredOption } from './command.ts';
import { tellKeys, tellNewKey } from './key.ts';
import { LIMIT, limitOf, SERVICE_OPTIONS, serviceOf, take } from './service.ts';

export const keysList: Command = {
  name: 'keys list',
  usage: '',
  summary: 'List the valid API keys of your own account at a service, newest first.',
  examples: ['keys list'],
  positionals: {},
  options: { limit: LIMIT, 'as-of': AS_OF, ...SERVICE_OPTIONS },
  run: async (invocation, context) => {
    const limit = limitOf(invocation);
    const { client } = await serviceOf(invocation, context);
    const keys = await take(limit, (query) => client.keys({ ...query, ...pastOf(invocation) }));
    tellKeys(context.output, keys);
  },
};

export const keysCreate: Command = {
  name: 'keys create',
  usage: '--name <name>',
  summary: 'Create an API key for your own account at a service; the full key is shown only now.',
  examples: ["keys create --name 'build server'"],
  positionals: {},
  options: { name: { value: 'name', help: 'a label for the key' }, ...SERVICE_OPTIONS },
  run: async (invocation, context) => {
    const name = requiredOption(invocation, 'name');
    const { client } = await serviceOf(invocation, context);
    tellNewKey(context.output, await client.createKey(name));
  },
};

export const keysRevoke: Command = {
  name: 'keys revoke',
  usage: '<id>',
  summary: 'Revoke an API key of your own account at a service. This cannot be undone.',
  examples: ['keys revoke key_01jd3v3p8z6s2q4w9x7y5t1r0k'],
  positionals: { id: "the key's id, as 'keys list' shows it" },
  options: SERVICE_OPTIONS,
  run: async (invocation, context) => {
    const [id = ''] = invocation.positionals;
    const { client } = await serviceOf(invocation, context);
    await client.revokeKey(id);
    context.output.json({ id });
    context.output.line(`${id} is revoked.`);
  },
};
