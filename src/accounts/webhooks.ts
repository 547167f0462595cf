/** Webhook endpoints of an account: made, changed, tested and deleted, and what is sent to them again. */
import {
  type DeliveryRow,
  type WebhookRow,
  webhookQueries,
} from '../../projections/webhook-queries.ts';
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { Reader } from '../conversions/history.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { WebhookType } from '../domain/choices.ts';
import { deliveryAggregate, deliveryStream } from '../domain/webhook-delivery.ts';
import {
  MAX_REDELIVERIES,
  redeliveryRefused,
  type WebhooksCommand,
  webhooksAggregate,
} from '../domain/webhooks.ts';
import { ServiceError } from '../errors/errors.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { EventStore } from '../event-store/port.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { isoTime } from '../time/clock.ts';
import { newDeliveryId, newWebhookId } from '../time/ids.ts';
import { newSecret } from '../webhooks/signature.ts';

export interface WebhookDependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly vault: Vault;
}

/** What its owner says of an endpoint. */
export interface WebhookSettings {
  readonly url?: string;
  readonly description?: string;
  readonly types?: readonly WebhookType[];
  readonly enabled?: boolean;
}

type Owned<C> = C extends unknown ? Omit<C, 'accountId' | 'now'> : never;

/** @throws {ServiceError} what the account's endpoints refuse */
async function sendTo(
  { actors }: Pick<WebhookDependencies, 'actors'>,
  accountId: string,
  command: Owned<WebhooksCommand>,
  context: CommandContext,
): Promise<void> {
  const whole = { ...command, accountId, now: context.metadata.time } as WebhooksCommand;
  orThrow(await actors.send(webhooksAggregate, accountId, whole, context));
}

const noEndpoint = () => new ServiceError('not_found', 'There is no such webhook endpoint.');
const noDelivery = () => new ServiceError('not_found', 'There is no such delivery.');

/** @throws {ServiceError} `not_found`, for those of others too */
export async function webhookOf(
  deps: ReadDependencies,
  accountId: string,
  webhookId: string,
  asOf?: bigint,
): Promise<WebhookRow> {
  const row = (await consistentQuery(deps, webhookQueries, asOf)).byId(webhookId);
  if (row?.accountId !== accountId) throw noEndpoint();
  return row;
}

async function sealedSettings(
  { vault }: Pick<WebhookDependencies, 'vault'>,
  accountId: string,
  { url, description, ...plain }: WebhookSettings,
): Promise<WebhookSettings> {
  return {
    ...plain,
    ...(url !== undefined && { url: await vault.seal(accountId, url) }),
    ...(description !== undefined && { description: await vault.seal(accountId, description) }),
  };
}

interface MadeSecret {
  /** Shown only this once. */
  readonly secret: string;
  readonly sealed: { readonly secret: string; readonly secretPrefix: string };
}

async function makeSecret(
  { vault }: Pick<WebhookDependencies, 'vault'>,
  accountId: string,
): Promise<MadeSecret> {
  const { secret, secretPrefix } = newSecret();
  return { secret, sealed: { secret: await vault.seal(accountId, secret), secretPrefix } };
}

/** @throws {ServiceError} `validation_error` where the account has as many as it may have */
export async function createWebhook(
  deps: WebhookDependencies,
  accountId: string,
  {
    types,
    ...texts
  }: Omit<WebhookSettings, 'enabled'> & Required<Pick<WebhookSettings, 'url' | 'types'>>,
  context: CommandContext,
): Promise<{ readonly row: WebhookRow; readonly secret: string }> {
  const webhookId = newWebhookId(context.metadata.time);
  const { secret, sealed } = await makeSecret(deps, accountId);
  const { url = '', description } = await sealedSettings(deps, accountId, texts);
  const described = description === undefined ? {} : { description };
  const command = {
    type: 'CreateWebhook',
    webhookId,
    types,
    url,
    ...described,
    ...sealed,
  } as const;
  await sendTo(deps, accountId, command, context);
  return { row: await webhookOf(deps, accountId, webhookId), secret };
}

/** @throws {ServiceError} `not_found` */
export async function changeWebhook(
  deps: WebhookDependencies,
  accountId: string,
  webhookId: string,
  settings: WebhookSettings,
  context: CommandContext,
): Promise<WebhookRow> {
  const change = await sealedSettings(deps, accountId, settings);
  await sendTo(deps, accountId, { type: 'ChangeWebhook', webhookId, change }, context);
  return await webhookOf(deps, accountId, webhookId);
}

/** @throws {ServiceError} `not_found` */
export const deleteWebhook = (
  deps: WebhookDependencies,
  accountId: string,
  webhookId: string,
  context: CommandContext,
): Promise<void> => sendTo(deps, accountId, { type: 'DeleteWebhook', webhookId }, context);

/**
 * Makes another secret: of an endpoint, or of the account for the URLs of its requests. The former one signs beside
 * it for a day.
 * @returns the secret, which is shown only this once
 * @throws {ServiceError} `not_found`
 */
export async function rotateSecret(
  deps: WebhookDependencies,
  accountId: string,
  webhookId: string | undefined,
  context: CommandContext,
): Promise<string> {
  const { secret, sealed } = await makeSecret(deps, accountId);
  const command =
    webhookId === undefined
      ? ({ type: 'RotateDefaultSecret', ...sealed } as const)
      : ({ type: 'RotateSecret', webhookId, ...sealed } as const);
  await sendTo(deps, accountId, command, context);
  return secret;
}

/** @throws {ServiceError} `not_found`, for those of others too */
export async function deliveryOf(
  deps: ReadDependencies,
  accountId: string,
  deliveryId: string,
): Promise<DeliveryRow> {
  const row = (await consistentQuery(deps, webhookQueries)).delivery(deliveryId);
  if (row?.accountId !== accountId) throw noDelivery();
  return row;
}

/** Tries that are shown of one delivery: rounds may go on for ever. */
const MAX_TRIES = 100;

/** The last tries, oldest first, by the events of the delivery. */
export async function triesOf(
  {
    streams,
    vault,
  }: {
    readonly streams: Pick<EventStore, 'readStream'>;
    readonly vault: Pick<Vault, 'unseal'>;
  },
  { id, accountId, tries: count }: DeliveryRow,
  { mayReadDocuments }: Reader,
): Promise<readonly object[]> {
  const from = Math.max(0, count - MAX_TRIES);
  const events = await streams.readStream(deliveryStream(id), { from });
  const tries = events.slice(-MAX_TRIES).map(async (recorded) => {
    const { type, data } = decodeEvent(recorded);
    if (type !== 'DeliveryAttempted') return [];
    const { attemptedAt, status, failure, durationMs, answer } = data;
    return {
      at: isoTime(attemptedAt),
      ...(status === undefined ? {} : { status }),
      ...(failure === undefined ? {} : { failure }),
      duration_ms: durationMs,
      ...(answer !== undefined &&
        mayReadDocuments && { answer: await vault.unseal(accountId, answer) }),
    };
  });
  return (await Promise.all(tries)).flat();
}

/**
 * Sends a delivery that is about nothing.
 * @throws {ServiceError} `not_found`
 */
export async function testWebhook(
  deps: WebhookDependencies,
  accountId: string,
  webhookId: string,
  context: CommandContext,
): Promise<DeliveryRow> {
  const deliveryId = newDeliveryId(context.metadata.time);
  await sendTo(deps, accountId, { type: 'TestWebhook', webhookId, deliveryId }, context);
  return await deliveryOf(deps, accountId, deliveryId);
}

/**
 * Sends a delivery once more, at once: one that has ended, or that waits for its next try.
 * @throws {ServiceError} `not_found`, also where its endpoint was deleted; `validation_error` where that is switched off
 */
export async function redeliver(
  deps: WebhookDependencies,
  { id, accountId, webhookId, subject, round, status, attempt }: DeliveryRow,
  context: CommandContext,
): Promise<DeliveryRow> {
  if (webhookId !== undefined) {
    const { state } = await deps.actors.read(webhooksAggregate, accountId);
    const rejection = redeliveryRefused(state, webhookId);
    if (rejection !== undefined) orThrow({ accepted: false, rejection });
  }
  // The first try of a round comes by itself.
  if (status !== 'waiting' || attempt > 0) {
    const command = {
      type: 'RequestRedelivery',
      accountId,
      deliveryId: id,
      ...(webhookId !== undefined && { webhookId }),
      ...(subject?.startsWith('conv_') === true && { conversionId: subject }),
      // Two requests at the same time are one.
      round: round + 1,
      at: context.metadata.time,
    } as const;
    const metadata = { ...context.metadata, correlationId: subject ?? id };
    orThrow(await deps.actors.send(deliveryAggregate, id, command, { ...context, metadata }));
  }
  return await deliveryOf(deps, accountId, id);
}

/**
 * Sends deliveries to an endpoint once more that failed, of events since then (milliseconds since the epoch): the oldest,
 * at most `MAX_REDELIVERIES`.
 * @returns how many they are
 * @throws {ServiceError} `not_found`; `validation_error` where the endpoint is switched off
 */
export async function redeliverFailed(
  deps: WebhookDependencies,
  accountId: string,
  webhookId: string,
  since: number,
  context: CommandContext,
): Promise<number> {
  const filter = { webhookId, since, status: 'failed', offset: 0, limit: 0 } as const;
  const { total } = (await consistentQuery(deps, webhookQueries)).deliveries(accountId, filter);
  await sendTo(deps, accountId, { type: 'RequestRedeliveries', webhookId, since }, context);
  return Math.min(total, MAX_REDELIVERIES);
}
