/** Links to the files of conversions: those that conversions list, and those that somebody uses. */
import type { Database } from 'better-sqlite3';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { type Page, present, type Slice, type Stored } from '../src/read-model/rows.ts';

/** `position` is that of LinkCreated: the order in which links were created. */
const ddl = `
CREATE TABLE share_links (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  conversion_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  downloads INTEGER NOT NULL DEFAULT 0,
  last_download_at INTEGER,
  revoked INTEGER NOT NULL DEFAULT 0
) STRICT;`;
const indices =
  'CREATE INDEX share_links_in_force ON share_links (conversion_id, position) WHERE revoked = 0;';

export const shareLinks: Projection = {
  name: 'share-links',
  version: 1,
  tables: ['share_links'],
  ddl,
  indices,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO share_links (position, id, hash, conversion_id, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    const revoke = db.prepare('UPDATE share_links SET revoked = 1 WHERE id = ?');
    const download = db.prepare(
      'UPDATE share_links SET downloads = downloads + 1, last_download_at = ? WHERE hash = ?',
    );
    return typedHandlers({
      LinkCreated({ linkId, linkHash, conversionId, createdAt, expiresAt }, { position }) {
        insert.run(position, linkId, linkHash, conversionId, createdAt, expiresAt);
      },
      LinkRevoked({ linkId }) {
        revoke.run(linkId);
      },
      DocumentDownloaded({ link, downloadedAt }) {
        if (link !== undefined) download.run(downloadedAt, link);
      },
    });
  },
};

export interface ShareLinkRow {
  readonly id: string;
  readonly conversionId: string;
  /** Milliseconds since the Unix epoch, as are the other times. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Those that are recorded. */
  readonly downloads: number;
  readonly lastDownloadAt?: number;
}

/** Links that were neither revoked nor have expired. */
export interface ShareLinkQueries {
  /** @param hash SHA-256 of the secret in the link, hex */
  byHash(hash: string, now: number): ShareLinkRow | undefined;
  /** Those to the file of one conversion, newest first. */
  page(conversionId: string, now: number, page: Slice): Page<ShareLinkRow>;
}

export function shareLinkQueries(db: Database): ShareLinkQueries {
  const select = `SELECT id, conversion_id AS conversionId, created_at AS createdAt,
    expires_at AS expiresAt, downloads, last_download_at AS lastDownloadAt FROM share_links`;
  const inForce = 'revoked = 0 AND expires_at > ?';
  const byHash = db.prepare<[string, number], Stored<ShareLinkRow>>(
    `${select} WHERE hash = ? AND ${inForce}`,
  );
  const ofConversion = `conversion_id = ? AND ${inForce}`;
  const page = db.prepare<[string, number, number, number], Stored<ShareLinkRow>>(
    `${select} WHERE ${ofConversion} ORDER BY position DESC LIMIT ? OFFSET ?`,
  );
  const count = db
    .prepare<[string, number], number>(`SELECT count(*) FROM share_links WHERE ${ofConversion}`)
    .pluck();
  return {
    byHash(hash, now) {
      const stored = byHash.get(hash, now);
      return stored && present<ShareLinkRow>(stored);
    },
    page(conversionId, now, { offset, limit }) {
      const rows = page.all(conversionId, now, limit, offset);
      return {
        rows: rows.map((row) => present<ShareLinkRow>(row)),
        total: count.get(conversionId, now) ?? 0,
      };
    },
  };
}
