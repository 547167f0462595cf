import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import { readConfig } from '../../../src/config/config.ts';
import { verifyLog } from '../../../src/log/verify-log.ts';
import { createLogger } from '../../../src/observe/log.ts';
import { openStoredLog } from '../../../src/service/log.ts';
import { checkpointText, parseCheckpoint } from '../../../src/transparency-log/checkpoint.ts';
import { ed25519Signer, openNote, signNote } from '../../../src/transparency-log/signed-note.ts';
import { NOW } from '../../support/samples.ts';
import { copyOf, forge, signedLog, verifyDirectory } from '../../support/signed-log.ts';
import { signingKey } from '../../support/signer.ts';

interface Kept {
  readonly note: string;
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** The checkpoints of a log, and its verifier key. */
function keptOf(dataDir: string): { readonly checkpoints: readonly Kept[]; readonly key: string } {
  const db = new Sqlite(join(dataDir, 'pressledger.db'), { readonly: true });
  try {
    const of = (type: string, field: string): string[] =>
      db
        .prepare<[string, string], string>(
          'SELECT data ->> ? FROM events WHERE type = ? ORDER BY position',
        )
        .pluck()
        .all(field, type);
    const checkpoints = of('CheckpointSigned', 'note').map((note) => ({
      note,
      ...parseCheckpoint(openNote(note).text),
    }));
    return { checkpoints, key: of('SigningKeyAdded', 'verifierKey')[0] ?? '' };
  } finally {
    db.close();
  }
}

const at = { checkpoint: 'kept.txt' };

void test('a log still contains what a customer was given', async (t) => {
  const dataDir = await signedLog(t);
  const { checkpoints, key } = keptOf(dataDir);
  for (const { note } of checkpoints) {
    const given = [{ at, note }];
    t.match(await verifyDirectory(dataDir, { checkpoints: given }), { ok: true });
    t.match(await verifyDirectory(dataDir, { checkpoints: given, keys: [key] }), { ok: true });
  }
});

void test('a log that was rewritten as a whole, and signed again', async (t) => {
  // With the log's own key, as an operator could: nothing of the log itself tells.
  const before = keptOf(await signedLog(t));
  const other = await signedLog(t);
  const after = keptOf(other);
  t.match(await verifyDirectory(other), { ok: true });
  const [old, another] = [before.checkpoints[1], after.checkpoints[1]];
  if (old === undefined || another === undefined) throw new Error('There are two.');
  const { origin, size } = another;
  const rewritten = { origin, size, root: old.root };
  const signed = (secret = signingKey(1)) =>
    signNote(checkpointText(rewritten), [ed25519Signer(origin, secret)]);
  const check = (note: string) => verifyDirectory(other, { checkpoints: [{ at, note }] });
  t.match(await check(signed()), { ok: false, at, found: /: the log was rewritten$/ });
  t.match(await check(old.note), { ok: false, at, expected: /a checkpoint of this log/ });
  t.match(await check(signed(signingKey(9))), { ok: false, at, found: 'none that holds' });
  t.match(await check('Hello.\n'), { ok: false, at, expected: 'a signed checkpoint' });
  const trusting = await verifyDirectory(other, { keys: [before.key] });
  const expected = 'a signature of a given key on the newest checkpoint';
  t.match(trusting, { ok: false, at: { type: 'CheckpointSigned' }, expected });
});

void test('a log that was cut off behind a checkpoint that somebody has', async (t) => {
  const original = await signedLog(t);
  const { checkpoints, key } = keptOf(original);
  const cut = copyOf(original);
  forge(cut, (db) => db.exec('DELETE FROM events WHERE position >= 17'));
  for (const name of ['read-model', 'transparency-log'])
    rmSync(join(cut, name), { recursive: true });
  t.match(await verifyDirectory(cut, { keys: [key] }), { ok: true, events: 16, covered: 9 });
  const given = checkpoints.slice(1).map(({ note }) => ({ at, note }));
  const truncated = { ok: false, at: { ...at, index: 16 }, found: '16: the log was truncated' };
  t.match(await verifyDirectory(cut, { checkpoints: given }), truncated);
  forge(cut, (db) => db.exec('DELETE FROM events WHERE position >= 9'));
  t.match(await verifyDirectory(cut, { keys: [key] }), { ok: false, found: 'no checkpoint' });
});

void test('the last checkpoint beside the log', async (t) => {
  const dataDir = await signedLog(t);
  const path = join(dataDir, 'transparency-log/last-checkpoint');
  const { origin, size, root } = parseCheckpoint(openNote(readFileSync(path, 'utf8')).text);
  const write = (changed: object): void => {
    const text = checkpointText({ origin, size, root, ...changed });
    writeFileSync(path, signNote(text, [ed25519Signer(origin, signingKey(1))]));
  };
  const file = { file: path };
  write({ size: 99 });
  t.match(await verifyDirectory(dataDir), { ok: false, at: file, found: /truncated/ });
  write({ root: Buffer.alloc(32) });
  t.match(await verifyDirectory(dataDir), { ok: false, at: file, found: /rewritten/ });
  rmSync(path);
  t.match(await verifyDirectory(dataDir), { ok: true }, 'copies of the log are without it');
});

void test('hashes of the read models that are not those of the log', async (t) => {
  const dataDir = await signedLog(t);
  const db = new Sqlite(join(dataDir, 'read-model/g1.db'));
  db.exec('UPDATE log_leaves SET hash = zeroblob(32) WHERE number = 5');
  db.close();
  t.match(await verifyDirectory(dataDir), {
    ok: false,
    at: { index: 5 },
    found: /checkpoints agree with the log, so the read models are at fault: rebuild them/,
  });
});

void test('what is appended during a verification is not of it', async (t) => {
  const dataDir = await signedLog(t);
  const { key } = keptOf(dataDir);
  const log = await openStoredLog(readConfig({ DATA_DIR: dataDir }), createLogger('silent'), {
    documents: false,
  });
  t.teardown(() => log.close());
  // The log ended there when the verification began. The request after the debit belongs to one append.
  const store = {
    head: async () => 19n,
    readAll: log.store.readAll.bind(log.store),
    readStream: log.store.readStream.bind(log.store),
  };
  const found = await verifyLog({ store, retentionMs: 0 }, { keys: [key], now: NOW });
  t.match(found, { ok: true, events: 20, covered: 9 });
});
