/** API keys as their account lists them. Whether a key is good is read from its stream, not here. */
import type { Database } from 'better-sqlite3';
import { rightsIn } from '../src/domain/api-key.ts';
import type { KeyRights } from '../src/domain/event-fields.ts';
import { founderOf } from '../src/domain/members.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { type Page, present, type Slice, type Stored } from '../src/read-model/rows.ts';

/**
 * `position` is that of KeyCreated: the order in which keys were made. `former_makers` has removed members: a key that is
 * recorded after the removal of its maker was never good.
 */
const ddl = `
CREATE TABLE api_keys (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  created_by TEXT NOT NULL,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  rights TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX api_keys_in_force ON api_keys (account_id, position) WHERE revoked = 0;
CREATE TABLE former_makers (
  account_id TEXT NOT NULL,
  person_id TEXT NOT NULL,
  PRIMARY KEY (account_id, person_id)
) STRICT, WITHOUT ROWID;`;

export const apiKeys: Projection = {
  name: 'api-keys',
  version: 4,
  tables: ['api_keys', 'former_makers'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO api_keys
         (position, id, account_id, created_by, name, prefix, rights, created_at, revoked)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const leave = db.prepare('INSERT OR IGNORE INTO former_makers VALUES (?, ?)');
    const join = db.prepare('DELETE FROM former_makers WHERE account_id = ? AND person_id = ?');
    const isFormer = db
      .prepare<[string, string], number>(
        'SELECT EXISTS (SELECT 1 FROM former_makers WHERE account_id = ? AND person_id = ?)',
      )
      .pluck();
    const use = db.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?');
    const revoke = db.prepare('UPDATE api_keys SET revoked = 1 WHERE id = ?');
    const revokeAllOf = db.prepare(
      'UPDATE api_keys SET revoked = 1 WHERE account_id = ? AND created_by = ? AND revoked = 0',
    );
    return typedHandlers({
      KeyCreated(data, event) {
        const { accountId, keyId, name, prefix, createdAt } = data;
        const { createdBy = founderOf(accountId) } = data;
        const rights = JSON.stringify(rightsIn(data));
        const of = [accountId, createdBy, name, prefix, rights];
        insert.run(event.position, keyId, ...of, createdAt, isFormer.get(accountId, createdBy));
      },
      MemberRemoved({ accountId, personId }) {
        revokeAllOf.run(accountId, personId);
        leave.run(accountId, personId);
      },
      MemberJoined({ accountId, personId }) {
        join.run(accountId, personId);
      },
      KeyUsed({ keyId, usedAt }) {
        use.run(usedAt, keyId);
      },
      KeyRevoked({ keyId }) {
        revoke.run(keyId);
      },
    });
  },
};

export interface ApiKeyRow {
  readonly id: string;
  readonly accountId: string;
  /** The member who made it. */
  readonly createdBy: string;
  /** Sealed: the keyring's `unseal` reads it. */
  readonly name: string;
  /** The first 12 characters of the key. */
  readonly prefix: string;
  readonly rights: KeyRights;
  /** Milliseconds since the Unix epoch, as is `lastUsedAt`. */
  readonly createdAt: number;
  readonly lastUsedAt?: number;
  readonly revoked: boolean;
}

export interface ApiKeyFilter {
  readonly createdBy?: string;
  readonly isTest?: true;
}

export interface ApiKeyQueries {
  byId(id: string): ApiKeyRow | undefined;
  /** Those not revoked, newest first, of one maker and for tests where that is asked; `total` counts them all. */
  page(accountId: string, page: Slice, only?: ApiKeyFilter): Page<ApiKeyRow>;
  /** Counts the keys that are neither revoked nor expired. With a key's id, leaves out newer keys. */
  inForce(accountId: string, now: number, upToId?: string): number;
}

interface StoredKey extends Omit<Stored<ApiKeyRow>, 'revoked' | 'rights'> {
  readonly rights: string;
  readonly revoked: number;
}

type Asked = [account: string, maker: string | null, same: string | null, testsOnly: number];

const toRow = ({ revoked, rights, ...key }: StoredKey): ApiKeyRow =>
  present<ApiKeyRow>({
    ...key,
    rights: JSON.parse(rights) as KeyRights,
    revoked: revoked === 1,
  });

export function apiKeyQueries(db: Database): ApiKeyQueries {
  const select = `SELECT id, account_id AS accountId, created_by AS createdBy, name, prefix, rights,
    created_at AS createdAt,
    last_used_at AS lastUsedAt, revoked FROM api_keys`;
  const byId = db.prepare<[string], StoredKey>(`${select} WHERE id = ?`);
  const listed = `WHERE account_id = ? AND revoked = 0 AND (? IS NULL OR created_by = ?)
    AND (? = 0 OR json_extract(rights, '$.isTest'))`;
  const inForce = db.prepare<[...Asked, number, number], StoredKey>(
    `${select} ${listed} ORDER BY position DESC LIMIT ? OFFSET ?`,
  );
  const count = db.prepare<Asked, number>(`SELECT count(*) FROM api_keys ${listed}`).pluck();
  const countInForce = db
    .prepare<[string, number, string | null, string | null], number>(
      `SELECT count(*) FROM api_keys WHERE account_id = ? AND revoked = 0
       AND coalesce(json_extract(rights, '$.expiresAt') > ?, 1)
       AND (? IS NULL OR position <= (SELECT position FROM api_keys WHERE id = ?))`,
    )
    .pluck();
  return {
    byId(id) {
      const stored = byId.get(id);
      return stored && toRow(stored);
    },
    page(accountId, { offset, limit }, { createdBy = null, isTest = false } = {}) {
      const asked: Asked = [accountId, createdBy, createdBy, Number(isTest)];
      const rows = inForce.all(...asked, limit, offset).map(toRow);
      return { rows, total: count.get(...asked) ?? 0 };
    },
    inForce: (accountId, now, upToId) =>
      countInForce.get(accountId, now, upToId ?? null, upToId ?? null) ?? 0,
  };
}
