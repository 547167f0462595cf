/** Every conversion as its account sees it: one row each, and how many an account has. */
import type { Database } from 'better-sqlite3';
import type { BlobRef, PdfDigest } from '../src/domain/events.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

export const CONVERSION_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export type ConversionStatus = (typeof CONVERSION_STATUSES)[number];

/** Numbers of an account whose failures are counted together. */
const BLOCK = 1_000;

/**
 * `number` counts an account's conversions from 1, so that a page is found without skipping rows. A page of those
 * that failed or completed is found by the failures in each block of numbers, and by the few that are unfinished.
 */
const ddl = `
CREATE TABLE conversions (
  account_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  error_message TEXT,
  filename TEXT,
  document TEXT,
  pdf TEXT,
  pages INTEGER,
  warnings TEXT,
  expired INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX conversions_by_id ON conversions (id);
CREATE INDEX conversions_by_status ON conversions (account_id, status, number);
CREATE INDEX conversions_by_pdf ON conversions (pdf ->> '$.sha256', account_id) WHERE pdf IS NOT NULL;
CREATE TABLE conversion_totals (
  account_id TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  failed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE conversion_failures (
  account_id TEXT NOT NULL,
  block INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (account_id, block)
) STRICT, WITHOUT ROWID;`;

export const conversions: Projection = {
  name: 'conversions',
  version: 6,
  tables: ['conversions', 'conversion_totals', 'conversion_failures'],
  ddl,
  handlers(db) {
    const count = db
      .prepare<[string], number>(
        `INSERT INTO conversion_totals (account_id, total) VALUES (?, 1)
         ON CONFLICT DO UPDATE SET total = total + 1 RETURNING total`,
      )
      .pluck();
    const countFailed = db.prepare(
      'UPDATE conversion_totals SET failed = failed + 1 WHERE account_id = ?',
    );
    const countInBlock = db.prepare(
      `INSERT INTO conversion_failures SELECT account_id, number / ${BLOCK}, 1 FROM conversions WHERE id = ?
       ON CONFLICT DO UPDATE SET failed = failed + 1`,
    );
    const insert = db.prepare(
      `INSERT INTO conversions (account_id, number, id, status, created_at, filename)
       VALUES (?, ?, ?, 'pending', ?, ?)`,
    );
    const start = db.prepare("UPDATE conversions SET status = 'processing' WHERE id = ?");
    const requeue = db.prepare("UPDATE conversions SET status = 'pending' WHERE id = ?");
    const complete = db.prepare(
      `UPDATE conversions SET status = 'completed', completed_at = ?, document = ?, pdf = ?, pages = ?, warnings = ?
       WHERE id = ?`,
    );
    const fail = db.prepare(
      "UPDATE conversions SET status = 'failed', error_message = ? WHERE id = ?",
    );
    const expire = db.prepare('UPDATE conversions SET expired = 1 WHERE id = ?');
    return typedHandlers({
      ConversionRequested({ accountId, conversionId, requestedAt, filename = null }) {
        insert.run(accountId, count.get(accountId), conversionId, requestedAt, filename);
      },
      ConversionStarted({ conversionId }) {
        start.run(conversionId);
      },
      ConversionRequeued({ conversionId }) {
        requeue.run(conversionId);
      },
      ConversionCompleted({ conversionId, document, pdf, pages, warnings = null, completedAt }) {
        const [blob, digest] = [JSON.stringify(document), JSON.stringify(pdf)];
        complete.run(completedAt, blob, digest, pages, warnings, conversionId);
      },
      ConversionFailed({ accountId, conversionId, message }) {
        fail.run(message, conversionId);
        countFailed.run(accountId);
        countInBlock.run(conversionId);
      },
      ConversionExpired({ conversionId }) {
        expire.run(conversionId);
      },
    });
  },
};

export interface ConversionRow {
  readonly id: string;
  readonly accountId: string;
  readonly status: ConversionStatus;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Only when completed. */
  readonly completedAt?: number;
  /** Only when failed. Sealed: the keyring's `unseal` reads it. */
  readonly errorMessage?: string;
  /** The name that the PDF is to be downloaded under. Sealed. */
  readonly filename?: string;
  /** The encrypted PDF; only when completed. It is gone from the blob store once `expired`. */
  readonly document?: BlobRef;
  /** The PDF itself; only when completed. */
  readonly pdf?: PdfDigest;
  readonly pages?: number;
  /** A JSON array of texts about what the page lacked; only when completed. Sealed. */
  readonly warnings?: string;
  readonly expired: boolean;
}

interface StoredConversion {
  readonly id: string;
  readonly account_id: string;
  readonly status: ConversionStatus;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly error_message: string | null;
  readonly filename: string | null;
  readonly document: string | null;
  readonly pdf: string | null;
  readonly pages: number | null;
  readonly warnings: string | null;
  readonly expired: number;
}

function toRow(stored: StoredConversion): ConversionRow {
  const { completed_at, error_message, filename, document, pdf, pages, warnings } = stored;
  return {
    id: stored.id,
    accountId: stored.account_id,
    status: stored.status,
    createdAt: stored.created_at,
    ...(completed_at === null ? {} : { completedAt: completed_at }),
    ...(error_message === null ? {} : { errorMessage: error_message }),
    ...(filename === null ? {} : { filename }),
    ...(document === null ? {} : { document: JSON.parse(document) as BlobRef }),
    ...(pdf === null ? {} : { pdf: JSON.parse(pdf) as PdfDigest }),
    ...(pages === null ? {} : { pages }),
    ...(warnings === null ? {} : { warnings }),
    expired: stored.expired === 1,
  };
}

export interface ConversionPage {
  readonly status?: ConversionStatus;
  readonly offset: number;
  readonly limit: number;
}

export interface ConversionQueries {
  byId(id: string): ConversionRow | undefined;
  /**
   * The conversion that made a PDF; the first one where several made the same bytes.
   * @param sha256 of the PDF, hex
   * @param accountId looks at this account's conversions alone
   */
  byPdf(sha256: string, accountId?: string): ConversionRow | undefined;
  /** Newest first; `total` counts all that the filter lets through. */
  page(
    accountId: string,
    page: ConversionPage,
  ): { readonly rows: readonly ConversionRow[]; readonly total: number };
}

export function conversionQueries(db: Database): ConversionQueries {
  const columns =
    'id, account_id, status, created_at, completed_at, error_message, filename, document, pdf, pages, warnings, expired';
  const byId = db.prepare<[string], StoredConversion>(
    `SELECT ${columns} FROM conversions WHERE id = ?`,
  );
  const byPdf = db.prepare<[string, string | null, string | null], StoredConversion>(
    `SELECT ${columns} FROM conversions INDEXED BY conversions_by_pdf
     WHERE pdf IS NOT NULL AND pdf ->> '$.sha256' = ? AND (? IS NULL OR account_id = ?)
     ORDER BY completed_at, id LIMIT 1`,
  );
  const totals = db.prepare<[string], { total: number; failed: number }>(
    'SELECT total, failed FROM conversion_totals WHERE account_id = ?',
  );
  const counted = db
    .prepare<[string, string], number>(
      'SELECT count(*) FROM conversions WHERE account_id = ? AND status = ?',
    )
    .pluck();
  const newest = db.prepare<[string, number, number], StoredConversion>(
    `SELECT ${columns} FROM conversions WHERE account_id = ? AND number <= ?
     ORDER BY number DESC LIMIT ?`,
  );
  // The inner select skips within the index alone; only the page's own rows are then read.
  const newestOfStatus = db.prepare<
    [string, string, string, number, number, number],
    StoredConversion
  >(
    `SELECT ${columns} FROM conversions WHERE account_id = ? AND number IN (
       SELECT number FROM conversions WHERE account_id = ? AND status = ? AND number <= ?
       ORDER BY number DESC LIMIT ? OFFSET ?)
     ORDER BY number DESC`,
  );
  const failedInBlocks = db
    .prepare<[string], [number, number]>(
      'SELECT block, failed FROM conversion_failures WHERE account_id = ?',
    )
    .raw();
  const unfinishedInBlocks = db
    .prepare<[string], [number, number]>(
      `SELECT number / ${BLOCK} AS block, count(*) FROM conversions
       WHERE account_id = ? AND status IN ('pending', 'processing') GROUP BY block`,
    )
    .raw();

  function totalOf(accountId: string, status: ConversionStatus): number {
    const { total, failed } = totals.get(accountId) ?? { total: 0, failed: 0 };
    if (status === 'failed') return failed;
    // Few are ever unfinished, so these two are counted and the many completed ones are the rest.
    if (status !== 'completed') return counted.get(accountId, status) ?? 0;
    return total - failed - totalOf(accountId, 'pending') - totalOf(accountId, 'processing');
  }

  /** A number from which on downwards only few of the status are to be skipped to reach the offset. */
  function nearOffset(
    accountId: string,
    status: ConversionStatus,
    offset: number,
  ): { readonly from: number; readonly skipped: number } {
    const last = totals.get(accountId)?.total ?? 0;
    if (offset < BLOCK || status === 'pending' || status === 'processing') {
      return { from: last, skipped: offset };
    }
    const failed = new Map(failedInBlocks.all(accountId));
    const unfinished = new Map(unfinishedInBlocks.all(accountId));
    let from = last;
    let skipped = offset;
    while (from > 0) {
      const block = Math.floor(from / BLOCK);
      // There is no number 0.
      const before = Math.max(0, block * BLOCK - 1);
      const failures = failed.get(block) ?? 0;
      const completed = from - before - failures - (unfinished.get(block) ?? 0);
      const count = status === 'failed' ? failures : completed;
      if (skipped < count) break;
      skipped -= count;
      from = before;
    }
    return { from, skipped };
  }

  return {
    byId(id) {
      const stored = byId.get(id);
      return stored && toRow(stored);
    },
    byPdf(sha256, accountId) {
      const stored = byPdf.get(sha256, accountId ?? null, accountId ?? null);
      return stored && toRow(stored);
    },
    page(accountId, { status, offset, limit }) {
      if (status === undefined) {
        const total = totals.get(accountId)?.total ?? 0;
        return { rows: newest.all(accountId, total - offset, limit).map(toRow), total };
      }
      const { from, skipped } = nearOffset(accountId, status, offset);
      const rows = newestOfStatus.all(accountId, accountId, status, from, limit, skipped);
      return { rows: rows.map(toRow), total: totalOf(accountId, status) };
    },
  };
}
