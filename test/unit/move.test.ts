/** Moves of a small log between SQLite files and folders: what is refused, and what is taken back. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Test, test } from 'tap';
import { type Moved, type MoveParts, move } from '../../src/archive/move.ts';
import { cancelMove } from '../../src/archive/move-marks.ts';
import { readConfig } from '../../src/config/config.ts';
import { namingOptions } from '../../src/config/move-settings.ts';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { loadMasterKey } from '../../src/documents/keys/master-key.ts';
import type { CopyableEventStore } from '../../src/event-store/port.ts';
import { createLogger } from '../../src/observe/log.ts';
import { refuseBarrier } from '../../src/service/event-store.ts';
import { openCopyTarget } from '../../src/service/log.ts';
import { openMove } from '../../src/service/move.ts';
import { eventId } from '../../src/time/ids.ts';
import { newEvents } from '../support/events.ts';
import { readLog } from '../support/invariants.ts';
import { accountId, certificateId, conversionId, NOW, SIGNATURE } from '../support/samples.ts';
import { account, filesOf, signedLog, verifyDirectory } from '../support/signed-log.ts';

const logger = createLogger('silent');
const RETENTION_SECONDS = '3153600000';

/** A log with documents and a keyring, and the directory that it is to be moved to. */
async function movable(t: Test) {
  const from = await signedLog(t);
  const keyring = fileKeyring(join(from, 'keyring'), loadMasterKey(from));
  for (const n of [1, 2]) await keyring.makeKey(accountId(n));
  const to = join(from, '../moved');
  const source = { DATA_DIR: from, RETENTION_SECONDS };
  const withParts = async <T>(
    kind: { readonly ahead: boolean; readonly cancels: boolean },
    use: (parts: MoveParts) => Promise<T>,
    target: Readonly<Record<string, string>> = {},
  ): Promise<T> => {
    const settings = [source, { ...source, DATA_DIR: to, ...target }].map((env) => readConfig(env));
    const [old = readConfig(source), there = old] = settings;
    const parts = await openMove(old, there, logger, {
      ...kind,
      given: ['DATA_DIR', ...Object.keys(target)],
    });
    try {
      return await use(parts);
    } finally {
      await parts.close();
    }
  };
  const run = (options: { ahead?: boolean; leaveLost?: boolean } = {}, target = {}) => {
    const { ahead = false, leaveLost = false } = options;
    const quiet = { now: NOW, onEvents: () => {}, onKeys: () => {}, onDocuments: () => {} };
    const go = (parts: MoveParts): Promise<Moved> => move(parts, { ahead, leaveLost, ...quiet });
    return withParts({ ahead, cancels: false }, go, target);
  };
  const cancel = (target = {}) => withParts({ ahead: false, cancels: true }, cancelMove, target);
  /** Documents and keys alone, in a folder. */
  const apart = (path: string) => {
    const MASTER_KEY = readFileSync(join(from, 'master.key'), 'utf8');
    return { DATA_DIR: from, BLOB_STORE_URL: `file:${path}`, MASTER_KEY };
  };
  return { from, to, run, cancel, apart };
}

const verified = (dataDir: string) => verifyDirectory(dataDir, { documents: true });
const textsOf = (directory: string): Record<string, string> =>
  Object.fromEntries(
    filesOf(directory, 'keyring').map((file) => [
      file.slice(directory.length),
      readFileSync(file, 'utf8'),
    ]),
  );

void test('a move takes log, documents, keys and the last checkpoint along', async (t) => {
  const { from, to, run } = await movable(t);
  const before = await verified(from);
  t.match(before, { ok: true });
  const keys = textsOf(from);
  const ahead = await run({ ahead: true });
  t.match(ahead, { accounts: 2, documents: { copied: 7, found: 0, lost: [] } });
  t.match(await run(), { found: ahead.events, documents: { copied: 0, lost: [] } });
  t.strictSame(await verified(to), before);
  t.match(textsOf(to), keys);
  const checkpoint = 'transparency-log/last-checkpoint';
  t.equal(readFileSync(join(to, checkpoint), 'utf8'), readFileSync(join(from, checkpoint), 'utf8'));
  t.equal(
    readFileSync(join(to, 'master.key'), 'utf8'),
    readFileSync(join(from, 'master.key'), 'utf8'),
  );
  t.notOk(existsSync(join(to, 'move')), 'nothing of the move is left');
  t.strictSame(readLog(to), readLog(from));
});

void test('a document that the old place lacks or has damaged stops a move, unless it is told', async (t) => {
  const { from, run } = await movable(t);
  const [document = ''] = filesOf(from).filter((file) => file.includes('document-'));
  const content = readFileSync(document);
  for (const spoil of [
    () => rmSync(document),
    () => writeFileSync(document, content.fill(0, 9, 20)),
  ]) {
    spoil();
    t.match(await run({ ahead: true }), { documents: { lost: [/\/document-/] } });
    await t.rejects(run(), {
      message: /^The old place lacks 1 of what the log names, or has it damaged \(conv_\S+\): /,
    });
  }
  t.match(await run({ leaveLost: true }), { documents: { lost: { length: 1 } } });
});

void test('a key that the old place lacks stops a move', async (t) => {
  const { from, run } = await movable(t);
  rmSync(join(from, `keyring/${accountId(2)}.key`));
  await t.rejects(run(), { message: new RegExp(`\\(the key of ${accountId(2)}\\)`) });
});

void test('a log that no service has written is not moved', async (t) => {
  const { from, to, run } = await movable(t);
  await append(from);
  await t.rejects(run({ ahead: true }), {
    message: /^The log is not as it must be \(event of index \d+: [^\n]+ verify` says more\.$/,
  });
  t.match(await barrierOf(to), { kind: 'incomplete' });
});

void test('what is deleted and erased between two passes is so in the new place', async (t) => {
  const { from, to, run } = await movable(t);
  await run({ ahead: true });
  t.ok(existsSync(join(to, `keyring/${accountId(2)}.key`)));
  await fileKeyring(join(from, 'keyring'), loadMasterKey(from)).erase(accountId(2));
  await withStore(from, async (store) => {
    const [last] = (await store.readStream(`conversion-${conversionId(1)}`)).slice(-1);
    const data = { accountId: accountId(1), conversionId: conversionId(1), expiredAt: NOW };
    const stream = `conversion-${conversionId(1)}`;
    const event = {
      id: eventId(`expire/${conversionId(1)}/${stream}/0`),
      type: 'ConversionExpired',
      data,
      metadata: { ...last?.metadata },
    };
    await store.append(stream, [event], last?.revision ?? 0);
  });
  await run();
  t.notOk(filesOf(to).some((file) => file.includes(conversionId(1))));
  t.notOk(existsSync(join(to, `keyring/${accountId(2)}.key`)));
  t.ok(existsSync(join(to, `keyring/${accountId(2)}.erased`)));
  t.match(await verified(to), { ok: true });
});

async function withStore<T>(
  dataDir: string,
  use: (store: CopyableEventStore) => Promise<T>,
): Promise<T> {
  const { store, close } = await openCopyTarget(readConfig({ DATA_DIR: dataDir }), logger);
  try {
    return await use(store);
  } finally {
    await close();
  }
}

const barrierOf = (dataDir: string) => withStore(dataDir, (store) => store.barrier());

const append = (dataDir: string) =>
  withStore(dataDir, (store) => store.append('new', newEvents(1), 'no-stream'));

void test('a move goes to no place that holds something else', async (t) => {
  const { from, to, run } = await movable(t);
  await t.rejects(run({}, { DATA_DIR: from }), { message: /^Nothing would be moved: / });
  const used = join(to, '../used');
  await append(used);
  await t.rejects(run({}, { DATA_DIR: used }), { message: /^The event store is not empty, / });
  t.strictSame(readdirSync(used), ['pressledger.db'], 'nothing was made there');
  const keyed = join(to, '../keyed');
  await fileKeyring(join(keyed, 'keyring'), loadMasterKey(keyed)).makeKey(accountId(1));
  await t.rejects(run({}, { DATA_DIR: keyed }), {
    message: /^The master key is not the one that /,
  });
  const claimed = join(to, '../claimed');
  await run({ ahead: true }, { DATA_DIR: claimed });
  writeFileSync(join(claimed, 'blobs/log'), 'another');
  await t.rejects(run({ ahead: true }, { DATA_DIR: claimed }), {
    message: /^The documents in \S+ belong to another log: name an empty place\.$/,
  });
  t.match(await verified(from), { ok: true }, 'the old place is as it was');
  t.equal(await barrierOf(from), undefined);
});

void test('what is wrong with the new place names the option that was given', async (t) => {
  const { run } = await movable(t);
  const [BLOB_STORE_URL, MASTER_KEY] = ['nats:', '5a'.repeat(32)];
  await t.rejects(run({}, { BLOB_STORE_URL }), { message: /--to-nats is needed/ });
  const nowhere = { BLOB_STORE_URL, MASTER_KEY, NATS_URL: 'nats://127.0.0.1:1' };
  await t.rejects(run({}, nowhere), { message: /cannot be reached .*: check --to-nats and / });
  const unusable = namingOptions(['BLOB_STORE_URL'], () =>
    readConfig({ BLOB_STORE_URL: 'ftp://host' }),
  );
  await t.rejects(unusable, { message: /^--to-blobs must be / });
});

void test('a move can be taken back until the log has gone on in the new place', async (t) => {
  const { from, to, run, cancel } = await movable(t);
  await run();
  await t.rejects(append(from), { name: 'EventStoreUnavailable' });
  await cancel();
  t.notOk(existsSync(join(from, 'keyring/keyring.moved')));
  t.match(await barrierOf(to), { kind: 'incomplete' });
  await run();
  t.ok(existsSync(join(from, 'keyring/keyring.moved')));
  await append(to);
  await t.rejects(cancel(), {
    message: /^The log has gone on in the new place \(\d+ events there/,
  });
  await t.rejects(run(), {
    message: /^The log was moved to SQLite in \S+ and has gone on there: /,
  });
});

void test('a move is taken back by the place that it went to alone, and once', async (t) => {
  const { from, to, run, cancel, apart } = await movable(t);
  const mistyped = { DATA_DIR: `${to}d` };
  const wanting = { message: /^This log was not moved to SQLite and files in \S+\/movedd?, / };
  await t.rejects(cancel(), wanting);
  await run();
  const folder = apart(`${to}d`);
  for (const target of [mistyped, { ...folder, DATA_DIR: to }, folder]) {
    await t.rejects(cancel(target), {
      message: /^This log was moved to SQLite and files in \S+\/moved, and not to .*: give the /,
    });
  }
  t.notOk(existsSync(`${to}d`), 'nothing was made there');
  t.match(await barrierOf(from), { kind: 'moved' });
  renameSync(to, `${to}-away`);
  await t.rejects(cancel(), {
    message: /^The new place is empty, though the log was moved there /,
  });
  t.notOk(existsSync(to), 'nothing was made there either');
  renameSync(`${to}-away`, to);
  await cancel({ DATA_DIR: `${to}/../moved/` });
  t.equal(await barrierOf(from), undefined);
  await t.rejects(cancel(), wanting);
});

void test('a move is not taken back from a place that was moved on', async (t) => {
  const { from, to, run, cancel } = await movable(t);
  await run();
  await withStore(to, (store) => store.setBarrier({ kind: 'moved', subject: 'a third place' }));
  const onward = { message: /^From the new place it was moved on to a third place: / };
  await t.rejects(cancel(), onward);
  await withStore(to, (store) => store.setBarrier(undefined));
  writeFileSync(join(to, 'keyring/keyring.moved'), 'a third place\n28', { mode: 0o600 });
  await t.rejects(cancel(), onward);
  t.match(await barrierOf(from), { kind: 'moved' });
});

void test('a move that was broken off says so in the old place, and is taken back', async (t) => {
  const { from, run, cancel } = await movable(t);
  rmSync(join(from, `keyring/${accountId(2)}.key`));
  await t.rejects(run(), { message: /^The old place lacks 1 / });
  await t.rejects(append(from), { name: 'EventStoreUnavailable' });
  await t.rejects(withStore(from, refuseBarrier), {
    message: /^This log is being moved to SQLite and files in \S+\/moved: repeat the command /,
  });
  await t.rejects(cancel({ DATA_DIR: join(from, '../other') }), { message: /, and not to / });
  await cancel();
  await append(from);
});

void test('a move that is repeated or taken back with another place leaves the log there as it is', async (t) => {
  const { from, to, run, cancel } = await movable(t);
  const other = join(to, '../other');
  await append(other);
  await run();
  const elsewhere = { DATA_DIR: other };
  await t.rejects(run({}, elsewhere), {
    message:
      /^This log was moved to SQLite and files in \S+\/moved, and not to SQLite and files in \S+\/other: move from/,
  });
  await t.rejects(cancel(elsewhere), {
    message: /^This log was moved to SQLite and files in \S+\/moved, /,
  });
  t.equal(await barrierOf(other), undefined);
  t.match(await barrierOf(from), { kind: 'moved' });
  rmSync(to, { recursive: true });
  await append(to);
  await t.rejects(run(), { message: /^The event store is not empty, / });
  t.equal(await barrierOf(to), undefined);
});

void test('documents and keys move alone, rows of the log included', async (t) => {
  const { from, to, run, apart } = await movable(t);
  t.match(await run({}, apart(to)), { found: 0, documents: { copied: 7 } });
  t.equal(filesOf(to).filter((file) => /-[0-9a-f]{64}$/.test(file)).length, 7);
  t.match(readFileSync(join(from, 'keyring/keyring.moved'), 'utf8'), to);
  t.equal(await barrierOf(from), undefined);
});

void test('a move of documents and keys alone is taken back until the log has gone on', async (t) => {
  const { from, to, run, cancel, apart } = await movable(t);
  const [target, elsewhere] = [apart(to), apart(`${to}d`)];
  const record = join(from, 'keyring/keyring.moved');
  await t.rejects(cancel(target), { message: /^This log was not moved to / });
  await run({}, target);
  for (const again of [run, (_: object, place: object) => cancel(place)]) {
    await t.rejects(async () => void (await again({}, elsewhere)), {
      message:
        /^The documents and keys of this log were moved to \S+\/moved, and not to \S+\/movedd: /,
    });
  }
  await cancel({ ...target, BLOB_STORE_URL: `file://${to}/` });
  t.notOk(existsSync(record));
  await run({}, target);
  await append(from);
  await t.rejects(cancel(target), {
    message: /^The log has gone on since the documents and keys were moved \((\d+) events now, /,
  });
  t.ok(existsSync(record));
});

const keyOf = (dataDir: string, n: number, what = 'key'): boolean =>
  existsSync(join(dataDir, `keyring/${accountId(n)}.${what}`));

const ofCertificates = (dataDir: string): string[] =>
  readdirSync(join(dataDir, 'keyring')).filter((name) => name.startsWith('cert_'));

void test('the key of an erased account comes to no place, and comes back in none', async (t) => {
  const { from, to, run, cancel } = await movable(t);
  await withStore(from, async (store) => {
    const last = (await store.readStream(account(2))).at(-1);
    const erased = {
      id: eventId(`cmd_erase/${account(2)}/0`),
      type: 'AccountErased',
      data: { accountId: accountId(2) },
      metadata: { ...last?.metadata, causationId: 'cmd_erase' },
    };
    await store.append(account(2), [erased], last?.revision ?? 0);
    const own = (await store.readStream(account(1))).at(-1);
    const certificates = [1, 2].map((n) => ({
      id: eventId(`cmd_certificate${n}/${account(1)}/0`),
      type: 'SignatureSet',
      data: { ...SIGNATURE, accountId: accountId(1), certificateId: certificateId(n), setAt: NOW },
      metadata: { ...own?.metadata, causationId: `cmd_certificate${n}` },
    }));
    for (const [n, event] of certificates.entries())
      await store.append(account(1), [event], (own?.revision ?? 0) + n);
  });
  const keyring = fileKeyring(join(from, 'keyring'), loadMasterKey(from));
  for (const n of [1, 2]) await keyring.makeKey(certificateId(n));
  t.match(await run(), { accounts: 2, lostKeys: [] });
  t.strictSame(ofCertificates(to).toSorted(), [
    `${certificateId(1)}.erased`,
    `${certificateId(2)}.key`,
  ]);
  t.strictSame([keyOf(from, 2), keyOf(to, 2), keyOf(to, 2, 'erased')], [true, false, true]);
  await fileKeyring(join(to, 'keyring'), loadMasterKey(to)).erase(accountId(1));
  await cancel();
  for (const n of [1, 2]) {
    t.strictSame([keyOf(from, n), keyOf(from, n, 'erased')], [false, true]);
  }
  t.notOk(ofCertificates(from).includes(`${certificateId(1)}.key`));
});

void test('PDFs of any size become files, where the service puts them, and small requests rows', async (t) => {
  const { to, run } = await movable(t);
  await run();
  const names = filesOf(to).map((file) => basename(file).replace(/-.*/, ''));
  t.strictSame(names, ['document', 'document', 'log']);
});
