import type { EmbeddedDatabase } from '../../sqlite/database.ts';

/** Positions and revisions are given by the writer inside its transaction, so neither has gaps. */
const DDL = `
CREATE TABLE IF NOT EXISTS events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (stream, revision)
) STRICT;
CREATE TRIGGER IF NOT EXISTS events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
`;

export const INSERT_EVENT = `
INSERT INTO events (position, stream, revision, id, type, data, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?)`;

export function createEventTables(database: EmbeddedDatabase): void {
  database.define(DDL);
}
