import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { test } from 'tap';
import { SCHEMA_VERSION } from '../../../src/domain/events.ts';
import { eventId } from '../../../src/time/ids.ts';
import {
  account,
  copyOf,
  forge,
  life,
  signedLog,
  verifyDirectory,
} from '../../support/signed-log.ts';

const set = (db: Database, position: number, column: string, from: string, to: string): void => {
  const update = `UPDATE events SET ${column} = replace(${column}, ?, ?) WHERE position = ?`;
  const { changes } = db.prepare(update).run(from, to, position);
  if (changes !== 1) throw new Error('Nothing was changed.');
};

/** Closes the gap that a removed event leaves in the positions, and in the revisions of its stream. */
function remove(db: Database, position: number): void {
  const [stream, revision] = db
    .prepare<[number], [string, number]>('SELECT stream, revision FROM events WHERE position = ?')
    .raw()
    .get(position) ?? ['', 0];
  db.prepare('DELETE FROM events WHERE position = ?').run(position);
  move(db, position, -1);
  for (const { at } of after(db, stream, revision)) {
    db.prepare('UPDATE events SET revision = revision - 1 WHERE position = ?').run(at);
  }
}

const after = (db: Database, stream: string, revision: number) =>
  db
    .prepare<[string, number], { at: number }>(
      'SELECT position AS at FROM events WHERE stream = ? AND revision > ? ORDER BY position',
    )
    .all(stream, revision);

/** Moves all events from a position on, by way of positions that nobody has. */
function move(db: Database, from: number, by: number): void {
  db.prepare('UPDATE events SET position = position + 1000 WHERE position >= ?').run(from);
  db.prepare('UPDATE events SET position = position - 1000 + ? WHERE position > 1000').run(by);
}

function swap(db: Database, one: number, other: number): void {
  const put = db.prepare('UPDATE events SET position = ? WHERE position = ?');
  put.run(1000, one);
  put.run(one, other);
  put.run(other, 1000);
}

const CHANGED = /: it was changed/;
const BY_ROOT = /^the root .*: something in the events of index/;
/** The checkpoints of 9 and of 23 events. */
const FIRST = { position: '10', type: 'CheckpointSigned' };
const SECOND = { position: '24', type: 'CheckpointSigned' };

interface Forgery {
  readonly name: string;
  readonly edit: (db: Database) => void;
  /** Told with the hashes that the read models keep, and without them where that is different. */
  readonly at: object;
  readonly found: RegExp;
  readonly alone?: { readonly at: object; readonly found: RegExp };
}

const forgeries: readonly Forgery[] = [
  {
    name: 'changed data',
    edit: (db) => set(db, 3, 'data', '"amount":10', '"amount":99'),
    at: { index: 2, position: '3', stream: account(), revision: 1, type: 'CreditGranted' },
    found: CHANGED,
    alone: { at: FIRST, found: BY_ROOT },
  },
  {
    name: 'changed metadata',
    edit: (db) => set(db, 16, 'metadata', '"time":', '"time":1'),
    at: { position: '16', type: 'DocumentDownloaded' },
    found: CHANGED,
    alone: { at: SECOND, found: /something in the events of index 9 to 22/ },
  },
  {
    name: 'a changed id',
    edit: (db) => db.exec("UPDATE events SET id = 'x' WHERE position = 8"),
    at: { position: '8', id: 'x' },
    found: CHANGED,
    alone: { at: { position: '8' }, found: /^x$/ },
  },
  {
    name: 'a changed type',
    edit: (db) => db.exec("UPDATE events SET type = 'CreditRefunded' WHERE position = 3"),
    at: { position: '3', type: 'CreditRefunded' },
    found: CHANGED,
    alone: { at: { position: '3' }, found: /other data/ },
  },
  {
    name: 'data that is no JSON',
    edit: (db) => set(db, 16, 'data', '{', ''),
    at: { position: '16', stream: life(1), revision: 2, type: 'DocumentDownloaded' },
    found: /not JSON/,
  },
  {
    name: 'a checkpoint that is no JSON',
    edit: (db) => set(db, 24, 'data', '{', ''),
    at: { position: '24', type: 'CheckpointSigned' },
    found: /not JSON/,
  },
  {
    name: 'data that is not an object',
    edit: (db) => db.exec("UPDATE events SET data = 'null' WHERE position = 16"),
    at: { position: '16' },
    found: CHANGED,
    alone: { at: { position: '16' }, found: /other data/ },
  },
  {
    name: 'a schema version that would keep upcasters busy for ever',
    edit: (db) =>
      set(db, 16, 'metadata', `"schemaVersion":${SCHEMA_VERSION}`, '"schemaVersion":-1e15'),
    at: { position: '16' },
    found: CHANGED,
    alone: { at: { position: '16' }, found: /schemaVersion/ },
  },
  {
    name: 'an event that was removed',
    edit: (db) => db.exec('DELETE FROM events WHERE position = 16'),
    at: { index: 15, position: '17' },
    found: /1 before it are missing/,
    alone: { at: { position: '24' }, found: /checkpoint|one of 23/ },
  },
  {
    name: 'an event that was removed, and the others renumbered',
    edit: (db) => remove(db, 16),
    at: { index: 15, position: '16', stream: account(2) },
    found: CHANGED,
    alone: { at: { position: '23' }, found: /one of 23/ },
  },
  {
    name: 'the first event of a stream that was removed',
    edit: (db) => db.exec('DELETE FROM events WHERE position = 17'),
    at: { index: 16, position: '18' },
    found: /1 before it are missing \(expected revision 0 of account-.*found revision 1\)/,
    alone: { at: { position: '18' }, found: /^revision 1$/ },
  },
  {
    name: 'an event that was put in',
    edit: (db) => {
      move(db, 16, 1);
      db.exec(`INSERT INTO events SELECT 16, 'email-' || id, 0, 'new', 'EmailReserved',
        '{"accountId":"' || substr(stream, 9) || '"}', metadata FROM events WHERE position = 2`);
    },
    at: { index: 15, position: '16', type: 'EmailReserved' },
    found: CHANGED,
    alone: { at: { position: '16' }, found: /^new$/ },
  },
  {
    name: 'two events in another order',
    edit: (db) => swap(db, 15, 16),
    at: { index: 14, position: '15', type: 'DocumentDownloaded' },
    found: CHANGED,
    alone: { at: SECOND, found: BY_ROOT },
  },
  {
    name: 'an event that was moved to the end',
    edit: (db) => db.exec('UPDATE events SET position = 29 WHERE position = 16'),
    at: { index: 15, position: '17' },
    found: /1 before it are missing/,
    alone: { at: { position: '24' }, found: /one of 23/ },
  },
  {
    name: 'streams that were swapped',
    edit: (db) => {
      db.exec(`UPDATE events SET stream = '${account(3)}' WHERE stream = '${account(1)}';
        UPDATE events SET stream = '${account(1)}' WHERE stream = '${account(2)}';`);
    },
    at: { position: '2', stream: account(3) },
    found: CHANGED,
    alone: { at: { position: '2' }, found: new RegExp(`^one in ${account(3)}$`) },
  },
  {
    name: 'a checkpoint with another root',
    edit: (db) => set(db, 24, 'data', '"root":"', '"root":"AAAA'),
    at: { position: '24' },
    found: CHANGED,
    alone: { at: { position: '24' }, found: /other data|of pressledger/ },
  },
  {
    name: 'a checkpoint that is signed by nobody',
    edit: (db) => {
      db.exec(`UPDATE events SET data = json_set(data, '$.note', replace(data ->> 'note', '— ', '— x'))
        WHERE position = 24`);
    },
    at: { position: '24' },
    found: CHANGED,
    alone: { at: { position: '24' }, found: /none that holds/ },
  },
  {
    name: 'a checkpoint that was removed, and all renumbered',
    edit: (db) => remove(db, 10),
    at: { index: 9, position: '10', type: 'CreditDebited' },
    found: CHANGED,
    alone: { at: { position: '23' }, found: /one of 23/ },
  },
  {
    name: 'a row before the beginning, which streams show and the log does not',
    edit: (db) =>
      db.exec(`INSERT INTO events SELECT -1, stream, 9, 'new', type, data, metadata
        FROM events WHERE position = 3`),
    at: { index: 28 },
    found: /1 in the table, before position 1/,
  },
  {
    name: 'an event at a position that the writer does not give',
    edit: (db) => db.exec('UPDATE events SET position = 9007199254740993 WHERE position = 28'),
    at: { index: 28 },
    found: /28 in the table, whose last position is 9007199254740993/,
  },
  {
    name: 'a trigger that raises what is granted from now on',
    edit: (db) =>
      db.exec(`CREATE TRIGGER events_no_update AFTER INSERT ON events
        BEGIN UPDATE events SET data = replace(data, '10', '99') WHERE position = NEW.position; END`),
    at: { object: 'trigger events_no_update' },
    found: /^another definition: CREATE TRIGGER events_no_update AFTER INSERT/,
  },
  {
    name: 'a number in another form, which has the same leaf',
    edit: (db) => set(db, 3, 'data', '"amount":10', '"amount":1e1'),
    at: { index: 2, position: '3', stream: account(), revision: 1, type: 'CreditGranted' },
    found: /^the same value in another form$/,
  },
  {
    name: 'a member that another one of its name hides',
    edit: (db) => set(db, 16, 'data', '{', '{"network":"somebody else",'),
    at: { index: 15, position: '16' },
    found: /^the same value in another form$/,
  },
  {
    name: 'bytes that are not text, and read as text',
    edit: (db) => {
      set(db, 28, 'metadata', '{', '{"note":"\ufffd",');
      const [one, other] = ['EFBFBD', 'F09F98'];
      db.exec(`UPDATE events SET metadata =
        CAST(unhex(replace(hex(metadata), '${one}', '${other}')) AS TEXT) WHERE position = 28`);
    },
    at: { position: '28' },
    found: CHANGED,
    alone: { at: { index: 27, position: '28' }, found: /^the same value in another form$/ },
  },
];

void test('a log that nobody has touched is whole, and is not touched', async (t) => {
  const result = await verifyDirectory(await signedLog(t));
  t.match(result, { ok: true, events: 28, size: 28, checkpoints: 2, covered: 23, unfinished: 0 });
});

void test('every forgery is found and named', async (t) => {
  const original = await signedLog(t);
  for (const { name, edit, at, found, alone } of forgeries) {
    const forged = copyOf(original);
    forge(forged, edit);
    t.match(await verifyDirectory(forged), { ok: false, at, found }, name);
    rmSync(join(forged, 'read-model'), { recursive: true });
    t.match(await verifyDirectory(forged), { ok: false, at, found, ...alone }, `${name}, alone`);
  }
});

void test('an event behind the newest checkpoint that is a copy of another', async (t) => {
  const original = await signedLog(t);
  const withGrant = (command: string, id: string): string => {
    const copy = copyOf(original);
    rmSync(join(copy, 'read-model'), { recursive: true });
    forge(copy, (db) => {
      db.prepare(
        `INSERT INTO events SELECT 29, stream, (SELECT max(revision) FROM events WHERE stream = ?) + 1,
          ?, type, data, replace(metadata, 'cmd_1', ?) FROM events WHERE position = 3`,
      ).run(account(), id, command);
    });
    return copy;
  };
  const at = { index: 28, position: '29', stream: account(), type: 'CreditGranted' };
  const following = /^an id that follows from its command cmd_1 and its stream$/;
  t.match(await verifyDirectory(withGrant('cmd_1', 'new')), { at, expected: following });
  const same = eventId(`cmd_1/${account()}/1`);
  t.match(await verifyDirectory(withGrant('cmd_1', same)), { at, expected: following });
  const first = eventId(`cmd_1/${account()}/0`);
  t.match(await verifyDirectory(withGrant('cmd_1', first)), { at, found: 'a second one' });
  const own = eventId(`cmd_9/${account()}/0`);
  t.match(await verifyDirectory(withGrant('cmd_9', own)), { ok: true }, 'made as by the service');
});

void test('a log that was cut off', async (t) => {
  const original = await signedLog(t);
  const cut = (position: number): string => {
    const copy = copyOf(original);
    forge(copy, (db) => db.exec(`DELETE FROM events WHERE position >= ${position}`));
    return copy;
  };
  const truncated = { ok: false, found: /the log was truncated/ };
  const short = cut(25);
  t.match(await verifyDirectory(short), { ...truncated, at: { index: 24 } }, 'the tree is longer');
  rmSync(join(short, 'read-model'), { recursive: true });
  t.match(await verifyDirectory(short), { ok: true, events: 24 }, 'nothing else knows of the end');
  const behind = cut(20);
  rmSync(join(behind, 'read-model'), { recursive: true });
  t.match(await verifyDirectory(behind), { ok: false, at: { position: '19' }, found: /the end/ });
  const further = cut(19);
  rmSync(join(further, 'read-model'), { recursive: true });
  t.match(
    await verifyDirectory(further),
    { ...truncated, at: { index: 18 } },
    'the last checkpoint',
  );
  rmSync(join(further, 'transparency-log'), { recursive: true });
  t.match(await verifyDirectory(further), { ok: true, events: 18, covered: 9 });
});

void test('what no checkpoint covers is compared with the read models alone', async (t) => {
  const forged = copyOf(await signedLog(t));
  forge(forged, (db) => set(db, 28, 'data', '"pages":1', '"pages":2'));
  const found = /it was changed \(no checkpoint covers it yet\)/;
  t.match(await verifyDirectory(forged), { ok: false, at: { position: '28' }, found });
  rmSync(join(forged, 'read-model'), { recursive: true });
  t.match(await verifyDirectory(forged), { ok: true }, 'without them, nothing tells');
});
