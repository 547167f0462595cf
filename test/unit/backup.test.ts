/** Backups of a log with a bit of everything, in a folder and in a bucket: what is added, dropped, found and restored. */
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { makeBackup } from '../../src/archive/backup.ts';
import type { LogReader } from '../../src/archive/checked-log.ts';
import { MOST_PASSED_OVER } from '../../src/archive/kept-documents.ts';
import { keyringText, parseKeyring, readKeyring } from '../../src/archive/keyring-file.ts';
import { KeyHolders } from '../../src/archive/keys.ts';
import { readManifest, sha256Of } from '../../src/archive/manifest.ts';
import { BackupBucket, DOCUMENTS_FOLDER, FILES_FOLDER } from '../../src/archive/places/bucket.ts';
import { BackupFolder } from '../../src/archive/places/folder.ts';
import type { BackupPlace } from '../../src/archive/places/port.ts';
import { planRestore } from '../../src/archive/restore-plan.ts';
import { checkCopy } from '../../src/archive/verify-keyring.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { S3Bucket } from '../../src/documents/s3-bucket.ts';
import { S3Objects } from '../../src/documents/s3-objects.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import { eventId } from '../../src/time/ids.ts';
import { OPTIONS, openLogIn, openSource, quietly, verify } from '../support/archives.ts';
import { appendNext, newEvents } from '../support/events.ts';
import { request } from '../support/history.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';
import { accountId, certificateId, conversionId, NOW, SIGNATURE } from '../support/samples.ts';
import { account, life } from '../support/signed-log.ts';

const METADATA = {
  correlationId: 'c',
  causationId: 'c',
  actor: { kind: 'service' },
  time: NOW + 99_000,
} as const;

function expired(n: number) {
  const data = { accountId: accountId(), conversionId: conversionId(n), expiredAt: NOW };
  return encodeEvent(
    eventId(`expire/${conversionId(n)}/${life(n)}/0`),
    { type: 'ConversionExpired', data },
    METADATA,
  );
}

type Source = Awaited<ReturnType<typeof openSource>>;

/** One for each document. */
async function conversionsIn({ documents }: BackupPlace): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { conversionId: id } of documents.list()) ids.push(id);
  return ids;
}

/** A log, and a folder for backups of it. */
async function openBoth(t: Test) {
  const source = await openSource(t);
  const path = join(source.directory, 'backup');
  return { source, path, place: await BackupFolder.open(path) };
}

async function changes(t: Test, source: Source, place: BackupPlace): Promise<void> {
  const first = await makeBackup(source, place, OPTIONS);
  const events = (await source.store.readAll()).length;
  t.match(first, { addedEvents: events, addedDocuments: 7, lost: [], manifest: { events } });
  t.match(await verify(place), { ok: true, events, checkpoints: 2, documents: 7, problems: [] });
  t.match(await makeBackup(source, place, OPTIONS), { addedEvents: 0, addedDocuments: 0 });

  // Deleted like the retention does: the documents, then the event.
  await source.blobs.deleteAll(conversionId(1));
  const waiting = makeBackup(source, place, { ...OPTIONS, recheck: false });
  await appendNext(source.store, life(1), [expired(1)]);
  t.match(await waiting, { dropped: 1, lost: [] });
  const kept = await conversionsIn(place);
  t.notOk(kept.includes(conversionId(1)), 'its documents have left the backup');
  t.match(await verify(place), { ok: true, documents: 4 });

  await place.documents.deleteAll(conversionId(4));
  const missing = await verify(place);
  t.match(missing, { ok: false, documents: 1 });
  t.equal(missing.problems.filter(({ problem }) => problem === 'missing').length, 3);
  t.match(await makeBackup(source, place, { ...OPTIONS, recheck: true }), { addedDocuments: 3 });
  t.match(await verify(place), { ok: true });

  const { store } = openLogIn(t, join(source.directory, 'other'));
  await store.append('account-1', newEvents(2), 'no-stream');
  const other = { ...source, store };
  await t.rejects(makeBackup(other, place, OPTIONS), { message: /^holds a backup of another log/ });
  t.match(await verify(place), { ok: true }, 'which changed nothing');
}

void test('a backup in a folder follows its log', async (t) => {
  const { source, place } = await openBoth(t);
  await changes(t, source, place);
});

void test('a backup in a bucket follows its log', async (t) => {
  const source = await openSource(t);
  const server = await startS3Server(t);
  const bucket = new S3Bucket(server.location, s3Credentials);
  t.teardown(() => bucket.close());
  const below = (folder: string) => new S3Objects(bucket, folder);
  const place = new BackupBucket('s3://b', below(FILES_FOLDER), below(DOCUMENTS_FOLDER));
  await changes(t, source, place);
});

void test('the first backup of an old log does not ask for each deleted document', async (t) => {
  const source = await openSource(t);
  const old = Array.from({ length: MOST_PASSED_OVER + 1 }, (_, n) => 1_000 + n);
  const requested = old.flatMap((n) =>
    request(n, 1)
      .events(0n)
      .map((event) => encodeEvent(eventId(`${event.type}/${n}`), event, METADATA)),
  );
  await appendNext(source.store, account(9), [...requested, ...old.map(expired)]);

  const place = await BackupFolder.open(join(source.directory, 'backup'));
  const { documents } = place;
  await documents.stage(conversionId(1_000), 'document', Buffer.from('left by a kill')).store();
  const deleted: string[] = [];
  documents.deleteAll = async (id) => {
    deleted.push(id);
    await FileBlobStore.prototype.deleteAll.call(documents, id);
  };
  t.match(await makeBackup(source, place, OPTIONS), { addedDocuments: 7, dropped: 0, lost: [] });
  t.strictSame(deleted, [conversionId(1_000)], 'only what a list of the place shows');
});

void test('damage of each kind of file is found', async (t) => {
  const source = await openSource(t);
  const { directory } = source;
  const whole = join(directory, 'whole');
  await makeBackup(source, await BackupFolder.open(whole), OPTIONS);
  const files = readdirSync(whole, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(whole, name)).isFile(),
  );
  t.equal(files.length, 1 + 1 + 1 + 7, 'manifest, log, list and documents');
  for (const file of files) {
    for (const [what, harm] of [
      ['cut off', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, -1))],
      ['longer', (path: string) => appendFileSync(path, 'x')],
      ['other', flipByte],
      ['gone', (path: string) => rmSync(path)],
    ] as const) {
      const copy = join(directory, 'copy');
      cpSync(whole, copy, { recursive: true });
      harm(join(copy, file));
      const found = await verify(BackupFolder.readOnly(copy)).catch((error: unknown) => error);
      const told = `${file}, ${what}`;
      if (file === 'manifest.json') t.match(found, { name: 'UnusableArchive' }, told);
      else t.match(found, { ok: false }, told);
      if (!(found instanceof Error)) {
        const at = file.replace(/^documents\/..\//, '');
        const problems = (found as Awaited<ReturnType<typeof verify>>).problems;
        t.equal(problems[0]?.at, at, told);
      }
      rmSync(copy, { recursive: true });
    }
  }
  t.match(await verify(BackupFolder.readOnly(whole)), { ok: true });
});

function flipByte(path: string): void {
  const content = readFileSync(path);
  const at = content.length >> 1;
  content[at] = (content[at] ?? 0) ^ 1;
  writeFileSync(path, content);
}

void test('a place that holds something else is left alone', async (t) => {
  const source = await openSource(t);
  const path = join(source.directory, 'mine');
  const place = await BackupFolder.open(path);
  writeFileSync(join(path, 'mine.txt'), 'mine');
  await t.rejects(makeBackup(source, place, OPTIONS), { message: /^holds something else/ });
  t.strictSame(
    readdirSync(path).filter((name) => name.endsWith('.json')),
    [],
  );
});

void test('of two backups at a time, one ends', async (t) => {
  const { source, place } = await openBoth(t);
  await makeBackup(source, place, OPTIONS);
  const ends = await Promise.allSettled([
    makeBackup(source, place, { ...OPTIONS, now: NOW + 1 }),
    makeBackup(source, place, { ...OPTIONS, now: NOW + 2 }),
  ]);
  t.ok(ends.some(({ status }) => status === 'fulfilled'));
  t.match(await verify(place), { ok: true });
});

void test('of two backups that end in one millisecond, the later one is refused', async (t) => {
  const { source, place } = await openBoth(t);
  await makeBackup(source, place, OPTIONS);
  let wasOther = false;
  const { store } = source;
  const meeting: LogReader = {
    readAll: (...args) => store.readAll(...args),
    readStream: (...args) => store.readStream(...args),
    head: async () => {
      if (!wasOther) {
        wasOther = true;
        await makeBackup(source, place, OPTIONS);
      }
      return await store.head();
    },
  };
  await t.rejects(makeBackup({ ...source, store: meeting }, place, OPTIONS), {
    message: /^Another backup to .* has ended meanwhile: repeat this one\.$/,
  });
  t.match(await verify(place), { ok: true });
});

void test('a document that the service has lost is told, and all else is backed up', async (t) => {
  const { source, place } = await openBoth(t);
  await source.blobs.deleteAll(conversionId(4));
  const { lost } = await makeBackup(source, place, OPTIONS);
  t.equal(lost.length, 3);
  const totals: number[] = [];
  const onDocuments = (done: number, total: number) => void (done === 1 && totals.push(total));
  await makeBackup(source, place, { ...OPTIONS, recheck: true, onDocuments });
  t.equal(totals[0], 7, 'all are looked for once');
  t.strictSame([...new Set(totals.slice(1))], [3], 'then the lost ones alone');
  const found = await verify(place);
  t.match(found, { ok: false, documents: 4 });
  t.match(found.problems[0], { problem: 'missing: the service did not have it either' });
  const later = { ...OPTIONS, now: NOW + 2 * source.retentionMs };
  t.match(await makeBackup(source, place, later), { lost: [] }, 'it is due for deletion by then');
  t.match(await verify(place), { ok: true, due: 3 });
});

void test('a restore to a moment ends between appends, and knows what was signed', async (t) => {
  const { source, place } = await openBoth(t);
  const { manifest } = await makeBackup(source, place, OPTIONS);
  const plan = (events: number, known: readonly string[] = []) =>
    planRestore(place, { events }, known, quietly);
  const all = await source.store.readAll();
  const checkpoint = manifest.checkpoint ?? '';
  const size = Number(checkpoint.split('\n')[1]);
  for (let events = 1; events <= all.length; events += 1) {
    const found = await plan(events, [checkpoint]);
    const isWithin = all[events - 1]?.type === 'CreditDebited';
    t.equal(found.events, isWithin ? events - 1 : events);
    t.equal(found.isBehind, found.events < size, `${events} events`);
    let given = 0;
    for await (const entries of found.entries()) given += entries.length;
    t.equal(given, found.events);
  }
  const times = all.map(({ metadata }) => (metadata as { time: number }).time);
  const time = times[5] ?? 0;
  const until = await planRestore(place, { time }, [], quietly);
  t.equal(
    until.events,
    times.findIndex((each) => each > time),
  );
  t.strictSame([...(await plan(all.length)).open.keys()], [accountId(1), accountId(2)]);
  const [origin = ''] = checkpoint.split('\n');
  await t.rejects(plan(3, [checkpoint.replaceAll(origin, `pressledger/${'0'.repeat(16)}`)]), {
    message: /is one of the log pressledger\/\w+, and the backup/,
  });
});

void test('the documents of an account that is erased leave the backup', async (t) => {
  const { source, place } = await openBoth(t);
  await makeBackup(source, place, OPTIONS);
  const data = { accountId: accountId() };
  const erased = encodeEvent(eventId('erased'), { type: 'AccountErased', data }, METADATA);
  await appendNext(source.store, account(), [erased]);
  await makeBackup(source, place, OPTIONS);
  t.strictSame(await conversionsIn(place), []);
  const plan = await planRestore(place, { events: 5 }, [], quietly);
  t.ok(plan.erased.has(accountId()), 'also for a restore to an earlier moment');
});

void test('a keyring is read while an account is erased, and a changed file is refused', async (t) => {
  const [kept, erased] = [accountId(1), accountId(2)];
  const records = new Map([
    [`${kept}.key`, 'v1.one'],
    [`${erased}.key`, 'v1.two'],
    ['keyring.id', 'id'],
    ['keyring.log', 'pressledger/1'],
    ['master.check', 'x'],
  ]);
  const source = {
    names: async () => [...records.keys()],
    read: async (name: string) => {
      const text = records.get(name);
      // Erased between the list and the end of reading.
      records.set(`${erased}.erased`, '');
      return text;
    },
  };
  const text = keyringText(await readKeyring(source, 'check', NOW));
  const { records: read } = parseKeyring(text);
  t.strictSame([...read.keys()].toSorted(), [
    `${kept}.key`,
    `${erased}.erased`,
    'keyring.id',
    'keyring.log',
  ]);
  const lines = text.replace('"format":2', '"format":1').split('\n').slice(0, -2);
  const before = lines.map((line) => `${line}\n`).join('');
  const end = { records: read.size, sha256: sha256Of(before) };
  t.strictSame(
    parseKeyring(`${before}${JSON.stringify(end)}\n`).records,
    read,
    'as an older release wrote it',
  );
  for (const changed of [
    text.replace('one', 'One'),
    text.slice(0, -1),
    text.split('\n').slice(0, 2).join('\n'),
    '',
    'x\n',
    '{"pressledger":"keyring","format":3}\n',
  ]) {
    t.throws(() => parseKeyring(changed), {
      message: /^is (damaged|cut off|empty|not|a keyring of format 3)/,
    });
  }
});

void test('a copy of the keyring has the keys of the certificates that sign, and of no other', async (t) => {
  const holders = new KeyHolders();
  const data = { ...SIGNATURE, accountId: accountId(), setAt: NOW };
  for (const n of [1, 2]) {
    const set = { ...data, certificateId: certificateId(n) };
    const encoded = encodeEvent(eventId(`${n}`), { type: 'SignatureSet', data: set }, METADATA);
    holders.take([{ event: { ...encoded, stream: account(), revision: n } }]);
  }
  const problemsOf = (...names: readonly string[]): object[] => {
    const records = new Map(names.map((name) => [name, 'v1.x']));
    const text = keyringText({ madeAt: NOW, masterKey: 'check', records });
    const problems: object[] = [];
    checkCopy({ file: 'copy', text, opener: undefined }, holders, (each) => problems.push(each));
    return problems;
  };
  const [ended, present] = [certificateId(1), certificateId(2)];
  t.strictSame(problemsOf(`${ended}.erased`, `${present}.key`), []);
  t.match(problemsOf(`${ended}.key`), [
    { at: { account: accountId(), owner: present }, expected: 'a key' },
    { at: { account: accountId(), owner: ended }, expected: 'no key of what was erased' },
  ]);
});

void test('a backup goes on in segments of its own size', async (t) => {
  const { source, path, place } = await openBoth(t);
  await makeBackup(source, place, OPTIONS);
  const [before] = readdirSync(join(path, 'log'));
  await appendNext(source.store, life(4), [expired(4)]);
  await makeBackup(source, place, OPTIONS);
  const after = readdirSync(join(path, 'log'));
  t.equal(after.length, 1, 'the last one is replaced while it is not full');
  t.not(after[0], before);
  renameSync(join(path, 'log', after[0] ?? ''), join(path, 'log', before ?? ''));
  t.match(await verify(place), { ok: false, problems: [{ problem: 'missing' }] });
  t.equal((await readManifest(place))?.segments.length, 1);
});
