/** A database whose schema is not as the service makes it: found by a start, by `verify` and by the next append. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { readConfig } from '../../../src/config/config.ts';
import { createLogger } from '../../../src/observe/log.ts';
import { openEventStore } from '../../../src/service/event-store.ts';
import { Openings } from '../../../src/service/open.ts';
import { newEvent } from '../../support/events.ts';
import { copyOf, signedLog, verifyDirectory } from '../../support/signed-log.ts';

/** A grant that is copied whenever a document is stored, as an attacker planted it. */
const COPIES_A_GRANT = `CREATE TRIGGER t AFTER INSERT ON blobs BEGIN
  INSERT INTO events SELECT (SELECT max(position) FROM events) + 1, stream,
    (SELECT max(revision) FROM events AS e WHERE e.stream = g.stream) + 1,
    lower(hex(randomblob(4))) || '-1111-5111-8111-111111111111', type, data, metadata
  FROM events AS g WHERE type = 'CreditGranted' LIMIT 1; END`;

const FOREIGN = /^one that it does not make$/;
const ON_BLOBS = /^one on blobs that it does not make$/;
const ON_EVENTS = /^one on events that it does not make$/;

const rewritten = (name: string, from: string, to: string): string =>
  `PRAGMA writable_schema = ON;
   UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE name = '${name}';
   PRAGMA writable_schema = RESET`;

const tamperings: readonly (readonly [object: string, found: RegExp, sql: string])[] = [
  ['trigger t', ON_BLOBS, COPIES_A_GRANT],
  ['trigger T', ON_EVENTS, 'CREATE TRIGGER T AFTER INSERT ON events BEGIN DELETE FROM blobs; END'],
  ['trigger d', ON_BLOBS, 'CREATE TRIGGER d BEFORE DELETE ON blobs BEGIN SELECT 1; END'],
  [
    'trigger events_no_delete',
    /^another definition: CREATE TRIGGER events_no_delete AFTER/,
    `DROP TRIGGER events_no_delete;
     CREATE TRIGGER events_no_delete AFTER DELETE ON events BEGIN SELECT 1; END`,
  ],
  ['trigger events_no_update', /^none$/, 'DROP TRIGGER events_no_update'],
  [
    'trigger events_moved',
    ON_EVENTS,
    "CREATE TRIGGER events_moved BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'x'); END",
  ],
  ['table hidden', FOREIGN, 'CREATE TABLE hidden (text TEXT)'],
  ['table BLOBS', FOREIGN, 'DROP TABLE blobs; CREATE TABLE BLOBS (key UNIQUE, content)'],
  ['table barrier', FOREIGN, 'CREATE TABLE barrier (hidden TEXT)'],
  ['table barrier', FOREIGN, 'CREATE TABLE barrier (kind TEXT NOT NULL, subject TEXT) STRICT'],
  ['table sqlite_stat1', FOREIGN, 'ANALYZE'],
  ['table words', FOREIGN, 'CREATE VIRTUAL TABLE words USING fts5(word)'],
  ['index i', FOREIGN, "CREATE INDEX i ON events (data ->> '$.amount')"],
  ['view v', FOREIGN, 'CREATE VIEW v AS SELECT 1'],
  [
    'view v',
    FOREIGN,
    `CREATE VIEW v AS SELECT 1 AS x; CREATE TRIGGER w INSTEAD OF INSERT ON v
     BEGIN DELETE FROM blobs; END`,
  ],
  ['table e', FOREIGN, 'ALTER TABLE events RENAME TO e; CREATE VIEW events AS SELECT * FROM e'],
  ['table events', /^another definition/, 'ALTER TABLE events ADD COLUMN hidden TEXT'],
  ['table events', /hidden/, 'ALTER TABLE events ADD COLUMN hidden TEXT AS (data) VIRTUAL'],
  ['table events', /^another definition/, 'ALTER TABLE events RENAME COLUMN data TO DATA'],
  ['table events', /^another definition/, 'ALTER TABLE events RENAME COLUMN data TO other'],
  ['table events', /^none$/, 'DROP TABLE events'],
  ['table events', /CHECK/, rewritten('events', 'data TEXT', 'data TEXT CHECK (1)')],
  ['table events', /^another definition/, rewritten('events', ') STRICT', ')')],
  ['table blobs', /^another definition/, rewritten('blobs', 'key TEXT', 'key  TEXT')],
];

function alter(dataDir: string, sql: string): void {
  const db = new Sqlite(join(dataDir, 'pressledger.db'));
  try {
    db.unsafeMode();
    db.exec(sql);
  } finally {
    db.close();
  }
}

async function open(t: Test, dataDir: string) {
  const openings = new Openings();
  t.teardown(() => openings.close());
  const config = readConfig({ DATA_DIR: dataDir });
  return await openEventStore(
    { config, logger: createLogger('silent'), openings },
    {
      write: true,
      serve: true,
    },
  );
}

void test('each tampering is found at a start and by verify, with its place', async (t) => {
  const original = await signedLog(t);
  for (const [object, found, sql] of tamperings) {
    const copy = copyOf(original);
    alter(copy, sql);
    const fault = { schema: { object }, found };
    await t.rejects(open(t, copy), { message: /changed past the service.*sqlite3/, fault }, sql);
    const verified = await verifyDirectory(copy).catch((error: unknown) => error);
    const isRead = verified instanceof Error;
    t.match(verified, isRead ? { fault } : { ok: false, at: { object }, found }, sql);
  }
});

void test('a service that runs refuses to write until its schema is right again', async (t) => {
  const dataDir = await signedLog(t);
  const { store, database } = await open(t, dataDir);
  const head = await store.head();
  alter(dataDir, `PRAGMA user_version = 1; ${COPIES_A_GRANT}`);
  await t.rejects(store.append('later-1', [newEvent()], 'no-stream'), { cause: /trigger t/ });
  if (database === undefined) throw new Error('It lies in a file.');
  await t.rejects(
    database.commit((db) => db.exec('DELETE FROM blobs')),
    /trigger t/,
  );
  t.match(database.failure(), /at the trigger t: .*found one on blobs/, 'readiness tells it');
  t.equal(await store.head(), head, 'nothing was written');
  alter(dataDir, 'DROP TRIGGER t');
  await store.append('later-1', [newEvent()], 'no-stream');
  t.equal(database.failure(), undefined);
});

void test('what the service itself makes is not a difference', async (t) => {
  const dataDir = await signedLog(t);
  const { store } = await open(t, dataDir);
  for (const kind of ['incomplete', 'moving', 'moved'] as const) {
    await store.setBarrier({ kind, subject: 'elsewhere' });
    t.match(await verifyDirectory(dataDir), { ok: true }, kind);
  }
  await store.setBarrier(undefined);
  await store.append('later-1', [newEvent()], 'no-stream');
});

void test('a store whose documents lie elsewhere has no table for them', async (t) => {
  const dataDir = await signedLog(t);
  alter(dataDir, 'DROP TABLE blobs; VACUUM');
  await open(t, dataDir);
  t.match(await verifyDirectory(dataDir, { documents: false }), { ok: true });
});
