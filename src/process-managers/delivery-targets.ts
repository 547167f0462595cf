/** The places that deliveries go to, by the log as it is now: their URLs, and the secrets that sign what is sent there. */
import type { DeliveryRow } from '../../projections/webhook-queries.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { NOT_OPENED, type Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import {
  endpointOf,
  type Secret,
  secretsInForce,
  type WebhooksState,
  webhooksAggregate,
} from '../domain/webhooks.ts';
import type { Clock } from '../time/clock.ts';
import { newCommandId } from '../time/ids.ts';
import { newSecret } from '../webhooks/signature.ts';

export interface DeliveryTarget {
  readonly url: URL;
  readonly secrets: readonly string[];
}

export interface TargetDependencies {
  readonly actors: ActorSystem;
  readonly vault: Pick<Vault, 'seal' | 'unseal'>;
  readonly clock: Clock;
}

/** Its URL or a secret was sealed with another key. */
export class Unreadable extends Error {}

/** @param contextOf of a command that the service gives by itself */
export function deliveryTargets(
  { actors, vault, clock }: TargetDependencies,
  contextOf: (commandId: string) => CommandContext,
) {
  /** What was opened, as long as the state that has it sealed is in use: that of a stream that has not changed. */
  const opened = new WeakMap<object, Promise<string>>();

  async function open(accountId: string, sealed: string): Promise<string> {
    const text = await vault.unseal(accountId, sealed);
    if (text === NOT_OPENED) throw new Unreadable(text);
    return text;
  }

  function openOnce(accountId: string, owner: object, sealed: string): Promise<string> {
    const known = opened.get(owner);
    if (known !== undefined) return known;
    const text = open(accountId, sealed);
    opened.set(owner, text);
    text.catch(() => opened.delete(owner));
    return text;
  }

  /** The secrets that sign what goes to the URLs of requests; made for requests from before each needed one. */
  async function defaultSecrets(
    state: WebhooksState,
    accountId: string,
  ): Promise<readonly Secret[]> {
    if (state.secrets.length > 0) return state.secrets;
    const { secret, secretPrefix } = newSecret();
    const now = clock.now();
    const sealed = { secret: await vault.seal(accountId, secret), secretPrefix };
    const command = { type: 'RotateDefaultSecret', accountId, onlyFirst: true, now } as const;
    const made = await actors.send(
      webhooksAggregate,
      accountId,
      { ...command, ...sealed },
      contextOf(newCommandId(now)),
    );
    return (made.accepted ? made.state : state).secrets;
  }

  /** Resolves to undefined where a delivery goes nowhere any more. @throws {Unreadable} */
  return async function targetOf(row: DeliveryRow): Promise<DeliveryTarget | undefined> {
    const { accountId, webhookId, url: ofRequest } = row;
    const { state: account } = await actors.read(accountAggregate, accountId);
    if (account.status !== 'open') return undefined;
    const { state } = await actors.read(webhooksAggregate, accountId);
    const endpoint = endpointOf(state, webhookId);
    const isOff = endpoint?.enabled === false && row.message !== 'webhook.test';
    if ((endpoint?.url ?? ofRequest) === undefined || isOff) return undefined;
    const url = endpoint
      ? await openOnce(accountId, endpoint, endpoint.url)
      : await open(accountId, ofRequest ?? '');
    const secrets = endpoint?.secrets ?? (await defaultSecrets(state, accountId));
    const inForce = secretsInForce(secrets, clock.now());
    return {
      url: new URL(url),
      secrets: await Promise.all(inForce.map((each) => openOnce(accountId, each, each.secret))),
    };
  };
}
