/** Making and revoking API keys: only a key's hash is kept, and its id follows from it. */
import { type ApiKeyFilter, apiKeyQueries } from '../../projections/api-keys.ts';
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { apiKeyAggregate } from '../domain/api-key.ts';
import { founderOf } from '../domain/members.ts';
import { ServiceError } from '../errors/errors.ts';
import { BudgetExceeded, type Budgets } from '../limits/budgets.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { isBlank, plainText } from '../text/plain-text.ts';
import { assertWithin, type OpenRights, sealRights } from './key-rights.ts';
import { apiKeyDigest, apiKeyIdOf, newCommandId, randomAlphanumeric } from '../time/ids.ts';

const PREFIXES = { live: 'pk_live_', test: 'pk_test_' };
const RANDOM_CHARACTERS = 24;
const SHOWN_CHARACTERS = 12;
const MAX_NAME_CHARACTERS = 100;
/** Waiting frees no key: a client that tries again by itself should rather tell its user. */
const RETRY_SECONDS = 3600;

export interface ApiKeyDependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly vault: Vault;
  readonly budgets: Budgets;
}

export interface CreatedKey {
  readonly id: string;
  readonly name: string;
  /** The only time the full key is seen. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

const wrongName = (text: string): ServiceError =>
  new ServiceError('validation_error', text, { details: { name: [text] } });

/** @throws {ServiceError} `validation_error` */
function nameFrom(given: string): string {
  const name = given.trim();
  if (isBlank(name) || Array.from(name).length > MAX_NAME_CHARACTERS) {
    throw wrongName(`A name has 1 to ${MAX_NAME_CHARACTERS} characters, and is not blank.`);
  }
  // Lists of keys show it, on terminals too.
  if (plainText(name) !== name) {
    throw wrongName('A name has no control characters, line breaks or marks of text direction.');
  }
  return name;
}

function tooMany({ budgets }: ApiKeyDependencies): BudgetExceeded {
  const budget = budgets.get('maxAccountKeys');
  budget.refuse();
  const text = `An account has at most ${budget.limit} API keys. Revoke one that is not needed first.`;
  return new BudgetExceeded('client', text, RETRY_SECONDS);
}

/**
 * @param rights those of the new key: all, unless they are bounded
 * @param maker those of the key that asks for it, if one does
 * @throws {ServiceError} `validation_error` where the name is not 1 to 100 plain characters after trimming;
 *   `forbidden` where the key would have more rights than its maker
 * @throws {BudgetExceeded} the account has as many keys as it may have
 */
export async function createApiKey(
  deps: ApiKeyDependencies,
  accountId: string,
  givenName: string,
  context: CommandContext,
  { rights = {}, maker }: { readonly rights?: OpenRights; readonly maker?: OpenRights } = {},
): Promise<CreatedKey> {
  if (maker !== undefined) assertWithin(maker, rights);
  const name = nameFrom(givenName);
  const { limit } = deps.budgets.get('maxAccountKeys');
  const createdAt = context.metadata.time;
  const before = await consistentQuery(deps, apiKeyQueries);
  if (before.inForce(accountId, createdAt) >= limit) throw tooMany(deps);
  const key = PREFIXES[rights.isTest ? 'test' : 'live'] + randomAlphanumeric(RANDOM_CHARACTERS);
  const digest = apiKeyDigest(key);
  const id = apiKeyIdOf(digest);
  await deps.actors.send(
    apiKeyAggregate,
    id,
    {
      type: 'CreateKey',
      accountId,
      keyId: id,
      keyHash: digest.toString('hex'),
      prefix: key.slice(0, SHOWN_CHARACTERS),
      name: await deps.vault.seal(accountId, name),
      rights: await sealRights(deps.vault, accountId, rights),
      ...(await membershipOf(deps, accountId, context)),
      now: createdAt,
    },
    context,
  );
  // Others may have been made since it was asked: of all that are in the log, the oldest stay.
  const after = await consistentQuery(deps, apiKeyQueries);
  if (after.inForce(accountId, createdAt, id) > limit) {
    // A command of its own, or its event would have the id of the event that made the key.
    const revocation = { ...context, commandId: newCommandId(createdAt) };
    await revokeApiKey(deps, id, { accountId }, revocation);
    throw tooMany(deps);
  }
  return { id, name, key, createdAt };
}

/**
 * The member whose key it becomes: who asks or, for the operator, the account's owner who has belonged to it longest. The
 * first membership of the founder goes without saying.
 * @throws {ServiceError} `unauthorized` where they have been removed since their credential was read
 */
async function membershipOf(
  { actors }: Pick<ApiKeyDependencies, 'actors'>,
  accountId: string,
  { metadata: { actor } }: CommandContext,
) {
  const { members } = (await actors.read(accountAggregate, accountId)).state;
  const [owner] = Object.entries(members).filter(([, { role }]) => role === 'owner');
  const createdBy = ('person' in actor ? actor.person : undefined) ?? owner?.[0];
  const memberSince = createdBy === undefined ? undefined : members[createdBy]?.since;
  if (createdBy === undefined || memberSince === undefined) throw new ServiceError('unauthorized');
  const isFirst = createdBy === founderOf(accountId) && memberSince === 0;
  return isFirst ? {} : { maker: { createdBy, memberSince } };
}

/**
 * @param whose the account whose key it must be; the member who must have made it, if only theirs may be revoked; and
 *   whether it must be for tests
 * @throws {ServiceError} `not_found`
 */
export async function revokeApiKey(
  deps: { readonly actors: ActorSystem },
  keyId: string,
  whose: ApiKeyFilter & { readonly accountId: string },
  context: CommandContext,
): Promise<void> {
  const command = { type: 'RevokeKey', keyId, ...whose } as const;
  orThrow(await deps.actors.send(apiKeyAggregate, keyId, command, context));
}
