/** Making and revoking API keys: only a key's hash is kept, and its id follows from it. */
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { ServiceError } from '../errors.ts';
import { apiKeyDigest, apiKeyIdOf } from '../ids.ts';
import type { Vault } from '../keyring/vault.ts';
import { accepted } from './accepted.ts';
import { apiKeyActor } from './kinds.ts';
import { randomAlphanumeric } from './random-text.ts';

const KEY_PREFIX = 'pk_live_';
const RANDOM_CHARACTERS = 24;
const SHOWN_CHARACTERS = 12;
const MAX_NAME_CHARACTERS = 100;

export interface CreatedKey {
  readonly id: string;
  readonly name: string;
  /** The only time the full key is seen. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** @throws {ServiceError} `validation_error` where the name is not 1 to 100 characters after trimming */
export async function createApiKey(
  deps: { readonly actors: ActorSystem; readonly vault: Vault },
  accountId: string,
  rawName: string,
  context: CommandContext,
): Promise<CreatedKey> {
  const name = rawName.trim();
  const length = Array.from(name).length;
  if (length === 0 || length > MAX_NAME_CHARACTERS) {
    const text = `A name has 1 to ${MAX_NAME_CHARACTERS} characters.`;
    throw new ServiceError('validation_error', text, { details: { name: [text] } });
  }
  const key = KEY_PREFIX + randomAlphanumeric(RANDOM_CHARACTERS);
  const digest = apiKeyDigest(key);
  const id = apiKeyIdOf(digest);
  const createdAt = context.metadata.time;
  await deps.actors.send(
    apiKeyActor,
    id,
    {
      type: 'CreateKey',
      accountId,
      keyId: id,
      keyHash: digest.toString('hex'),
      prefix: key.slice(0, SHOWN_CHARACTERS),
      name: await deps.vault.seal(accountId, name),
      now: createdAt,
    },
    context,
  );
  return { id, name, key, createdAt };
}

/**
 * @param accountId whose key it must be; absent for the operator
 * @throws {ServiceError} `not_found`
 */
export async function revokeApiKey(
  deps: { readonly actors: ActorSystem },
  keyId: string,
  accountId: string | undefined,
  context: CommandContext,
): Promise<void> {
  accepted(
    await deps.actors.send(
      apiKeyActor,
      keyId,
      { type: 'RevokeKey', keyId, ...(accountId === undefined ? {} : { accountId }) },
      context,
    ),
  );
}
