/** API keys: of any account on this machine, and of the account at a service. */
import type { PressledgerClient } from '../../client/src/client.ts';
import type { ApiKey, KeyBounds } from '../../client/src/types.ts';
import { KEY_SCOPES } from '../domain/choices.ts';
import { dayIn, isoTime, timeIn } from '../time/clock.ts';
import { momentOption, pastOf } from './as-of.ts';
import {
  type CommandContext,
  choiceOf,
  type Invocation,
  listOption,
  type Run,
  requiredOption,
  textOption,
  UsageError,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { numberOf } from './flag-values.ts';
import { reasonQuery } from './on-account.ts';
import { limitOf, serviceOf, take } from './service.ts';

type Use = (client: PressledgerClient) => Promise<void>;

/** The client of the account that signs in with the first argument. */
const ofAccount = ({ positionals: [email = ''] }: Invocation, { open }: CommandContext, use: Use) =>
  open.withOperator(async (api) => await use(api.as((await api.account(email)).id)));

const ofService = async (invocation: Invocation, context: CommandContext, use: Use) =>
  await use((await serviceOf(invocation, context)).client);

/** @throws {UsageError} */
function boundsOf(invocation: Invocation): KeyBounds {
  const scopes = listOption(invocation, 'scope').map((text) => {
    const scope = choiceOf(text, KEY_SCOPES);
    if (scope !== undefined) return scope;
    throw new UsageError(`--scope must be one of ${KEY_SCOPES.join(', ')}, not ${text}.`);
  });
  const addresses = [...listOption(invocation, 'address')];
  const expires = textOption(invocation, 'expires');
  const time = expires === undefined ? undefined : (dayIn(expires) ?? timeIn(expires));
  if (expires !== undefined && time === undefined) {
    throw new UsageError(
      '--expires must be a day in UTC or a time with its offset, such as 2027-06-30 or 2027-06-30T12:00:00Z.',
    );
  }
  const rate = textOption(invocation, 'rate-limit');
  const credits = textOption(invocation, 'credit-limit');
  return {
    ...(scopes.length > 0 && { scopes }),
    ...(time !== undefined && { expires_at: isoTime(time) }),
    ...(addresses.length > 0 && { addresses }),
    ...(rate !== undefined && { rate_limit: numberOf(rate, 'rate-limit') }),
    ...(credits !== undefined && { credit_limit: numberOf(credits, 'credit-limit') }),
    ...(invocation.values['test'] === true && { test: true }),
  };
}

function creating(invocation: Invocation, { output }: CommandContext): Use {
  const name = requiredOption(invocation, 'name');
  const bounds = boundsOf(invocation);
  return async (client) => {
    const made = await client.createKey(name, bounds);
    output.json(made);
    output.line(`Created ${made.id}, "${made.name}".`);
    output.line(`Key (shown only now): ${made.key}`);
  };
}

/** The requests a minute and the credits a month, where the key is bound to some. */
const limitsIn = ({ rate_limit, credit_limit }: ApiKey): string =>
  [
    ...(rate_limit === undefined ? [] : [`${rate_limit}/min`]),
    ...(credit_limit === undefined ? [] : [`${counted(credit_limit, 'credit')}/month`]),
  ].join(', ');

const listing =
  (invocation: Invocation, { output }: CommandContext, limit: number): Use =>
  async (client) => {
    const past = pastOf(invocation);
    const keys = await take(limit, (query) => client.keys({ ...query, ...past }));
    output.json(keys);
    output.table(
      ['ID', 'PREFIX', 'CREATED', 'LAST USED', 'EXPIRES', 'SCOPES', 'LIMITS', 'ADDRESSES', 'NAME'],
      keys.map((key) => [
        key.id,
        key.prefix,
        new Date(key.created_at),
        key.last_used_at === null ? undefined : new Date(key.last_used_at),
        key.expires_at === undefined ? undefined : new Date(key.expires_at),
        key.scopes?.join(',') ?? 'all',
        limitsIn(key),
        key.addresses?.join(','),
        key.name,
      ]),
      'There is no API key.',
    );
  };

function tellRevoked({ output }: CommandContext, id: string): void {
  output.json({ id });
  output.line(`${id} is revoked.`);
}

export const keyCreate: Run = (invocation, context) =>
  ofAccount(invocation, context, creating(invocation, context));

export const keysCreate: Run = (invocation, context) =>
  ofService(invocation, context, creating(invocation, context));

export const keyList: Run = async (invocation, context) => {
  momentOption(invocation);
  await ofAccount(invocation, context, listing(invocation, context, Infinity));
};

export const keysList: Run = (invocation, context) =>
  ofService(invocation, context, listing(invocation, context, limitOf(invocation)));

export const keyRevoke: Run = async (invocation, context) => {
  const [id = ''] = invocation.positionals;
  const path = `/operator/api-keys/${encodeURIComponent(id)}/${reasonQuery(invocation)}`;
  await context.open.withOperator(async (api) => await api.delete(path));
  tellRevoked(context, id);
};

export const keysRevoke: Run = (invocation, context) =>
  ofService(invocation, context, async (client) => {
    const [id = ''] = invocation.positionals;
    await client.revokeKey(id);
    tellRevoked(context, id);
  });
