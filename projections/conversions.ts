/** Every conversion as its account sees it: one row each, and how many an account has. */
import type { Database } from 'better-sqlite3';
import type { ConversionFailureCode, Format } from '../src/domain/choices.ts';
import type {
  BlobRef,
  Conformances,
  PdfDigest,
  Rerender,
  SignatureFacts,
} from '../src/domain/event-fields.ts';
import { keyOf, type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { countingOf, present, type Stored } from '../src/read-model/rows.ts';
import {
  BLOCK,
  type ConversionPages,
  type ConversionStatus,
  conversionPages,
} from './conversion-pages.ts';

/**
 * `number` counts an account's conversions from 1, so that a page is found without skipping rows. A page of those
 * that failed or completed is found by the failures in each block of numbers, and by the few that are unfinished.
 * `time` is that of the creation, but never decreases with the number (nodes' clocks differ): a time is found by a search.
 */
const ddl = `
CREATE TABLE conversions (
  account_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  time INTEGER NOT NULL,
  completed_at INTEGER,
  failed_at INTEGER,
  failure_code TEXT,
  error_message TEXT,
  picture TEXT,
  source TEXT NOT NULL,
  format TEXT,
  key_id TEXT,
  retry_of TEXT,
  rerender_of TEXT,
  batch_id TEXT,
  retention_seconds INTEGER,
  retention_of_account INTEGER,
  is_test INTEGER,
  template TEXT,
  template_data TEXT,
  filename TEXT,
  reference TEXT,
  tags TEXT,
  address TEXT,
  title TEXT,
  document TEXT,
  pdf TEXT,
  pages INTEGER,
  warnings TEXT,
  conformance TEXT,
  signature TEXT,
  rerender TEXT,
  expired INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX conversions_by_id ON conversions (id);
CREATE TABLE conversion_totals (
  account_id TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE conversion_failures (
  account_id TEXT NOT NULL,
  block INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (account_id, block)
) STRICT, WITHOUT ROWID;`;

const indices = `
CREATE INDEX conversions_by_status ON conversions (account_id, status, number);
CREATE INDEX conversions_by_pdf ON conversions (pdf ->> '$.sha256', account_id) WHERE pdf IS NOT NULL;`;

const orNull = (value: object | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);

export const conversions: Projection = {
  name: 'conversions',
  version: 20,
  tables: ['conversions', 'conversion_totals', 'conversion_failures'],
  ddl,
  indices,
  handlers(db) {
    const count = countingOf(db, 'conversion_totals');
    const countInBlock = db.prepare(
      `INSERT INTO conversion_failures SELECT account_id, number / ${BLOCK}, 1 FROM conversions WHERE id = ?
       ON CONFLICT DO UPDATE SET failed = failed + 1`,
    );
    const insert = db.prepare(
      `INSERT INTO conversions (account_id, number, id, status, created_at, time, source, format, key_id,
         retry_of, rerender_of, batch_id, retention_seconds, retention_of_account, is_test, template, filename, reference, tags, address, template_data)
       VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const start = db.prepare("UPDATE conversions SET status = 'processing' WHERE id = ?");
    const requeue = db.prepare("UPDATE conversions SET status = 'pending' WHERE id = ?");
    const complete = db.prepare(
      `UPDATE conversions SET status = 'completed', completed_at = ?, document = ?, pdf = ?, pages = ?, warnings = ?,
         title = ?, conformance = ?, signature = ?, rerender = ?
       WHERE id = ?`,
    );
    const fail = db.prepare(
      `UPDATE conversions SET status = 'failed', failed_at = ?, failure_code = ?, error_message = ?,
         picture = ?
       WHERE id = ?`,
    );
    const expire = db.prepare('UPDATE conversions SET expired = 1 WHERE id = ?');
    return typedHandlers({
      ConversionRequested(data, event) {
        const { accountId, conversionId, requestedAt, source, options, template } = data;
        const { retryOf = null, rerenderOf = null, batchId = null, retentionSeconds = null } = data;
        const { filename = null, reference = null, tags = null, address = null } = data;
        const { total, time } = count.get(accountId, requestedAt) ?? {};
        const ofAccount = data.retentionOfAccount ? 1 : null;
        const how = [source, options.format === 'pdf' ? null : options.format, keyOf(event)];
        const marks = [retryOf, rerenderOf, batchId, retentionSeconds, ofAccount];
        const kinds = [data.isTest ? 1 : null, orNull(template)];
        const texts = [filename, reference, tags, address, data.templateData ?? null];
        const all = [...how, ...marks, ...kinds, ...texts];
        insert.run(accountId, total, conversionId, requestedAt, time, ...all);
      },
      ConversionStarted: ({ conversionId }) => void start.run(conversionId),
      ConversionRequeued: ({ conversionId }) => void requeue.run(conversionId),
      ConversionCompleted({ conversionId, document, pdf, pages, completedAt, ...told }) {
        const [blob, digest] = [JSON.stringify(document), JSON.stringify(pdf)];
        const { warnings = null, title = null, conformance, signature, rerender } = told;
        const texts = [warnings, title, ...[conformance, signature, rerender].map(orNull)];
        complete.run(completedAt, blob, digest, pages, ...texts, conversionId);
      },
      ConversionFailed({ conversionId, code, message, picture, failedAt }) {
        fail.run(failedAt, code, message, picture ? JSON.stringify(picture) : null, conversionId);
        countInBlock.run(conversionId);
      },
      ConversionDeleted: ({ conversionId }) => void expire.run(conversionId),
      ConversionExpired: ({ conversionId }) => void expire.run(conversionId),
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
  /** Only when failed. */
  readonly failedAt?: number;
  /** Only when failed. */
  readonly failureCode?: ConversionFailureCode;
  /** Only when failed. Sealed: the keyring's `unseal` reads it. */
  readonly errorMessage?: string;
  /** The encrypted picture of the page; only when failed. It is not to be had any more once `expired`. */
  readonly picture?: BlobRef;
  readonly source: 'html' | 'url' | 'document';
  /** That of a picture; absent for a PDF. */
  readonly format?: Exclude<Format, 'pdf'>;
  /** The API key that it was asked for with, if it was one. */
  readonly keyId?: string;
  /** The conversion whose request was asked for once more. */
  readonly retryOf?: string;
  /** The conversion whose request was rendered again, to be compared with its PDF. */
  readonly rerenderOf?: string;
  /** The batch that it was asked for in, if it was one. */
  readonly batchId?: string;
  /** What its request or account says of how long it is kept; `requestedRetentionMs` has the meaning. */
  readonly retentionSeconds?: number;
  /** Present if the account says so, and not the request. */
  readonly retentionOfAccount?: 1;
  /** Present if it is a test. */
  readonly isTest?: 1;
  /** The version of the template that its HTML was made of, if it was. */
  readonly template?: { readonly id: string; readonly version: number };
  /** SHA-256 of the data of that, hex. Sealed. */
  readonly templateData?: string;
  /** The name that the PDF is to be downloaded under. Sealed. */
  readonly filename?: string;
  /** The caller's own name for it. Sealed. */
  readonly reference?: string;
  /** A JSON object of names and values. Sealed. */
  readonly tags?: string;
  /** The host and path of its URL. Sealed. */
  readonly address?: string;
  /** The title of the page, else its first heading or words, once it is printed. Sealed. */
  readonly title?: string;
  /** The encrypted PDF; only when completed. It is not to be had any more once `expired`. */
  readonly document?: BlobRef;
  /** The PDF itself; only when completed. */
  readonly pdf?: PdfDigest;
  readonly pages?: number;
  /** A JSON array of texts about what the page lacked; only when completed. Sealed. */
  readonly warnings?: string;
  /** What the PDF conforms to, if anything was asked for; only when completed. */
  readonly conformance?: Conformances;
  /** Its signature, if one was asked for; only when completed. */
  readonly signature?: SignatureFacts;
  /** How its PDF compares with that of `rerenderOf`; only when completed. */
  readonly rerender?: Rerender;
  readonly expired: boolean;
}

const JSON_OF_EVENTS = ['picture', 'document', 'pdf', 'conformance', 'signature'] as const;
const JSON_COLUMNS = [...JSON_OF_EVENTS, 'rerender', 'template'] as const;

type StoredConversion = Omit<Stored<ConversionRow>, (typeof JSON_COLUMNS)[number] | 'expired'> &
  Readonly<Record<(typeof JSON_COLUMNS)[number], string | null>> & { readonly expired: number };

function toRow(stored: StoredConversion): ConversionRow {
  const parsed = JSON_COLUMNS.map((name) => [name, JSON.parse(stored[name] ?? 'null')] as const);
  const row: object = { ...stored, ...Object.fromEntries(parsed), expired: stored.expired === 1 };
  return present(row as Stored<ConversionRow>);
}

/** What a search knows of a conversion. The texts are sealed. */
export interface SearchRow
  extends Pick<
    ConversionRow,
    | 'id'
    | 'status'
    | 'source'
    | 'keyId'
    | 'batchId'
    | 'isTest'
    | 'filename'
    | 'reference'
    | 'tags'
    | 'address'
    | 'title'
  > {
  readonly number: number;
  readonly hasWarnings: 0 | 1;
  readonly templateId?: string;
}

/** Pages are newest first; `total` counts all that the filter lets through. */
export interface ConversionQueries extends ConversionPages<ConversionRow> {
  byId(id: string): ConversionRow | undefined;
  /**
   * The conversion that made a PDF; the first one where several made the same bytes.
   * @param sha256 of the PDF, hex
   * @param accountId looks only at this account's conversions
   * @param testsOnly looks only at tests
   */
  byPdf(sha256: string, accountId?: string, testsOnly?: boolean): ConversionRow | undefined;
  /**
   * The first of the completed conversions, by the hash of the PDF, then by account and number, from a hash on.
   * @param afterAccount only those of that very hash, and of accounts after this one
   */
  fromPdf(sha256: string, afterAccount?: string): ConversionRow | undefined;
  /** In the order of the numbers; those that the account has not are left out. */
  byNumbers(accountId: string, numbers: readonly number[]): readonly ConversionRow[];
  /** Up to the number, newest first. */
  searchRows(accountId: string, upTo: number, limit: number): readonly SearchRow[];
  searchRow(id: string): SearchRow | undefined;
}

const COLUMNS = `id, account_id AS accountId, status, created_at AS createdAt, completed_at AS completedAt,
  failed_at AS failedAt, failure_code AS failureCode, error_message AS errorMessage, picture, source, format, key_id AS keyId,
  retry_of AS retryOf, rerender_of AS rerenderOf, batch_id AS batchId, retention_seconds AS retentionSeconds,
  retention_of_account AS retentionOfAccount, is_test AS isTest, template, template_data AS templateData, filename, reference, tags, address, title, document, pdf, pages, warnings, conformance, signature,
  rerender, expired`;

export function conversionQueries(db: Database): ConversionQueries {
  const byId = db.prepare<[string], StoredConversion>(
    `SELECT ${COLUMNS} FROM conversions WHERE id = ?`,
  );
  const byPdf = db.prepare<[string, string | null, string | null, number], StoredConversion>(
    `SELECT ${COLUMNS} FROM conversions INDEXED BY conversions_by_pdf
     WHERE pdf IS NOT NULL AND pdf ->> '$.sha256' = ? AND (? IS NULL OR account_id = ?)
       AND (? = 0 OR is_test IS NOT NULL)
     ORDER BY completed_at, id LIMIT 1`,
  );
  const hashed = (
    condition: string,
  ) => `SELECT ${COLUMNS} FROM conversions INDEXED BY conversions_by_pdf
    WHERE pdf IS NOT NULL AND ${condition} ORDER BY pdf ->> '$.sha256', account_id, number LIMIT 1`;
  const fromPdf = db.prepare<[string], StoredConversion>(hashed("pdf ->> '$.sha256' >= ?"));
  const ofNextAccount = db.prepare<[string, string], StoredConversion>(
    hashed("pdf ->> '$.sha256' = ? AND account_id > ?"),
  );
  const pages = conversionPages<StoredConversion>(db, COLUMNS);
  const byNumber = db.prepare<[string, number], StoredConversion>(
    `SELECT ${COLUMNS} FROM conversions WHERE account_id = ? AND number = ?`,
  );
  const searched = `SELECT number, id, status, source, key_id AS keyId, batch_id AS batchId, is_test AS isTest, filename, reference,
    tags, address, title, template ->> '$.id' AS templateId,
    warnings IS NOT NULL AS hasWarnings FROM conversions`;
  const searchRows = db.prepare<[string, number, number], Stored<SearchRow>>(
    `${searched} WHERE account_id = ? AND number <= ? ORDER BY number DESC LIMIT ?`,
  );
  const searchRow = db.prepare<[string], Stored<SearchRow>>(`${searched} WHERE id = ?`);
  return {
    ...pages,
    byId(id) {
      const stored = byId.get(id);
      return stored && toRow(stored);
    },
    byPdf(sha256, accountId, testsOnly = false) {
      const account = accountId ?? null;
      const stored = byPdf.get(sha256, account, account, Number(testsOnly));
      return stored && toRow(stored);
    },
    fromPdf(sha256, afterAccount) {
      const stored =
        afterAccount === undefined ? fromPdf.get(sha256) : ofNextAccount.get(sha256, afterAccount);
      return stored && toRow(stored);
    },
    page(accountId, page) {
      const { rows, total } = pages.page(accountId, page);
      return { rows: rows.map(toRow), total };
    },
    byNumbers: (accountId, numbers) =>
      numbers.flatMap((number) => {
        const stored = byNumber.get(accountId, number);
        return stored === undefined ? [] : [toRow(stored)];
      }),
    searchRows: (accountId, upTo, limit) =>
      searchRows.all(accountId, upTo, limit).map(present<SearchRow>),
    searchRow(id) {
      const stored = searchRow.get(id);
      return stored && present<SearchRow>(stored);
    },
  };
}
