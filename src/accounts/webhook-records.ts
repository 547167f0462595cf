/** Webhook endpoints and deliveries as the API, exports and deliveries themselves shape them. */
import type { DeliveryRow, WebhookRow } from '../../projections/webhook-queries.ts';
import { isoTime } from '../time/clock.ts';
import type { Opener } from './records.ts';

export async function webhookRecord<T extends string | undefined>(
  opener: Opener<T>,
  row: WebhookRow,
) {
  const { id, accountId, url, description, types, enabled, disabledReason, disabledAt } = row;
  return {
    id,
    url: await opener.unseal(accountId, url),
    ...(description !== undefined && {
      description: await opener.unseal(accountId, description),
    }),
    types,
    enabled,
    ...(disabledReason !== undefined && { disabled_reason: disabledReason }),
    ...(disabledAt !== undefined && { disabled_at: isoTime(disabledAt) }),
    secret_prefix: row.secretPrefix,
    secret_created_at: isoTime(row.secretAt),
    failing_since: row.failingSince === undefined ? null : isoTime(row.failingSince),
    created_at: isoTime(row.createdAt),
  };
}

/**
 * @param url where it goes, decrypted; undefined if that is gone
 * @param name that of the conversion, if it is about one
 */
export function deliveryRecord(row: DeliveryRow, url: string | undefined, name?: string) {
  const { id, message, status, webhookId, subject, tries, answerStatus, failure, dropped } = row;
  return {
    id,
    type: message,
    status,
    ...(webhookId !== undefined && { webhook_id: webhookId }),
    ...(subject?.startsWith('conv_') === true && { conversion_id: subject }),
    ...(name !== undefined && { name }),
    ...(subject?.startsWith('batch_') === true && { batch_id: subject }),
    ...(url !== undefined && { url }),
    tries,
    ...(answerStatus !== undefined && { last_status: answerStatus }),
    ...(failure !== undefined && { last_failure: failure }),
    ...(dropped !== undefined && { dropped }),
    created_at: isoTime(row.createdAt),
    ...(row.triedAt !== undefined && { last_try_at: isoTime(row.triedAt) }),
    ...(status === 'waiting' && { next_try_at: isoTime(row.nextAt || row.createdAt) }),
  };
}
