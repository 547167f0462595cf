/** The body of a delivery: what happened, and the record of what it happened to, as the API has it now. */
import { accountQueries } from '../../projections/accounts.ts';
import { batchQueries } from '../../projections/batches.ts';
import { conversionQueries } from '../../projections/conversions.ts';
import { type DeliveryRow, webhookQueries } from '../../projections/webhook-queries.ts';
import type { ReadModel } from '../read-model/database.ts';
import { isoTime } from '../time/clock.ts';
import {
  type AccountSettings,
  accountRecordWithLimit,
  batchRecord,
  conversionRecord,
  type FileUrl,
  type Opener,
} from './records.ts';
import { webhookRecord } from './webhook-records.ts';

export interface WebhookBodyDependencies {
  readonly readModel: Pick<ReadModel, 'query'>;
  readonly vault: Opener;
  readonly config: AccountSettings;
  /** Makes a link to the PDF of a completed conversion, good from now on. */
  readonly fileUrl: FileUrl;
}

async function recordFor(
  { readModel, vault, config, fileUrl }: WebhookBodyDependencies,
  { accountId, message, subject = '', webhookId = '' }: DeliveryRow,
): Promise<object | undefined> {
  switch (message) {
    case 'conversion.completed':
    case 'conversion.failed':
    case 'conversion.deleted': {
      const row = readModel.query(conversionQueries).byId(subject);
      return row && (await conversionRecord(vault, row, 'listed', fileUrl));
    }
    case 'credits.low': {
      const row = readModel.query(accountQueries).byId(accountId);
      return row && (await accountRecordWithLimit(vault, config, row));
    }
    case 'webhook.test': {
      const row = readModel.query(webhookQueries).byId(webhookId);
      return row && (await webhookRecord(vault, row));
    }
    case 'batch.ended': {
      const queries = readModel.query(batchQueries);
      const row = queries.byId(subject);
      return row && (await batchRecord(vault, row, queries.conversionsOf(subject)));
    }
  }
}

/** @returns undefined where what it tells of is gone, as after an erasure */
export async function webhookBody(
  deps: WebhookBodyDependencies,
  row: DeliveryRow,
): Promise<string | undefined> {
  const data = await recordFor(deps, row);
  const { message: type, createdAt } = row;
  return data && JSON.stringify({ type, timestamp: isoTime(createdAt), data });
}
