import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { DAY_MS, NOW } from '../../support/samples.ts';
import { copyOf, filesOf, forge, signedLog, verifyDirectory } from '../../support/signed-log.ts';

const NAMED = { position: '8', type: 'ConversionCompleted' };
const WEEK_MS = 7 * DAY_MS;

void test('files that are changed, cut off, made longer or removed', async (t) => {
  const original = await signedLog(t);
  const change = (edit: (content: Buffer) => Buffer): string => {
    const copy = copyOf(original);
    const [file = ''] = filesOf(copy);
    writeFileSync(file, edit(readFileSync(file)));
    return copy;
  };
  const flipped = change((content) => {
    content.writeUInt8(content.readUInt8(500) ^ 1, 500);
    return content;
  });
  const at = { ...NAMED, file: /^conv_\w+1\/document-/ };
  const found = /^100000 bytes with the SHA-256 [0-9a-f]{64}$/;
  const result = await verifyDirectory(flipped);
  t.match(result, { ok: false, at, expected: found, found });
  t.match(
    await verifyDirectory(flipped, { documents: false }),
    { ok: true },
    'only with documents',
  );
  const shorter = change((content) => content.subarray(1));
  t.match(await verifyDirectory(shorter), { ok: false, at, found: /99999 bytes, not 100000/ });
  const longer = change((content) => Buffer.concat([content, content]));
  t.match(await verifyDirectory(longer), { ok: false, at, found: /200000 bytes/ });
  const removed = copyOf(original);
  rmSync(filesOf(removed)[0] ?? '');
  t.match(await verifyDirectory(removed), { ok: false, at, found: 'no such file' });
  const later = await verifyDirectory(removed, { now: NOW + WEEK_MS + 1 });
  t.match(later, { ok: true, documents: { files: 6, deletions_unrecorded: 1 } }, 'it was due');
});

void test('files in the database', async (t) => {
  const original = await signedLog(t);
  const changed = copyOf(original);
  forge(changed, (db) => {
    db.exec("UPDATE blobs SET content = x'00' WHERE key LIKE 'conv_%4/request-%'");
  });
  const at = { position: '26', type: 'ConversionRequested' };
  t.match(await verifyDirectory(changed), { ok: false, at, found: /damaged/ });
  const removed = copyOf(original);
  forge(removed, (db) => db.exec("DELETE FROM blobs WHERE key LIKE 'conv_%4/manifest-%'"));
  t.match(await verifyDirectory(removed), {
    ok: false,
    at: { position: '28', file: /manifest/ },
    found: 'no such file',
  });
  const cleared = copyOf(original);
  forge(cleared, (db) => db.exec("DELETE FROM blobs WHERE key LIKE 'conv_%2/request-%'"));
  const result = await verifyDirectory(cleared);
  t.match(
    result,
    { ok: true, documents: { deletions_unrecorded: 1 } },
    'of a failure, due at once',
  );
});

void test('the log and the files are looked at, and nothing else is done', async (t) => {
  const dataDir = await signedLog(t);
  const before = filesOf(dataDir, '').map((file) => [file, readFileSync(file, 'base64')]);
  t.ok(before.length > 5);
  t.match(await verifyDirectory(dataDir), { ok: true });
  const after = filesOf(dataDir, '').map((file) => [file, readFileSync(file, 'base64')]);
  t.strictSame(after, before);
  rmSync(join(dataDir, 'blobs'), { recursive: true });
  t.match(await verifyDirectory(dataDir), { ok: false, found: 'no such file' });
});
