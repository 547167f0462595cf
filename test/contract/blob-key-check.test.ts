/** How a mistaken BLOB_KEY is found at the start, and what a renderer that was taken over can do to that. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { type Test, test } from 'tap';
import { checkKey, checkKeyOfRenderer, markForRenderers } from '../../src/blob-store/key-check.ts';
import { NatsObjects } from '../../src/blob-store/nats-objects.ts';
import { bufferContent, type Objects } from '../../src/blob-store/objects.ts';
import { NatsKeyRecords } from '../../src/keyring/nats-records.ts';
import type { KeyRecords } from '../../src/keyring/records.ts';
import { MemoryObjects } from '../support/memory-objects.ts';
import { MemoryRecords } from '../support/memory-records.ts';
import { startNatsServer } from '../support/nats-server.ts';

const key = Buffer.alloc(32, 3);
const other = Buffer.alloc(32, 4);
/** Where renderers may write. */
const MARK = 'check/blob-key';
const FORGOTTEN = {
  message: 'BLOB_KEY is not set, and the blob store was made with one; set that one.',
};
const MISTAKEN = {
  message: 'BLOB_KEY is not the one that the blob store was made with; set that one.',
};

interface Place {
  readonly objects: Objects;
  readonly records: KeyRecords;
}

/** What an API node does at its start. */
async function startApi({ objects, records }: Place, blobKey?: Buffer): Promise<void> {
  await checkKey(objects, blobKey, records);
  await markForRenderers(objects, blobKey);
}

const inMemory = () => ({ objects: new MemoryObjects(), records: new MemoryRecords() });

async function onNats(t: Test) {
  const { url } = await startNatsServer(t);
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  const records = await NatsKeyRecords.open(connection, { create: true });
  return { objects: new NatsObjects(connection), records, connection };
}

for (const [name, open] of [
  ['in memory', async () => inMemory()],
  ['NATS', onNats],
] as const) {
  void test(`${name}: what a renderer writes keeps no API node from starting`, async (t) => {
    const place = await open(t);
    const { objects } = place;
    await startApi(place, key);
    await checkKeyOfRenderer(objects, key);
    for (const spoilt of [randomBytes(32), randomBytes(3_000_000), Buffer.alloc(0)]) {
      await objects.delete(MARK);
      await objects.put(MARK, bufferContent(spoilt));
      const said = spoilt.length === 32 ? MISTAKEN : { message: /start an API node again/ };
      await t.rejects(checkKeyOfRenderer(objects, key), said);
      await startApi(place, key);
      await checkKeyOfRenderer(objects, key);
      await t.rejects(startApi(place, other), MISTAKEN, 'and what counts still counts');
    }
    await objects.delete(MARK);
    await startApi(place, key);
    await checkKeyOfRenderer(objects, key);
  });
}

void test('a renderer that writes a mark where there is no key stops no API node either', async (t) => {
  const place = inMemory();
  await startApi(place);
  await place.objects.put(MARK, bufferContent(randomBytes(32)));
  await startApi(place);
  t.equal(await place.objects.size(MARK), undefined);
  await checkKeyOfRenderer(place.objects, undefined);
  await place.objects.put(MARK, bufferContent(randomBytes(32)));
  await startApi(place, key);
  await checkKeyOfRenderer(place.objects, key);
});

void test('a mark that cannot be read is written anew', async (t) => {
  const place = inMemory();
  await startApi(place, key);
  const { objects } = place;
  let reads = 0;
  const unreadable: Objects = {
    put: (name, content) => objects.put(name, content),
    get: async () => {
      reads += 1;
      throw new Error('It is damaged.');
    },
    size: (name) => objects.size(name),
    delete: (name) => objects.delete(name),
    list: (folder) => objects.list(folder),
  };
  objects.stored.set(MARK, randomBytes(32));
  await startApi({ ...place, objects: unreadable }, key);
  t.equal(reads, 1);
  await checkKeyOfRenderer(objects, key);
});

void test('another key, or none, is found at the start of every node', async (t) => {
  const place = inMemory();
  await t.rejects(checkKeyOfRenderer(place.objects, key), {
    message: /^BLOB_KEY is set, and the blob store is not encrypted: [^\n]+ API node/,
  });
  await startApi(place);
  await checkKeyOfRenderer(place.objects, undefined);
  await startApi(place, key);
  await startApi(place, key);
  await t.rejects(startApi(place, other), MISTAKEN);
  await t.rejects(startApi(place), FORGOTTEN);
  await t.rejects(checkKeyOfRenderer(place.objects, other), MISTAKEN);
  await t.rejects(checkKeyOfRenderer(place.objects, undefined), FORGOTTEN);
});

void test('NATS: once an operator has deleted what says which it was, another key serves', async (t) => {
  const { connection, ...place } = await onNats(t);
  await startApi(place, key);
  await t.rejects(startApi(place, other), MISTAKEN);
  // As the tool of NATS does it: a marker takes the entry's place.
  const kv = await new Kvm(connection).open('pressledger-keys');
  await kv.delete('blob-key.check');
  await startApi(place, other);
  await checkKeyOfRenderer(place.objects, other);
  await t.rejects(startApi(place, key), MISTAKEN);
});

void test('of two API nodes that bring two keys at once, one starts', async (t) => {
  const place = inMemory();
  const starts = await Promise.allSettled([startApi(place, key), startApi(place, other)]);
  t.strictSame(starts.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

void test('the mark of an earlier release counts until there is one beside the keyring', async (t) => {
  const mark = Buffer.from(hkdfSync('sha256', key, '', 'pressledger blob key check', 32));
  const place = inMemory();
  place.objects.stored.set(MARK, mark);
  await t.rejects(startApi(place, other), MISTAKEN);
  await t.rejects(startApi(place), FORGOTTEN);
  t.equal(place.records.kept.size, 0, 'a mistaken start decides nothing');
  await startApi(place, key);
  await checkKeyOfRenderer(place.objects, key);
  place.objects.stored.delete(MARK);
  await t.rejects(startApi(place, other), MISTAKEN);
});
