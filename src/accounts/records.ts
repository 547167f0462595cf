/** The parts of an account as the API, `--json` and exports shape them. */
import type { AccountRow } from '../../projections/accounts.ts';
import type { ApiKeyRow } from '../../projections/api-keys.ts';
import type { BatchRow } from '../../projections/batches.ts';
import type { ConversionRow } from '../../projections/conversions.ts';
import type { LedgerRow } from '../../projections/ledger.ts';
import type { SessionRow } from '../../projections/sessions.ts';
import { NOT_OPENED } from '../documents/keys/vault.ts';
import type { Format } from '../domain/choices.ts';
import type { Hold } from '../domain/hold.ts';
import { isoTime } from '../time/clock.ts';
import { nameOf, namingOf } from './conversion-names.ts';
import { rightsRecord } from './key-rights.ts';
import { planLimit, type RateLimits } from './rate-limits.ts';

/** The settings that a record of an account depends on. */
export interface AccountSettings extends RateLimits {
  readonly credits: 'on' | 'off';
}

/** Opens a sealed text; a `T` of undefined stands for one that was erased. */
export interface Opener<T extends string | undefined = string> {
  unseal(accountId: string, sealed: string): Promise<T>;
}

export async function accountRecord<T extends string | undefined>(
  opener: Opener<T>,
  { id, email, plan, credits, isOperator, isSuspended, mustChangePassword, createdAt }: AccountRow,
) {
  const opened = await opener.unseal(id, email);
  return {
    id,
    email: opened,
    plan,
    credits,
    operator: isOperator,
    suspended: isSuspended,
    must_change_password: mustChangePassword,
    created_at: isoTime(createdAt),
  };
}

/** The account as the API shows it. Its balance means nothing while conversions cost nothing. */
export const accountRecordWithLimit = async <T extends string | undefined>(
  opener: Opener<T>,
  settings: AccountSettings,
  row: AccountRow,
) => ({
  ...(await accountRecord(opener, row)),
  credits: settings.credits === 'off' ? null : row.credits,
  rate_limit: planLimit(settings, row.plan),
});

export const holdRecord = (hold: Hold | undefined) =>
  hold === undefined
    ? null
    : { placed_at: isoTime(hold.placedAt), until: hold.until ? isoTime(hold.until) : null };

export async function apiKeyRecord<T extends string | undefined>(
  opener: Opener<T>,
  { id, accountId, name, prefix, rights, createdAt, lastUsedAt }: ApiKeyRow,
) {
  const { addresses: sealed, ...others } = rights;
  const opened = sealed && (await opener.unseal(accountId, sealed));
  const addresses = opened === NOT_OPENED || !opened ? [] : (JSON.parse(opened) as string[]);
  return {
    id,
    name: await opener.unseal(accountId, name),
    prefix,
    created_at: isoTime(createdAt),
    last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
    ...rightsRecord({ ...others, ...(addresses.length > 0 && { addresses }) }),
  };
}

export async function sessionRecord<T extends string | undefined>(
  opener: Opener<T>,
  { id, accountId, kind, methods, openedAt, expiresAt, userAgent, address }: SessionRow,
) {
  const open = async (sealed: string | null): Promise<T | null> =>
    sealed === null ? null : await opener.unseal(accountId, sealed);
  const client = { user_agent: await open(userAgent), address: await open(address) };
  return {
    id,
    kind,
    methods,
    opened_at: isoTime(openedAt),
    expires_at: isoTime(expiresAt),
    client: userAgent === null && address === null ? null : client,
  };
}

/** @param name that of the conversion, if it is known */
export function ledgerRecord(row: LedgerRow, name?: string) {
  const { id, type, amount, balance, conversionId, createdAt } = row;
  return {
    id,
    type,
    amount,
    balance,
    ...(conversionId === undefined ? {} : { conversion_id: conversionId }),
    ...(name === undefined ? {} : { name }),
    created_at: isoTime(createdAt),
  };
}

/** @param conversions the ids of its conversions, where they are wanted */
export async function batchRecord<T extends string | undefined>(
  opener: Opener<T>,
  row: BatchRow,
  conversions?: readonly string[],
) {
  const { id, total, completed, failed, createdAt, cancelledAt, endedAt } = row;
  const ended = endedAt === undefined ? 'running' : 'ended';
  return {
    id,
    status: cancelledAt === undefined ? ended : 'cancelled',
    total,
    pending: total - completed - failed,
    completed,
    failed,
    created_at: isoTime(createdAt),
    ...(cancelledAt !== undefined && { cancelled_at: isoTime(cancelledAt) }),
    ...(endedAt !== undefined && { ended_at: isoTime(endedAt) }),
    ...(await namingOf(opener, row)),
    ...(row.isTest && { test: true }),
    ...(conversions && { conversions }),
  };
}

/** The link of a conversion's file, which is a PDF unless another format is named. */
export type FileUrl = (conversionId: string, format?: Format) => string;

/**
 * The record of a conversion as lists show it, or by itself. By itself it has its names only where its request gave it
 * one, and the retention where its request gave that: clients that know of neither get neither.
 * @param fileUrl the link of a completed one, if there is one to give
 */
export async function conversionRecord<T extends string | undefined>(
  opener: Opener<T>,
  row: ConversionRow,
  form: 'listed' | 'single',
  fileUrl?: FileUrl,
) {
  const { id, accountId, status, createdAt, completedAt, failedAt, errorMessage } = row;
  const showsRetention = form === 'listed' || row.retentionOfAccount === undefined;
  const isNamed = form === 'listed' || (row.filename ?? row.reference ?? row.tags) !== undefined;
  const record = {
    id,
    status,
    created_at: isoTime(createdAt),
    ...(row.source === 'document' && { kind: row.source }),
    ...(row.isTest && { test: true }),
    ...(row.retryOf !== undefined && { retry_of: row.retryOf }),
    ...(row.rerenderOf !== undefined && { rerender_of: row.rerenderOf }),
    ...(isNamed && { name: await nameOf(opener, row), ...(await namingOf(opener, row)) }),
    ...(row.batchId !== undefined && { batch: row.batchId }),
    ...(row.template && { template: await templateOfRecord(opener, row, row.template) }),
    ...(showsRetention &&
      row.retentionSeconds !== undefined && { retention_seconds: row.retentionSeconds }),
  };
  if (status === 'failed' && failedAt !== undefined && errorMessage !== undefined) {
    return {
      ...record,
      error_message: await opener.unseal(accountId, errorMessage),
      failed_at: isoTime(failedAt),
      failure_code: row.failureCode,
      duration_ms: durationBetween(createdAt, failedAt),
    };
  }
  if (status !== 'completed' || completedAt === undefined) return record;
  const warnings = await warningsOf(opener, row);
  const { pages, pdf, conformance, signature } = row;
  return {
    ...record,
    ...(fileUrl && { file_url: fileUrl(id, row.format) }),
    completed_at: isoTime(completedAt),
    ...(warnings && { warnings }),
    ...((conformance ?? signature) && {
      pdf: { ...(conformance && { conformance }), ...(signature && { signature }) },
    }),
    ...(row.rerender && { rerender: row.rerender }),
    pages,
    bytes: pdf?.bytes,
    sha256: pdf?.sha256,
    duration_ms: durationBetween(createdAt, completedAt),
  };
}

/** The template of a conversion, with the hash of its data, if that can be read. */
async function templateOfRecord<T extends string | undefined>(
  opener: Opener<T>,
  { accountId, templateData }: ConversionRow,
  template: NonNullable<ConversionRow['template']>,
) {
  const sha256 = templateData && (await opener.unseal(accountId, templateData));
  return { ...template, ...(sha256 && sha256 !== NOT_OPENED && { data_sha256: sha256 }) };
}

/** Two nodes' clocks tell the times: the earlier event may have the later one. */
const durationBetween = (start: number, end: number): number => Math.max(0, end - start);

/** The warnings of a completed conversion, for its client; undefined where it has none. */
export async function warningsOf(
  opener: Opener<string | undefined>,
  { accountId, warnings }: ConversionRow,
): Promise<readonly string[] | undefined> {
  const opened = warnings && (await opener.unseal(accountId, warnings));
  if (opened === NOT_OPENED) return [opened];
  return opened === undefined ? undefined : (JSON.parse(opened) as readonly string[]);
}
