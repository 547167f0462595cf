/** What is asked of the tables in `webhooks.ts`: by the account, and by the sender. */
import type { Database } from 'better-sqlite3';
import type {
  DeliveryFailure,
  DeliveryStatus,
  WebhookMessage,
  WebhookType,
} from '../src/domain/choices.ts';
import { type Page, present, type Slice, type Stored } from '../src/read-model/rows.ts';

/** Begins the name of the receiver that stands for the URLs of all requests of an account, which follows. */
export const OF_REQUESTS = 'url/';

export interface WebhookRow {
  readonly id: string;
  readonly accountId: string;
  /** Sealed, as is `description`. */
  readonly url: string;
  readonly description?: string;
  readonly types: readonly WebhookType[];
  readonly enabled: boolean;
  /** `owner`: its owner switched it off; `gone`: it answered 410; `failing`: every try failed for days. */
  readonly disabledReason?: 'owner' | 'gone' | 'failing';
  /** Times are milliseconds since the Unix epoch. */
  readonly disabledAt?: number;
  readonly secretPrefix: string;
  readonly secretAt: number;
  readonly createdAt: number;
  /** The first of the tries that have failed since the last one that did not. */
  readonly failingSince?: number;
}

export interface DeliveryRow {
  readonly id: string;
  readonly accountId: string;
  readonly message: WebhookMessage;
  /** The event that it tells of. */
  readonly eventId: string;
  /** Absent where the URL came with a request. */
  readonly webhookId?: string;
  /** The URL of a request. Sealed. */
  readonly url?: string;
  /** The id of the conversion or batch that it is about, if any. */
  readonly subject?: string;
  /** Counts as one among those that tries are shared out to. */
  readonly receiver: string;
  readonly status: DeliveryStatus;
  /** The number of redeliveries, and of tries since the last one. */
  readonly round: number;
  readonly attempt: number;
  /** All tries. */
  readonly tries: number;
  /** The time of the event. */
  readonly createdAt: number;
  /** The time of the next try, where it waits; 0: at once. */
  readonly nextAt: number;
  readonly triedAt?: number;
  /** The status of the last answer, or why there was none. */
  readonly answerStatus?: number;
  readonly failure?: DeliveryFailure;
  /** It failed without a further try, because its endpoint was deleted or switched off. */
  readonly dropped?: 'deleted' | 'disabled';
}

export interface DefaultSecretRow {
  readonly secretPrefix: string;
  readonly secretAt: number;
}

export interface DeliveryFilter {
  readonly webhookId?: string;
  readonly subject?: string;
  readonly status?: DeliveryStatus;
  /** The time of the event, inclusive. */
  readonly since: number;
}

export interface WebhookQueries {
  byId(id: string): WebhookRow | undefined;
  /** Newest first. */
  page(accountId: string, page: Slice): Page<WebhookRow>;
  defaultSecret(accountId: string): DefaultSecretRow | undefined;
  delivery(id: string): DeliveryRow | undefined;
  /** Newest first. */
  deliveries(accountId: string, filter: DeliveryFilter & Slice): Page<DeliveryRow>;
}

type StoredWebhook = Omit<Stored<WebhookRow>, 'types' | 'enabled'> & {
  readonly types: string;
  readonly enabled: number;
};

const toWebhook = ({ types, enabled, ...row }: StoredWebhook): WebhookRow =>
  present<WebhookRow>({
    ...row,
    types: JSON.parse(types) as readonly WebhookType[],
    enabled: enabled === 1,
  });

const toDelivery = (row: Stored<DeliveryRow>): DeliveryRow => present<DeliveryRow>(row);

const WEBHOOK = `SELECT id, account_id AS accountId, url, description, types, enabled,
  disabled_reason AS disabledReason, disabled_at AS disabledAt, secret_prefix AS secretPrefix,
  secret_at AS secretAt, created_at AS createdAt, failing_since AS failingSince FROM webhooks`;

const DELIVERY = `SELECT id, account_id AS accountId, message, event_id AS eventId, webhook_id AS webhookId, url,
  subject, receiver, status, round, attempt, tries, created_at AS createdAt, next_at AS nextAt,
  tried_at AS triedAt, answer_status AS answerStatus, failure, dropped FROM webhook_deliveries`;

export function webhookQueries(db: Database): WebhookQueries {
  const byId = db.prepare<[string], StoredWebhook>(`${WEBHOOK} WHERE id = ?`);
  const page = db.prepare<[string, number, number], StoredWebhook>(
    `${WEBHOOK} WHERE account_id = +? ORDER BY position DESC LIMIT +? OFFSET +?`,
  );
  const count = db
    .prepare<[string], number>('SELECT count(*) FROM webhooks WHERE account_id = ?')
    .pluck();
  const defaultSecret = db.prepare<[string], DefaultSecretRow>(
    `SELECT secret_prefix AS secretPrefix, secret_at AS secretAt FROM webhook_default_secrets
     WHERE account_id = ?`,
  );
  const delivery = db.prepare<[string], Stored<DeliveryRow>>(`${DELIVERY} WHERE id = ?`);
  return {
    byId: (id) => byId.all(id).map(toWebhook)[0],
    page: (accountId, { offset, limit }) => ({
      rows: page.all(accountId, limit, offset).map(toWebhook),
      total: count.get(accountId) ?? 0,
    }),
    defaultSecret: (accountId) => defaultSecret.get(accountId),
    delivery: (id) => delivery.all(id).map(toDelivery)[0],
    deliveries(accountId, { webhookId, subject, status, since, offset, limit }) {
      const conditions = ['account_id = @accountId', 'created_at >= @since'];
      if (webhookId !== undefined) conditions.push('webhook_id = @webhookId');
      if (subject !== undefined) conditions.push('subject = @subject');
      if (status !== undefined) conditions.push('status = @status');
      // An account has any number of deliveries, its conversions few.
      const index =
        subject !== undefined
          ? 'of_subject'
          : webhookId !== undefined
            ? 'of_webhook'
            : 'of_account';
      const given = { accountId, since, webhookId, subject, status };
      const values = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      );
      const where = `INDEXED BY webhook_deliveries_${index} WHERE ${conditions.join(' AND ')}`;
      const total = db
        .prepare<[object], number>(`SELECT count(*) FROM webhook_deliveries ${where}`)
        .pluck()
        .get(values);
      const rows = db
        .prepare<[object], Stored<DeliveryRow>>(
          `${DELIVERY} ${where} ORDER BY created_at DESC, number DESC LIMIT @limit OFFSET @offset`,
        )
        .all({ ...values, limit, offset });
      return { rows: rows.map(toDelivery), total: total ?? 0 };
    },
  };
}

/** An endpoint that is to be switched off, and why. */
export interface DisablingDue {
  readonly webhookId: string;
  readonly accountId: string;
  readonly reason: 'gone' | 'failing';
  /** The first of the tries that failed. */
  readonly since: number;
}

export interface SenderQueries {
  /** Receivers that something may be due for now. What is due waits behind what is due earlier about its subject. */
  receiversDue(now: number): readonly string[];
  /** Those of deliveries that are newer than one, or have become due after a time. */
  receiversSince(newest: number, after: number, now: number): readonly string[];
  /** The number of the newest delivery. It may be that of one that was erased. */
  newest(): number;
  /** The deliveries that may be sent to one receiver now, the longest due first. */
  dueTo(receiver: string, now: number, limit: number): readonly DeliveryRow[];
  /** The time of the next try that is not due yet. */
  nextAt(now: number): number | undefined;
  disablingDue(failedForMs: number): readonly DisablingDue[];
  /** Counts those that are not ended. */
  waiting(): number;
}

export function senderQueries(db: Database): SenderQueries {
  // One look at the index for each receiver, however much waits for it.
  const receivers = db
    .prepare<[number], string>(
      `WITH RECURSIVE each (receiver) AS (
         SELECT min(receiver) FROM webhook_deliveries WHERE status = 'waiting'
         UNION ALL
         SELECT (SELECT min(receiver) FROM webhook_deliveries WHERE status = 'waiting' AND receiver > each.receiver)
         FROM each WHERE each.receiver IS NOT NULL
       ) SELECT receiver FROM each WHERE (SELECT min(next_at) FROM webhook_deliveries AS first
         WHERE first.status = 'waiting' AND first.receiver = each.receiver) <= ?`,
    )
    .pluck();
  const since = db
    .prepare<[number, number, number], string>(
      `SELECT receiver FROM webhook_deliveries WHERE number > ?
       UNION SELECT receiver FROM webhook_deliveries INDEXED BY webhook_deliveries_later
         WHERE status = 'waiting' AND next_at > 0 AND next_at > ? AND next_at <= ?`,
    )
    .pluck();
  const newest = db
    .prepare<[], number>('SELECT coalesce(max(number), 0) FROM webhook_deliveries')
    .pluck();
  const dueTo = db.prepare<[string, number, number], Stored<DeliveryRow>>(
    `${DELIVERY} INDEXED BY webhook_deliveries_by_receiver
     WHERE receiver = +? AND status = 'waiting' AND next_at <= ? AND NOT EXISTS (
       SELECT 1 FROM webhook_deliveries AS earlier INDEXED BY webhook_deliveries_of_subject
       WHERE earlier.subject = webhook_deliveries.subject AND earlier.receiver = webhook_deliveries.receiver
         AND earlier.number < webhook_deliveries.number AND earlier.status = 'waiting')
     ORDER BY next_at, number LIMIT +?`,
  );
  const next = db
    .prepare<[number], number | null>(
      `SELECT min(next_at) FROM webhook_deliveries WHERE status = 'waiting' AND next_at > 0 AND next_at > ?`,
    )
    .pluck();
  const disabling = db.prepare<[number], DisablingDue>(
    `SELECT id AS webhookId, account_id AS accountId, failing_since AS since,
       CASE WHEN gone = 1 THEN 'gone' ELSE 'failing' END AS reason FROM webhooks
     WHERE failing_since IS NOT NULL AND enabled = 1 AND (gone = 1 OR failed_at - failing_since >= ?)`,
  );
  const waiting = db
    .prepare<[], number>(`SELECT count(*) FROM webhook_deliveries WHERE status = 'waiting'`)
    .pluck();
  return {
    receiversDue: (now) => receivers.all(now),
    receiversSince: (newestSeen, after, now) => since.all(newestSeen, after, now),
    newest: () => newest.get() ?? 0,
    dueTo: (receiver, now, limit) => dueTo.all(receiver, now, limit).map(toDelivery),
    nextAt: (now) => next.get(now) ?? undefined,
    disablingDue: (failedForMs) => disabling.all(failedForMs),
    waiting: () => waiting.get() ?? 0,
  };
}
