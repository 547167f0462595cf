/**
 * Webhook endpoints of accounts, and every delivery to them: what is to be sent, and what was. An end of a conversion
 * makes a delivery for each endpoint that its account has then.
 */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { WebhookMessage } from '../src/domain/choices.ts';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { GONE } from '../src/domain/webhook-delivery.ts';
import { MAX_REDELIVERIES } from '../src/domain/webhooks.ts';
import type { RecordedEvent } from '../src/event-store/port.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { creditHandlers } from './webhook-credits.ts';
import { endpointHandlers, UNLESS_ERASED } from './webhook-endpoints.ts';
import { type DeliveryRow, OF_REQUESTS } from './webhook-queries.ts';

/**
 * `secret_prefix` and `secret_at` are of the newest secret. `failing_since` and `failed_at`: the first and the last of
 * the tries that failed one after the other, none before `changed_at`, when its owner last changed it; `gone`: the last
 * one was answered 410.
 *
 * A delivery's `receiver` is its endpoint, or `url/` and its account. Deliveries about one subject to one receiver go one
 * after the other. `next_at` 0: at once. What waits behind another is due with it. `number` counts deliveries in the
 * order of their events, so that those of the same time lie together: a commit writes each page that it has changed.
 */
const ddl = `
CREATE TABLE webhooks (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  url TEXT NOT NULL,
  description TEXT,
  types TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  disabled_reason TEXT,
  disabled_at INTEGER,
  secret_prefix TEXT NOT NULL,
  secret_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  failing_since INTEGER,
  failed_at INTEGER,
  gone INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX webhooks_of_account ON webhooks (account_id, position);
CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL;
CREATE TABLE webhook_default_secrets (
  account_id TEXT PRIMARY KEY,
  secret_prefix TEXT NOT NULL,
  secret_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_urls (
  subject TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  url TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_urls_of_account ON webhook_urls (account_id);
CREATE TABLE webhook_credits (
  account_id TEXT PRIMARY KEY,
  balance INTEGER NOT NULL,
  last_grant INTEGER NOT NULL,
  told INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_erased_accounts (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_deliveries (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  message TEXT NOT NULL,
  webhook_id TEXT,
  url TEXT,
  subject TEXT,
  receiver TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'waiting',
  round INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  tried_at INTEGER,
  answer_status INTEGER,
  failure TEXT,
  dropped TEXT
) STRICT;
CREATE INDEX webhook_deliveries_of_account ON webhook_deliveries (account_id, created_at);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhook_deliveries_of_subject ON webhook_deliveries (subject, receiver);
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, created_at) WHERE status = 'failed';
CREATE INDEX webhook_deliveries_later ON webhook_deliveries (next_at) WHERE status = 'waiting' AND next_at > 0;
CREATE INDEX webhook_deliveries_by_receiver ON webhook_deliveries (receiver, next_at) WHERE status = 'waiting';`;

/** Tries that fail one after the other count together unless they are further apart than this. */
const APART_MS = 48 * 60 * 60 * 1000;

/** The same for an event and a receiver wherever the log is read: it names the delivery at its receiver. */
export const deliveryIdOf = (eventId: string, receiver: string): string =>
  `delivery_${hash('sha256', `${eventId} ${receiver}`, 'hex').slice(0, 26)}`;

/** The place of an endpoint in the delivery of one event, or that of a URL. */
interface Receiver {
  readonly webhookId: string | null;
  readonly url: string | null;
  readonly receiver: string;
}

const timeOf = ({ metadata }: RecordedEvent): number => (metadata as EventMetadata).time;

export const webhooks: Projection = {
  name: 'webhooks',
  version: 5,
  tables: [
    'webhooks',
    'webhook_default_secrets',
    'webhook_urls',
    'webhook_credits',
    'webhook_erased_accounts',
    'webhook_deliveries',
  ],
  ddl,
  handlers(db) {
    const endpoints = endpointHandlers(db);
    const deliveries = deliveryHandlers(db);
    const credits = creditHandlers(db, (accountId, event) =>
      deliveries.tell(accountId, 'credits.low', undefined, event),
    );
    const erase = db.prepare('INSERT OR IGNORE INTO webhook_erased_accounts (id) VALUES (?)');
    const removals = [
      'webhooks',
      'webhook_default_secrets',
      'webhook_urls',
      'webhook_credits',
      'webhook_deliveries',
    ].map((table) => db.prepare(`DELETE FROM ${table} WHERE account_id = ?`));
    return typedHandlers({
      ...endpoints,
      ...deliveries.handlers,
      ...credits,
      // Nobody is left to tell, also of what ends later.
      AccountErased({ accountId }) {
        erase.run(accountId);
        for (const remove of removals) remove.run(accountId);
      },
    });
  },
};

type Handlers = Parameters<typeof typedHandlers>[0];

function deliveryHandlers(db: Database) {
  const endpointsOf = db.prepare<[string], Receiver & { readonly types: string }>(
    `SELECT id AS webhookId, NULL AS url, id AS receiver, types FROM webhooks
     WHERE account_id = +? AND enabled = 1 ORDER BY position`,
  );
  const urlOf = db.prepare<[string], Receiver>(
    `SELECT NULL AS webhookId, url, '${OF_REQUESTS}' || account_id AS receiver FROM webhook_urls WHERE subject = ?`,
  );
  const insertUrl = db.prepare(
    `INSERT INTO webhook_urls (subject, account_id, url) SELECT @subject, @accountId, @url ${UNLESS_ERASED}`,
  );
  const removeUrl = db.prepare('DELETE FROM webhook_urls WHERE subject = ?');
  const insert = db.prepare(
    `INSERT INTO webhook_deliveries (id, account_id, event_id, message, webhook_id, url, subject, receiver, created_at,
       next_at)
     VALUES (@id, @accountId, @eventId, @message, @webhookId, @url, @subject, @receiver, @createdAt,
       coalesce((SELECT max(next_at) FROM webhook_deliveries INDEXED BY webhook_deliveries_of_subject
         WHERE subject = +@subject AND receiver = +@receiver AND status = 'waiting'), 0))
     ON CONFLICT DO NOTHING`,
  );
  const attempted = db.prepare<
    [object],
    { readonly receiver: string; readonly subject: string | null }
  >(
    `UPDATE webhook_deliveries SET status = CASE WHEN @outcome = 'retry' THEN status ELSE @outcome END,
       round = @round, attempt = @attempt, tries = tries + 1, next_at = coalesce(@nextAt, next_at),
       tried_at = @attemptedAt, answer_status = @status, failure = @failure,
       dropped = CASE WHEN @outcome = 'retry' THEN dropped END
     WHERE id = @deliveryId RETURNING receiver, subject`,
  );
  const othersDue = db.prepare(
    `UPDATE webhook_deliveries INDEXED BY webhook_deliveries_of_subject SET next_at = @nextAt
     WHERE subject = @subject AND receiver = @receiver AND status = 'waiting'`,
  );
  const answered = db.prepare(
    'UPDATE webhooks SET failing_since = NULL, failed_at = NULL, gone = 0 WHERE id = ? AND failing_since IS NOT NULL',
  );
  // The clocks of two nodes differ: what is switched off for a try from before a change would be refused.
  const failed = db.prepare(
    `UPDATE webhooks SET gone = @gone, failed_at = @at,
       failing_since = CASE WHEN failed_at >= @at - ${APART_MS} THEN failing_since
         ELSE max(@at, changed_at) END
     WHERE id = @webhookId`,
  );
  const isOn = db.prepare<[string], number>('SELECT enabled FROM webhooks WHERE id = ?').pluck();
  // It may have been switched off or deleted at the same time.
  const droppedFor = (webhookId: string | undefined): DeliveryRow['dropped'] | null => {
    if (webhookId === undefined) return null;
    const on = isOn.get(webhookId);
    if (on === undefined) return 'deleted';
    return on === 1 ? null : 'disabled';
  };
  const AGAIN = `UPDATE webhook_deliveries SET status = iif(@dropped IS NULL, 'waiting', 'failed'),
    dropped = @dropped, attempt = 0, next_at = 0`;
  const again = db.prepare(`${AGAIN}, round = @round WHERE id = @deliveryId`);
  const failedAgain = db.prepare(
    `${AGAIN}, round = round + 1 WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE webhook_id = @webhookId AND status = 'failed' AND created_at >= @since
       ORDER BY created_at, number LIMIT ${MAX_REDELIVERIES})`,
  );

  const add = (
    { webhookId, url, receiver }: Receiver,
    accountId: string,
    message: WebhookMessage,
    subject: string | undefined,
    event: RecordedEvent,
    id = deliveryIdOf(event.id, receiver),
  ): void => {
    const to = { webhookId, url, receiver, subject: subject ?? null };
    insert.run({ id, accountId, eventId: event.id, message, ...to, createdAt: timeOf(event) });
  };
  const tell = (
    accountId: string,
    message: WebhookMessage,
    subject: string | undefined,
    event: RecordedEvent,
  ): void => {
    const ofRequest = subject === undefined ? undefined : urlOf.get(subject);
    // A JSON array of names without quotes in them: SQLite takes longer to look into it.
    const endpoints = endpointsOf
      .all(accountId)
      .filter(({ types }) => types.includes(`"${message}"`));
    for (const receiver of [...endpoints, ofRequest]) {
      if (receiver !== undefined) add(receiver, accountId, message, subject, event);
    }
  };
  const handlers: Handlers = {
    ConversionRequested({ accountId, conversionId: subject, webhookUrl }) {
      if (webhookUrl !== undefined) insertUrl.run({ subject, accountId, url: webhookUrl });
    },
    BatchRequested({ accountId, batchId: subject, webhookUrl }) {
      if (webhookUrl !== undefined) insertUrl.run({ subject, accountId, url: webhookUrl });
    },
    ConversionCompleted({ accountId, conversionId }, event) {
      tell(accountId, 'conversion.completed', conversionId, event);
    },
    ConversionFailed({ accountId, conversionId }, event) {
      tell(accountId, 'conversion.failed', conversionId, event);
    },
    ConversionDeleted({ accountId, conversionId }, event) {
      tell(accountId, 'conversion.deleted', conversionId, event);
    },
    BatchEnded({ accountId, batchId }, event) {
      tell(accountId, 'batch.ended', batchId, event);
      removeUrl.run(batchId);
    },
    // Nothing comes of it any more.
    ConversionExpired({ conversionId }) {
      removeUrl.run(conversionId);
    },
    WebhookTested({ accountId, webhookId, deliveryId }, event) {
      const receiver = { webhookId, url: null, receiver: webhookId };
      add(receiver, accountId, 'webhook.test', undefined, event, deliveryId);
    },
    DeliveryAttempted(data) {
      const { webhookId, deliveryId, attemptedAt: at, nextAt = null, status = null } = data;
      const { round, attempt, outcome, failure = null } = data;
      const of = { round, attempt, outcome, status, failure, nextAt, attemptedAt: at };
      const sent = attempted.get({ deliveryId, ...of });
      if (typeof sent?.subject === 'string') othersDue.run({ ...sent, nextAt: nextAt ?? 0 });
      if (webhookId === undefined) return;
      if (outcome === 'delivered') answered.run(webhookId);
      else failed.run({ webhookId, at, gone: Number(status === GONE) });
    },
    RedeliveryRequested({ deliveryId, webhookId, round }) {
      again.run({ deliveryId, round, dropped: droppedFor(webhookId) });
    },
    RedeliveriesRequested({ webhookId, since }) {
      failedAgain.run({ webhookId, since, dropped: droppedFor(webhookId) });
    },
  };
  return { tell, handlers };
}
