import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { assertDurable, openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { openEmbeddedReadOnly } from '../../src/sqlite/read-only.ts';
import { testDirectory } from '../support/directory.ts';

function makeFile(t: Test): string {
  const path = join(testDirectory(t), 'data', 'pressledger.db');
  const database = openEmbeddedDatabase(path);
  database.db.exec('CREATE TABLE numbers (n INTEGER UNIQUE) STRICT');
  database.close();
  return path;
}

void test('a commit is on disk before it is acknowledged', async (t) => {
  const path = makeFile(t);
  const database = openEmbeddedDatabase(path);
  t.teardown(() => database.close());
  t.equal(database.db.pragma('journal_mode', { simple: true }), 'wal');
  t.equal(database.db.pragma('synchronous', { simple: true }), 2, 'FULL');
  t.equal(statSync(path).mode & 0o077, 0, 'for the owner only');
});

void test('a database that would not be durable is refused', async (t) => {
  const message = /would not be durable/;
  const memory = new Sqlite(':memory:');
  t.throws(() => assertDurable(memory, 'memory'), { message });
  memory.close();
  const normal = new Sqlite(makeFile(t));
  normal.pragma('synchronous = NORMAL');
  t.throws(() => assertDurable(normal, 'normal'), { message });
  normal.close();
});

void test('a damaged file is refused in one line that names it', async (t) => {
  const path = makeFile(t);
  const whole = readFileSync(path);
  const damages: Record<string, Buffer> = {
    'another header': Buffer.concat([Buffer.from('x'.repeat(100)), whole.subarray(100)]),
    text: Buffer.from('this is not a database\n'.repeat(500)),
    'a broken schema': Buffer.concat([
      whole.subarray(0, 100),
      Buffer.alloc(whole.length - 100, 0xff),
    ]),
    'half of it': whole.subarray(0, whole.length / 2 + 100),
  };
  for (const [title, content] of Object.entries(damages)) {
    writeFileSync(path, content);
    t.throws(
      () => openEmbeddedDatabase(path),
      { message: /^\S+pressledger\.db is damaged.*; restore it from a backup[^\n]*$/ },
      title,
    );
  }
});

void test('a store of a newer release, or of something else, is refused', async (t) => {
  const path = makeFile(t);
  const newer = new Sqlite(path);
  newer.pragma('user_version = 99');
  newer.close();
  t.throws(() => openEmbeddedDatabase(path), { message: /newer release \(store version 99/ });

  const foreign = join(testDirectory(t), 'foreign.db');
  const db = new Sqlite(foreign);
  db.exec('CREATE TABLE notes (text TEXT)');
  db.close();
  t.throws(() => openEmbeddedDatabase(foreign), { message: /is not a store of Pressledger/ });
});

void test('a store that another process is making is read when it is made', async (t) => {
  const path = join(testDirectory(t), 'data', 'pressledger.db');
  openEmbeddedDatabase(path).close();
  // A thread of its own: an opening that waits blocks this one.
  const other = new Worker(
    `const db = require('better-sqlite3')(${JSON.stringify(path)});
     setTimeout(() => db.exec('CREATE TABLE numbers (n INTEGER) STRICT').close(), 300)`,
    { eval: true },
  );
  await once(other, 'online');
  const database = openEmbeddedReadOnly(path);
  t.same(database.db.prepare('SELECT n FROM numbers').all(), []);
  database.close();
  await once(other, 'exit');
});

void test('work that fails by its own fault takes no other with it', async (t) => {
  const database = openEmbeddedDatabase(makeFile(t));
  t.teardown(() => database.close());
  const insert = database.db.prepare('INSERT INTO numbers VALUES (?)');
  const outcomes = await Promise.allSettled([
    database.commit(() => insert.run(1).changes),
    database.commit(() => {
      insert.run(2);
      throw new Error('changed my mind');
    }),
    database.commit(() => insert.run(1).changes),
    database.commit(() => insert.run(3).changes),
  ]);
  t.match(outcomes, [
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: { message: 'changed my mind' } },
    { status: 'rejected', reason: { code: 'SQLITE_CONSTRAINT_UNIQUE' } },
    { status: 'fulfilled', value: 1 },
  ]);
  t.strictSame(database.db.prepare('SELECT n FROM numbers ORDER BY n').pluck().all(), [1, 3]);
});

void test('listeners hear of each commit until they end it', async (t) => {
  const database = openEmbeddedDatabase(makeFile(t));
  t.teardown(() => database.close());
  let heard = 0;
  const end = database.onCommit(() => void (heard += 1));
  t.equal(await database.commit(() => 'result'), 'result');
  const failing = database.commit(() => {
    throw new Error('rolled back');
  });
  await t.rejects(failing, { message: 'rolled back' });
  end();
  await database.commit(() => {});
  t.equal(heard, 1);
});
