/** The templates of accounts and their versions. What a version holds stays in the log. */
import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { type Page, present, type Slice, type Stored } from '../src/read-model/rows.ts';

const ddl = `
CREATE TABLE templates (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX templates_of_account ON templates (account_id, position);
CREATE TABLE template_versions (
  template_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  saved_at INTEGER NOT NULL,
  saved_by TEXT,
  PRIMARY KEY (template_id, version)
) STRICT, WITHOUT ROWID;`;

export const templates: Projection = {
  name: 'templates',
  version: 1,
  tables: ['templates', 'template_versions'],
  ddl,
  handlers(db) {
    const create = db.prepare(
      `INSERT INTO templates (position, id, account_id, name, created_at, changed_at)
       VALUES (@position, @templateId, @accountId, @name, @createdAt, @createdAt)`,
    );
    const save = db.prepare(
      'INSERT INTO template_versions SELECT id, ?, ?, ?, ?, ? FROM templates WHERE id = ?',
    );
    const count = db.prepare('UPDATE templates SET version = ?, changed_at = ? WHERE id = ?');
    const rename = db.prepare('UPDATE templates SET name = ?, changed_at = ? WHERE id = ?');
    const removeVersions = db.prepare('DELETE FROM template_versions WHERE template_id = ?');
    const remove = db.prepare('DELETE FROM templates WHERE id = ?');
    const ofAccount = db
      .prepare<[string], string>('SELECT id FROM templates WHERE account_id = ?')
      .pluck();
    const removeWhole = (id: string): void => {
      removeVersions.run(id);
      remove.run(id);
    };
    return typedHandlers({
      TemplateCreated(data, { position }) {
        create.run({ position, ...data });
      },
      TemplateVersionSaved({ templateId, version, bytes, savedAt }, { revision, metadata }) {
        const { actor } = metadata as EventMetadata;
        const person = 'person' in actor ? (actor.person ?? null) : null;
        save.run(version, revision, bytes, savedAt, person, templateId);
        count.run(version, savedAt, templateId);
      },
      TemplateRenamed({ templateId, name, renamedAt }) {
        rename.run(name, renamedAt, templateId);
      },
      TemplateDeleted({ templateId }) {
        removeWhole(templateId);
      },
      AccountErased({ accountId }) {
        for (const id of ofAccount.all(accountId)) removeWhole(id);
      },
    });
  },
};

export interface TemplateRow {
  readonly id: string;
  readonly accountId: string;
  /** Sealed. */
  readonly name: string;
  /** The newest one. */
  readonly version: number;
  /** Milliseconds since the Unix epoch, as is `changedAt`. */
  readonly createdAt: number;
  readonly changedAt: number;
}

export interface TemplateVersionRow {
  readonly version: number;
  /** The place of its event in the stream of the account's templates. */
  readonly revision: number;
  /** The length of what it holds, as JSON. */
  readonly bytes: number;
  readonly savedAt: number;
  /** The id of the person who saved it, or who made the key that did. */
  readonly savedBy?: string;
}

export interface TemplateQueries {
  byId(id: string): TemplateRow | undefined;
  /** Newest first. */
  page(accountId: string, page: Slice): Page<TemplateRow>;
  version(id: string, version: number): TemplateVersionRow | undefined;
  /** Newest first. */
  versions(id: string, page: Slice): Page<TemplateVersionRow>;
}

export function templateQueries(db: Database): TemplateQueries {
  const select = `SELECT id, account_id AS accountId, name, version, created_at AS createdAt,
    changed_at AS changedAt FROM templates`;
  const byId = db.prepare<[string], TemplateRow>(`${select} WHERE id = ?`);
  const page = db.prepare<[string, number, number], TemplateRow>(
    `${select} WHERE account_id = ? ORDER BY position DESC LIMIT ? OFFSET ?`,
  );
  const count = db
    .prepare<[string], number>('SELECT count(*) FROM templates WHERE account_id = ?')
    .pluck();
  const versions = `SELECT version, revision, bytes, saved_at AS savedAt, saved_by AS savedBy
    FROM template_versions WHERE template_id = ?`;
  const version = db.prepare<[string, number], Stored<TemplateVersionRow>>(
    `${versions} AND version = ?`,
  );
  const versionPage = db.prepare<[string, number, number], Stored<TemplateVersionRow>>(
    `${versions} ORDER BY version DESC LIMIT ? OFFSET ?`,
  );
  return {
    byId: (id) => byId.get(id),
    page: (accountId, { offset, limit }) => ({
      rows: page.all(accountId, limit, offset),
      total: count.get(accountId) ?? 0,
    }),
    version(id, number) {
      const stored = version.get(id, number);
      return stored && present<TemplateVersionRow>(stored);
    },
    versions(id, { offset, limit }) {
      const rows = versionPage.all(id, limit, offset).map(present<TemplateVersionRow>);
      return { rows, total: byId.get(id)?.version ?? 0 };
    },
  };
}
