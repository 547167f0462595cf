/**
 * Sends what webhook endpoints, and the URLs of requests, are to be told. The read model is the list of what is due; each
 * try becomes an event. A try whose process dies is made again: receivers get a delivery at least once, under one id.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type DeliveryRow,
  type DisablingDue,
  OF_REQUESTS,
  senderQueries,
} from '../../projections/webhook-queries.ts';
import { type WebhookBodyDependencies, webhookBody } from '../accounts/webhook-body.ts';
import type { CommandContext } from '../actors/system.ts';
import { unlessErased, type Vault } from '../documents/keys/vault.ts';
import { type DeliveryCommand, deliveryAggregate } from '../domain/webhook-delivery.ts';
import { webhooksAggregate } from '../domain/webhooks.ts';
import type { RecordedEvent } from '../event-store/port.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { LogThrottle } from '../observe/log-throttle.ts';
import type { Poster, ReceiverAnswer } from '../webhooks/poster.ts';
import { signatureHeaders } from '../webhooks/signature.ts';
import { type BackgroundLoop, startBackgroundLoop } from './background-loop.ts';
import { DeliveryPlaces, LIMITS } from './delivery-places.ts';
import { deliveryTargets, Unreadable } from './delivery-targets.ts';

/** An endpoint whose every try has failed for so long is switched off. */
export const FAILED_FOR_MS = 5 * 24 * 60 * 60 * 1000;
/** A receiver whose delivery could not be tried, because a store is away, is left alone for it. */
const REST_MS = 10_000;
/** The clock may be set: a time that is far away is looked at again after it. */
const LONGEST_PAUSE_MS = 60_000;
/** Deliveries of an event within it have the same body. */
const SAME_BODY_MS = 1000;
/** A stop waits so long for answers. What is under way then is sent again by the next leader. */
const STOP_MS = 2000;
/** Choosing takes this part of the time at most, however much waits: it is all that ends of deliveries ask for. */
const CHOOSING_PART = 0.1;
/** What becomes due within it is chosen together: what is sent together is recorded together. */
const CHOOSING_PAUSE_MS = 10;

/** So many deliveries to the URLs of an account's requests are looked at, as their hosts may be full. */
const MAX_LOOKED_AT = 32;

/** Events that make deliveries due, or leave room for others. */
const WAKING = [
  'ConversionCompleted',
  'ConversionFailed',
  'ConversionDeleted',
  'BatchEnded',
  'CreditDebited',
  'WebhookTested',
  'WebhookChanged',
  'DeliveryAttempted',
  'RedeliveryRequested',
  'RedeliveriesRequested',
] as const;
/** Those of a delivery or an endpoint that was there before. */
const CHANGING: ReadonlySet<string> = new Set(WAKING.slice(WAKING.indexOf('WebhookChanged')));

export type WebhookSender = Log &
  Omit<WebhookBodyDependencies, 'vault'> & {
    readonly vault: Pick<Vault, 'seal' | 'unseal'>;
    readonly poster: Poster;
    readonly logger: Logger;
  };

/** The ids that events name. */
interface Named {
  readonly deliveryId?: string;
  readonly webhookId?: string;
  readonly accountId: string;
}

export function startWebhooks(deps: WebhookSender): BackgroundLoop {
  const { actors, clock, logger, poster, readModel, runner, store, vault } = deps;
  const places = new DeliveryPlaces();
  /** By the event: an account may have many endpoints that are told of it at the same time. */
  const bodies = new Map<string, Promise<string | undefined>>();
  const sending = new Set<Promise<void>>();
  const untried = new LogThrottle();
  let timer: NodeJS.Timeout | undefined;

  const serviceContext = (commandId: string, cause: string, about = commandId): CommandContext => ({
    commandId,
    metadata: {
      correlationId: about,
      causationId: cause,
      actor: { kind: 'service' },
      time: clock.now(),
    },
  });

  async function disable({ webhookId, accountId, reason, since }: DisablingDue): Promise<void> {
    const now = clock.now();
    const command = { type: 'DisableWebhook', accountId, webhookId, reason, since, now } as const;
    const commandId = `disable/${webhookId}/${since}`;
    const context = serviceContext(commandId, commandId);
    const outcome = await actors.send(webhooksAggregate, accountId, command, context);
    // Else it would be switched off again.
    if (outcome.accepted && outcome.position !== undefined) await runner.waitFor(outcome.position);
  }

  const targetOf = deliveryTargets(deps, (commandId) => serviceContext(commandId, commandId));

  function bodyOf(row: DeliveryRow): Promise<string | undefined> {
    const { eventId } = row;
    const known = bodies.get(eventId);
    if (known !== undefined) return known;
    const made = webhookBody(deps, row);
    bodies.set(eventId, made);
    setTimeout(() => bodies.delete(eventId), SAME_BODY_MS).unref();
    return made;
  }

  /** @returns undefined where there is nobody, or nothing, to tell; `full` where the host has no place free */
  async function answerTo(
    row: DeliveryRow,
    signal: AbortSignal,
  ): Promise<ReceiverAnswer | 'full' | undefined> {
    const target = await targetOf(row);
    if (target === undefined) return undefined;
    // To wait here would keep a place that other hosts' deliveries need.
    if (!places.moveTo(target.url.host, row.id)) return 'full';
    const body = await bodyOf(row);
    if (body === undefined) return undefined;
    signal.throwIfAborted();
    const headers = signatureHeaders(row.id, clock.now(), body, target.secrets);
    return await poster.post(target.url, headers, body, signal);
  }

  /** @returns whether the read model will say so by itself */
  async function record(row: DeliveryRow, answer: ReceiverAnswer): Promise<boolean> {
    const { id, accountId, webhookId, message, round, subject } = row;
    const { status, failure, durationMs, text } = answer;
    const attempt = row.attempt + 1;
    const command: DeliveryCommand = {
      type: 'RecordAttempt',
      accountId,
      deliveryId: id,
      ...(webhookId !== undefined && { webhookId }),
      ...(subject?.startsWith('conv_') === true && { conversionId: subject }),
      round,
      message,
      attempt,
      ...(status === undefined ? {} : { status }),
      ...(failure === undefined ? {} : { failure }),
      durationMs,
      ...(text !== '' && { answer: await vault.seal(accountId, text) }),
      jitter: Math.random(),
      at: clock.now(),
    };
    const about = serviceContext(`${id}/${round}/${attempt}`, row.eventId, subject ?? id);
    const context = { ...about, beginsStream: attempt === 1 && round === 0 };
    const outcome = await actors.send(deliveryAggregate, id, command, context);
    if (!outcome.accepted) throw new Error(`${command.type} was refused.`);
    const [event] = outcome.events;
    if (event?.type !== 'DeliveryAttempted') return false;
    places.answered(row, event.data.outcome === 'delivered');
    logger.debug({ deliveryId: id, accountId, outcome: event.data.outcome }, 'webhook delivery');
    return true;
  }

  /** Nothing tells when its receiver can be tried again. */
  function rest(row: DeliveryRow): void {
    const endRest = places.rest(row);
    setTimeout(() => {
      endRest();
      loop.wake();
    }, REST_MS).unref();
  }

  async function send(row: DeliveryRow, signal: AbortSignal): Promise<void> {
    const { id } = row;
    try {
      const answer = await unlessErased(
        answerTo(row, signal).catch((error: unknown) => {
          if (!(error instanceof Unreadable)) throw error;
          return { failure: 'unreadable', durationMs: 0, text: '' } as const;
        }),
      );
      if (answer !== 'full') {
        if (answer !== undefined && (await record(row, answer))) return;
        // The read model is to learn that its receiver is gone, or that another process was first.
        await runner.waitFor(await store.head());
        if (answer === undefined) rest(row);
      }
    } catch (error) {
      if (!signal.aborted) {
        untried.log((suppressed) =>
          logger.warn(
            { err: error, deliveryId: id, suppressed },
            'a webhook waits: it is tried again',
          ),
        );
      }
      rest(row);
    }
    places.end(id);
    loop.wake();
  }

  function begin(row: DeliveryRow): void {
    const signal = places.begin(row);
    if (signal === undefined) return;
    const sent = send(row, signal).finally(() => sending.delete(sent));
    sending.add(sent);
  }

  /** Up to there receivers are known that something is due to. Absent: all are to be looked up. */
  let seen: { readonly newest: number; readonly time: number; readonly at: number } | undefined;

  /** Begins what is due and has a place. */
  function choose(): void {
    const now = clock.now();
    const queries = readModel.query(senderQueries);
    const at = performance.now();
    // Before the look: what another process adds meanwhile is found by the next one.
    const newest = queries.newest();
    const withNews =
      seen === undefined || at - seen.at > LONGEST_PAUSE_MS
        ? queries.receiversDue(now)
        : queries.receiversSince(seen.newest, seen.time, now);
    for (const receiver of withNews) places.news(receiver);
    seen = { newest, time: now, at };
    for (const receiver of places.inTurn()) {
      const most = receiver.startsWith(OF_REQUESTS) ? MAX_LOOKED_AT : LIMITS.receiver;
      const due = queries.dueTo(receiver, now, most);
      for (const row of due) begin(row);
      places.looked(receiver, due, due.length < most);
    }
    const next = Math.min(LONGEST_PAUSE_MS, (queries.nextAt(now) ?? Infinity) - now);
    timer = setTimeout(() => loop.wake(), Math.max(0, next));
  }

  const step = async (stopping: AbortSignal): Promise<void> => {
    clearTimeout(timer);
    const disabling = readModel.query(senderQueries).disablingDue(FAILED_FOR_MS);
    for (const due of disabling) await disable(due);
    if (stopping.aborted) return;
    const began = performance.now();
    choose();
    const pause = (performance.now() - began) * (1 / CHOOSING_PART - 1);
    await delay(Math.max(CHOOSING_PAUSE_MS, pause), undefined, { signal: stopping }).catch(
      () => {},
    );
  };

  const loop = startBackgroundLoop('webhooks', step, logger);
  const heard = (events: readonly RecordedEvent[]): void => {
    for (const { type, data } of events) {
      const { accountId, deliveryId, webhookId = OF_REQUESTS + accountId } = data as Named;
      if (type === 'DeliveryAttempted' && deliveryId !== undefined) places.end(deliveryId);
      if (type === 'WebhookChanged') places.forget(webhookId);
      // What was there has changed, or was sent by another process; what is new is found by its number.
      if (CHANGING.has(type)) places.news(webhookId);
      if (type !== 'AccountErased') continue;
      // Nobody is told of it any more, also by what is under way. Numbers of its deliveries are given again.
      places.abort(accountId);
      seen = undefined;
    }
    loop.wake();
  };
  const unsubscribe = runner.onCommit(heard, [...WAKING, 'AccountErased']);
  const endReopening = readModel.onReopen(() => {
    seen = undefined;
    loop.wake();
  });
  return {
    wake: () => loop.wake(),
    stop: async () => {
      unsubscribe();
      endReopening();
      await loop.stop();
      clearTimeout(timer);
      const abort = setTimeout(() => places.abort(), STOP_MS);
      await Promise.all(sending);
      clearTimeout(abort);
      clearTimeout(timer);
      poster.close();
    },
  };
}
