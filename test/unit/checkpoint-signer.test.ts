import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { checkpointQueries, type StoredCheckpoint } from '../../projections/checkpoints.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { conversionStream } from '../../src/domain/conversion.ts';
import { proofOfConversion } from '../../src/log/transparency-log.ts';
import { parseCheckpoint } from '../../src/transparency-log/checkpoint.ts';
import { consistencyProof, leafHash } from '../../src/transparency-log/merkle-tree.ts';
import { openNote, verifiedBy } from '../../src/transparency-log/signed-note.ts';
import { sentBy } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { history } from '../support/history.ts';
import { openLog, type TestLog, write } from '../support/log.ts';
import { openNode } from '../support/projected.ts';
import { accountId, conversionId } from '../support/samples.ts';
import { openSigner, type SigningNode } from '../support/signer.ts';
import { parseProof, verifyConsistency, verifyInclusion } from '../support/tree-proofs.ts';

/** A log, and one node on it. */
function openSigned(t: Test, log: TestLog = openLog(t), store = log.store, name = 'node') {
  const dataDir = join(log.directory, name);
  const node = openNode(t, join(dataDir, 'read-model'), store);
  return { log, dataDir, ...openSigner(t, { ...node, store }, dataDir) };
}

/** Appends events that mean little. */
async function grow(log: TestLog, count = 1): Promise<void> {
  const data = { accountId: accountId(), amount: 1 };
  for (let n = 0; n < count; n += 1) {
    await log.append(`account-${accountId()}`, { type: 'CreditGranted', data });
  }
}

const checkpointsOf = ({ readModel }: SigningNode): readonly StoredCheckpoint[] =>
  readModel.query(checkpointQueries).all(0, 1_000);

const keysOf = ({ readModel }: SigningNode): readonly string[] =>
  readModel
    .query(checkpointQueries)
    .keys()
    .map(({ verifierKey }) => verifierKey);

function assertConsistent(t: Test, node: SigningNode): void {
  const all = checkpointsOf(node);
  const { hashes } = node.readModel.query(logTreeQueries);
  const newest = all.at(-1);
  for (const { size: from, root: fromRoot } of all) {
    if (newest === undefined) throw new Error('There is one.');
    const { size: to, root: toRoot } = newest;
    const proof = consistencyProof(hashes, from, to);
    t.ok(verifyConsistency({ from, to, fromRoot, toRoot, proof }), `${from} in ${to}`);
  }
}

void test('a checkpoint covers the log, is signed, and is kept outside the log too', async (t) => {
  const node = openSigned(t);
  await grow(node.log, 3);
  await node.signer.sign();
  const [checkpoint, ...others] = checkpointsOf(node);
  if (checkpoint === undefined) throw new Error('There is one.');
  t.equal(others.length, 0);
  t.equal(verifiedBy(checkpoint.note, keysOf(node)).length, 1);
  const { origin, size, root } = parseCheckpoint(openNote(checkpoint.note).text);
  t.match(origin, /^pressledger\/[0-9a-f]{16}$/);
  t.strictSame({ size, root }, { size: checkpoint.size, root: checkpoint.root });
  const types = (await node.store.readAll()).map(({ type }) => type);
  t.equal(size, types.indexOf('CheckpointSigned'), 'all events before its own');
  const kept = readFileSync(join(node.dataDir, 'transparency-log/last-checkpoint'), 'utf8');
  t.equal(kept, checkpoint.note);
});

void test('a checkpoint does not cause another one, and everything else does', async (t) => {
  const node = openSigned(t);
  await grow(node.log, 1);
  for (let n = 0; n < 3; n += 1) await node.signer.signNews();
  t.equal(checkpointsOf(node).length, 1);
  await grow(node.log);
  for (let n = 0; n < 3; n += 1) await node.signer.signNews();
  t.equal(checkpointsOf(node).length, 2);
  assertConsistent(t, node);
});

void test('callers share a signature, and nodes that sign at once never contradict', async (t) => {
  const log = openLog(t);
  const nodes = ['one', 'two', 'three'].map((name) =>
    openSigned(t, log, name === 'one' ? log.store : log.openAgain(), name),
  );
  for (let n = 1; n <= 5; n += 1) {
    await grow(log, n);
    await Promise.all(nodes.flatMap(({ signer }) => [signer.sign(), signer.sign()]));
  }
  const [first] = nodes;
  if (first === undefined) throw new Error('There is one.');
  await first.signer.sign();
  const signed = (await log.store.readAll()).filter(({ type }) => type === 'CheckpointSigned');
  t.ok(signed.length <= 5 * 6 + 1);
  t.equal((await log.store.readAll()).filter(({ type }) => type === 'SigningKeyAdded').length, 1);
  assertConsistent(t, first);
});

void test('after a crash between the signature and its event, the same tree is signed', async (t) => {
  const log = openLog(t);
  const faulty = new FaultyStore(log.store);
  const node = openSigned(t, log, faulty);
  await grow(log, 2);
  await node.signer.sign();
  await grow(log, 1);
  faulty.faults.push('unavailable');
  await t.rejects(node.signer.sign());
  const kept = readFileSync(join(node.dataDir, 'transparency-log/last-checkpoint'), 'utf8');
  t.equal(checkpointsOf(node).length, 1);
  await node.signer.checkLog();
  await node.signer.sign();
  t.equal(checkpointsOf(node).at(-1)?.note, kept);
});

void test('an older log behind the last checkpoint is refused', async (t) => {
  const node = openSigned(t);
  await node.signer.sign();
  await grow(node.log, 4);
  await node.signer.sign();
  const size = checkpointsOf(node).at(-1)?.size ?? 0;

  const older = openLog(t);
  for (const event of await node.store.readAll({ limit: size - 2 })) {
    const { stream, revision, id, type, data, metadata } = event;
    const expected = revision === 0 ? 'no-stream' : revision - 1;
    await older.store.append(stream, [{ id, type, data, metadata }], expected);
  }
  const readModel = openNode(t, join(older.directory, 'read-model'), older.store);
  const back = openSigner(t, { ...readModel, store: older.store }, node.dataDir);
  const line = new RegExp(
    `^The log holds \\d+ events, .* checkpoint of ${size} .*older log was put back`,
  );
  await t.rejects(back.signer.checkLog(), { name: 'LogDiffers', message: line });
  await t.rejects(back.signer.sign(), { message: line });
  await t.rejects(back.guard.differs, { message: line });
  t.equal(
    (await older.store.readAll()).filter(({ type }) => type === 'CheckpointSigned').length,
    1,
  );
});

void test('a changed event before the last checkpoint is refused', async (t) => {
  const node = openSigned(t);
  await grow(node.log, 4);
  await node.signer.sign();
  const db = new Sqlite(join(node.log.directory, 'store.db'));
  db.exec('DROP TRIGGER events_no_update');
  db.exec(
    "UPDATE events SET metadata = replace(metadata, 'operator', 'service') WHERE position = 3",
  );
  db.close();
  // A read model of the log as it is now; the node's own still has the tree as it was.
  const fresh = openNode(t, join(node.log.directory, 'fresh'), node.store);
  await grow(node.log, 1);
  const line = /^The log's first \d+ events are not those of the checkpoint .*audit\.md/;
  for (const dataDir of [node.dataDir, testDirectory(t)]) {
    const again = openSigner(t, { ...fresh, store: node.store }, dataDir);
    await t.rejects(again.signer.sign(), { name: 'LogDiffers', message: line });
  }
});

void test('the last checkpoint of another log is refused, and one of any signer is kept', async (t) => {
  const [one, two] = [openSigned(t), openSigned(t)];
  await one.signer.sign();
  const moved = openSigner(t, two, one.dataDir);
  await t.rejects(moved.signer.checkLog(), {
    message: /of the log pressledger\/.* another DATA_DIR/,
  });

  const follower = openSigned(t, one.log, one.log.openAgain(), 'follower');
  await follower.runner.waitFor(await one.store.head());
  await follower.signer.noteNewest();
  const noted = readFileSync(join(follower.dataDir, 'transparency-log/last-checkpoint'), 'utf8');
  t.equal(noted, checkpointsOf(one).at(-1)?.note);
});

void test('a start waits for a read model that is far behind, to compare the log', async (t) => {
  const node = openSigned(t);
  await node.signer.sign();
  const seen = readFileSync(join(node.dataDir, 'transparency-log/last-checkpoint'), 'utf8');
  await grow(node.log, 1);
  await node.signer.sign();

  const dataDir = testDirectory(t);
  mkdirSync(join(dataDir, 'transparency-log'));
  writeFileSync(join(dataDir, 'transparency-log/last-checkpoint'), seen);
  const fresh = openNode(t, join(node.log.directory, 'fresh'), node.store);
  // A caller that gives up after some time gives a signal: here the time is over at once.
  const slow = {
    waitFor: (position: bigint, signal?: AbortSignal) =>
      signal ? Promise.reject(new Error('too late')) : fresh.runner.waitFor(position),
  };
  const { signer } = openSigner(t, { ...fresh, store: node.store }, dataDir, {
    runner: slow as typeof fresh.runner,
  });
  await t.rejects(signer.checkLog(), { code: 'service_unavailable' });
  await signer.checkLog({ untilCaughtUp: true });
});

void test('no checkpoint is noted over one that it contradicts', async (t) => {
  const node = openSigned(t);
  await grow(node.log, 2);
  await node.signer.sign();
  const file = join(node.dataDir, 'transparency-log/last-checkpoint');
  const [origin, , , ...rest] = readFileSync(file, 'utf8').split('\n');
  const other = [origin, 2, Buffer.alloc(32).toString('base64'), ...rest].join('\n');
  writeFileSync(file, other);
  await t.rejects(node.signer.noteNewest(), { name: 'LogDiffers' });
  t.equal(readFileSync(file, 'utf8'), other);
});

void test('a damaged file of the last checkpoint is refused', async (t) => {
  const node = openSigned(t);
  await node.signer.sign();
  writeFileSync(join(node.dataDir, 'transparency-log/last-checkpoint'), '');
  const message = /transparency-log\/last-checkpoint is damaged, .* restore it, or remove it/;
  await t.rejects(node.signer.checkLog(), { name: 'LogDiffers', message });
  await t.rejects(node.signer.sign(), { message });
});

void test('after a rotation the old key and the new one sign, and then two new ones', async (t) => {
  const node = openSigned(t);
  await node.signer.sign();
  const [first = ''] = keysOf(node);
  await node.signer.rotate(sentBy('rotate/1'));
  const [second = '', old] = keysOf(node);
  t.equal(old, first);
  t.not(second, first);
  const newest = (): string => checkpointsOf(node).at(-1)?.note ?? '';
  t.strictSame(verifiedBy(newest(), [first, second]), [first, second]);
  await node.signer.rotate(sentBy('rotate/2'));
  t.equal(keysOf(node).length, 2);
  t.strictSame(verifiedBy(newest(), [first]), []);
  t.strictSame(verifiedBy(newest(), [second]), [second]);
  assertConsistent(t, node);
});

void test('a name is taken before the first checkpoint and refused after it', async (t) => {
  const log = openLog(t);
  const named = (name: string) => {
    const node = openNode(t, join(log.directory, 'read-model'), log.store);
    return openSigner(t, { ...node, store: log.store }, log.directory, { logName: name });
  };
  const node = named('pdf.example.com/tlog');
  await node.signer.sign();
  t.match(checkpointsOf(node).at(-1)?.note, /^pdf\.example\.com\/tlog\n/);
  t.match(keysOf(node), [/^pdf\.example\.com\/tlog\+/]);
  await t.rejects(named('other').signer.checkLog(), { message: /^LOG_ORIGIN is other, but/ });
});

void test('a proof covers all events of a conversion, and holds', async (t) => {
  const node = openSigned(t);
  await write(node.log, history(2, 20));
  const id = conversionId(7);
  const { origin, key, checkpoint, entries } = await proofOfConversion(node, id);
  const { size, root, origin: named } = parseCheckpoint(openNote(checkpoint).text);
  t.equal(named, origin);
  t.strictSame(verifiedBy(checkpoint, key.split('\n')), [key]);
  for (const { event, index, proof: text } of entries) {
    const { proof, ...parsed } = parseProof(text);
    t.strictSame(parsed, { index, checkpoint });
    t.ok(verifyInclusion({ index, size, leaf: leafHash(event), proof, root }), `${index}`);
    const { data } = JSON.parse(event) as { data: { conversionId: string } };
    t.equal(data.conversionId, id);
  }
  const own = await node.store.readStream(conversionStream(id));
  t.ok(entries.length > own.length, 'those of the account’s stream too');
  const signed = checkpointsOf(node).length;
  await proofOfConversion(node, id);
  t.equal(checkpointsOf(node).length, signed, 'what is covered needs no new checkpoint');
  await t.rejects(proofOfConversion(node, conversionId(999)), { code: 'not_found' });
});
