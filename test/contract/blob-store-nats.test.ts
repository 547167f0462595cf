import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { connect } from '@nats-io/transport-node';
import { type Test, test } from 'tap';
import { NatsKeyRecords } from '../../src/documents/keys/nats-records.ts';
import { NatsObjects } from '../../src/documents/nats-objects.ts';
import { bufferContent } from '../../src/documents/objects.ts';
import { BlobNotFound } from '../../src/documents/port.ts';
import { ObjectBlobStore } from '../../src/documents/remote.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { connectForGood, startNatsServer } from '../support/nats-server.ts';
import { runBlobStoreContract } from './blob-store-contract.ts';

const unavailable = { name: 'BlobStoreUnavailable' };

runBlobStoreContract({
  name: 'NATS',
  open: async (t) => {
    const { url } = await startNatsServer(t);
    const connection = await connect({ servers: url });
    const store = new ObjectBlobStore(new NatsObjects(connection));
    return { store, dir: testDirectory(t), close: () => connection.close() };
  },
});

void test('NATS: deleting leaves nothing behind', async (t) => {
  const { url } = await startNatsServer(t);
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  const store = new ObjectBlobStore(new NatsObjects(connection));
  const id = newConversionId(Date.now());
  await store.stage(id, 'document', randomBytes(300_000)).store();
  await store.stage(id, 'request', randomBytes(10)).store();
  const manager = await jetstreamManager(connection);
  const messages = async (): Promise<number[]> => {
    const streams = ['OBJ_pressledger-blobs', 'KV_pressledger-blobs-index'];
    return Promise.all(streams.map(async (s) => (await manager.streams.info(s)).state.messages));
  };
  t.strictSame(await messages(), [3 + 1 + 1 + 1, 2], 'chunks and descriptions; index');
  await store.deleteAll(id);
  t.strictSame(await messages(), [0, 0]);
});

void test('NATS: reading leaves no consumer, and gives any part', async (t) => {
  const { url } = await startNatsServer(t);
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  const store = new ObjectBlobStore(new NatsObjects(connection));
  const id = newConversionId(Date.now());
  const content = randomBytes(1_500_000);
  // Two at once, so that the chunks of one lie between those of the other.
  const [staged, other] = [content, randomBytes(1_500_000)].map((c) =>
    store.stage(id, 'document', c),
  );
  if (staged === undefined || other === undefined) throw new Error('Nothing was staged.');
  await Promise.all([staged.store(), other.store()]);
  for (const [start, end] of [
    [0, 0],
    [131_071, 131_072],
    [131_072, 262_143],
    [100_000, 1_000_000],
    [1_499_999, 1_499_999],
  ] as const) {
    const part = await buffer(await store.open(staged.ref, { start, end }));
    t.ok(content.subarray(start, end + 1).equals(part), `${start}-${end}`);
  }
  t.ok(content.equals(await store.read(staged.ref)));
  const left = await store.open(staged.ref);
  left.destroy();
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info('OBJ_pressledger-blobs');
  t.equal(state.consumer_count, 0);
});

void test('NATS: of two nodes that store one blob at once, one does', async (t) => {
  const { url } = await startNatsServer(t);
  const id = newConversionId(Date.now());
  const content = randomBytes(300_000);
  const stores = [];
  for (let i = 0; i < 2; i += 1) {
    const connection = await connect({ servers: url });
    t.teardown(() => connection.close());
    stores.push(new ObjectBlobStore(new NatsObjects(connection)));
  }
  const staged = stores.map((store) => store.stage(id, 'request', content));
  await Promise.all(staged.map((each) => each.store()));
  for (const store of stores) {
    for (const { ref } of staged) t.ok(content.equals(await store.read(ref)));
  }
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info('OBJ_pressledger-blobs');
  t.equal(state.messages, 3 + 1, 'the chunks of one, and its description');
});

void test('NATS: what is damaged is refused', async (t) => {
  const { url } = await startNatsServer(t);
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  const objects = new NatsObjects(connection);
  const store = new ObjectBlobStore(objects);
  const id = newConversionId(Date.now());
  const { ref } = store.stage(id, 'document', randomBytes(300_000));
  await objects.put(ref.key, bufferContent(randomBytes(300_000)));
  await t.rejects(store.read(ref), unavailable, 'other content of the same length');

  const whole = store.stage(id, 'request', randomBytes(300_000));
  await whole.store();
  const manager = await jetstreamManager(connection);
  const filter = `$O.pressledger-blobs.C.${whole.ref.key.replace('/', '.')}.*`;
  await manager.streams.purge('OBJ_pressledger-blobs', { filter, keep: 2 });
  await t.rejects(store.read(whole.ref), unavailable, 'its first chunk is gone');
  const first = await store.open(whole.ref, { start: 0, end: 9 });
  await t.rejects(buffer(first), { name: 'BlobStoreUnavailable' });
});

const TIMEOUT_MS = 500;

async function openQuick(t: Test) {
  const server = await startNatsServer(t);
  const connection = await connectForGood(t, server.url);
  const objects = new NatsObjects(connection, { timeoutMs: TIMEOUT_MS });
  await objects.checkUsable();
  const store = new ObjectBlobStore(objects);
  return { server, connection, objects, store, id: newConversionId(Date.now()) };
}

/** While the connection comes back. */
const onceBack = (store: ObjectBlobStore) =>
  eventually('the store', async () => ((await store.failure()) === undefined ? true : undefined));

void test('NATS: while the server is away the store says so soon, and works when it is back', async (t) => {
  const { server, store, id } = await openQuick(t);
  const staged = store.stage(id, 'request', randomBytes(1000));
  await staged.store();
  for (const frozen of [true, false]) {
    if (frozen) await server.freeze();
    else await server.kill();
    const start = performance.now();
    const tries: Promise<unknown>[] = [
      store.read(staged.ref),
      store.open(staged.ref, { start: 0, end: 5 }),
      store.exists(staged.ref),
      store.stage(id, 'request', randomBytes(1000)).store(),
      store.deleteAll(id),
    ];
    await Promise.all(tries.map((each) => t.rejects(each.then(String), unavailable)));
    const took = performance.now() - start;
    t.ok(took < 20 * TIMEOUT_MS, `${took} ms`);
    if (frozen) server.thaw();
    else await server.restart();
    await onceBack(store);
    t.equal((await store.read(staged.ref)).length, 1000);
  }
});

void test('NATS: a server that lost everything gets its buckets again', async (t) => {
  const { server, store, id } = await openQuick(t);
  const [one, two] = [randomBytes(1000), randomBytes(1000)].map((c) =>
    store.stage(id, 'request', c),
  );
  if (one === undefined || two === undefined) throw new Error('Nothing was staged.');
  await one.store();
  await server.restart({ loseData: true });
  await eventually('a write', () =>
    two.store().then(
      () => true as const,
      () => undefined,
    ),
  );
  t.equal((await store.read(two.ref)).length, 1000);
  await t.rejects(store.read(one.ref), BlobNotFound);
  await store.deleteAll(id);
  t.equal(await store.exists(two.ref), false);
});

void test('NATS: an upload that is cut off is not readable', async (t) => {
  const { server, store, objects, id } = await openQuick(t);
  const content = randomBytes(30_000_000);
  const { ref } = store.stage(id, 'document', content);
  let killed: Promise<void> | undefined;
  async function* half() {
    for (let at = 0; at < content.length; at += 500_000) {
      if (at > content.length / 2) await (killed ??= server.kill());
      yield content.subarray(at, at + 500_000);
    }
  }
  const open = (): Readable => Readable.from(half(), { objectMode: false });
  await t.rejects(objects.put(ref.key, { ...ref, open }), { name: 'ObjectsUnavailable' });
  t.ok(killed);
  await server.restart();
  await onceBack(store);
  t.equal(await store.exists(ref), false);
  await t.rejects(store.read(ref), BlobNotFound);

  const connection = await connect({ servers: server.url });
  t.teardown(() => connection.close());
  const manager = await jetstreamManager(connection);
  const messages = async (): Promise<number> =>
    (await manager.streams.info('OBJ_pressledger-blobs')).state.messages;
  t.ok((await messages()) > 0, 'what was sent before is still there');
  await store.deleteAll(id);
  t.equal(await messages(), 0, 'and goes with its conversion');
});

void test('NATS: a file that is not what its writer measured is not kept', async (t) => {
  const { store, id } = await openQuick(t);
  const path = join(testDirectory(t), 'out.pdf');
  const other = store.stage(id, 'document', randomBytes(1000));
  writeFileSync(path, randomBytes(1000));
  const { sha256, bytes } = other.ref;
  await t.rejects(store.adopt(id, 'document', { path, sha256, bytes }), unavailable);
  await t.rejects(store.read(other.ref), BlobNotFound);
});

void test('NATS: a store that cannot be used is said in one line', async (t) => {
  const { url } = await startNatsServer(t, { jetStream: false });
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  await t.rejects(new NatsObjects(connection).checkUsable(), {
    message: /^BLOB_STORE_URL: the NATS object store pressledger-blobs cannot be used: [^\n]+$/,
  });
});

/** What deploy/nats-accounts.conf grants to renderers, which says what each is for. */
const RENDERER_MAY_PUBLISH = [
  '$JS.API.INFO',
  '$JS.API.STREAM.INFO.OBJ_pressledger-blobs',
  '$JS.API.STREAM.INFO.KV_pressledger-blobs-index',
  '$JS.API.STREAM.MSG.GET.OBJ_pressledger-blobs',
  '$JS.API.DIRECT.GET.OBJ_pressledger-blobs',
  '$O.pressledger-blobs.>',
  '$KV.pressledger-blobs-index.>',
];

void test('NATS: a renderer needs no right to delete, nor to the keyring', async (t) => {
  const quoted = RENDERER_MAY_PUBLISH.map((subject) => `"${subject}"`).join(', ');
  const { url } = await startNatsServer(t, {
    config: `authorization { users: [
      { user: api, password: a },
      { user: renderer, password: r, permissions: { publish: [${quoted}], subscribe: ["_INBOX.>"] } }
    ] }`,
  });
  const open = async (user: string, pass: string) => {
    const connection = await connect({ servers: url, user, pass });
    t.teardown(() => connection.close());
    return connection;
  };
  const api = await open('api', 'a');
  const stores = [];
  for (const connection of [api, await open('renderer', 'r')]) {
    const objects = new NatsObjects(connection, { timeoutMs: TIMEOUT_MS });
    await objects.checkUsable();
    stores.push(new ObjectBlobStore(objects));
  }
  const [ofApi, ofRenderer] = stores;
  if (ofApi === undefined || ofRenderer === undefined) throw new Error('Nothing was opened.');
  const id = newConversionId(Date.now());
  const request = ofApi.stage(id, 'request', randomBytes(300_000));
  await request.store();
  t.equal((await ofRenderer.read(request.ref)).length, 300_000);
  t.equal(await ofRenderer.exists(request.ref), true);
  const document = ofRenderer.stage(id, 'document', randomBytes(300_000));
  await document.store();
  t.equal((await ofApi.read(document.ref)).length, 300_000);
  await t.rejects(ofRenderer.deleteAll(id), unavailable);
  t.equal(await ofApi.exists(request.ref), true);

  await NatsKeyRecords.open(api, { create: true });
  const renderer = await open('renderer', 'r');
  await t.rejects(NatsKeyRecords.open(renderer, { create: false, timeoutMs: TIMEOUT_MS }));
});

void test('NATS: retention finds what a renderer has hidden', async (t) => {
  const { url } = await startNatsServer(t);
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  const store = new ObjectBlobStore(new NatsObjects(connection));
  const manager = await jetstreamManager(connection);
  const left = async () => (await manager.streams.info('OBJ_pressledger-blobs')).state.messages;
  const id = newConversionId(Date.now());
  const [named, other] = [randomBytes(300_000), randomBytes(300_000)].map((content) =>
    store.stage(id, 'document', content),
  );
  if (named === undefined || other === undefined) throw new Error('Nothing was staged.');
  await Promise.all([named.store(), other.store()]);
  // All that a renderer may write: it empties the index, and takes the description away.
  await manager.streams.purge('KV_pressledger-blobs-index');
  const listed: string[] = [];
  for await (const { key } of store.list()) listed.push(key);
  t.strictSame(listed.toSorted(), [named.ref.key, other.ref.key].toSorted());
  const description = Buffer.from(other.ref.key).toString('base64');
  const filter = `$O.pressledger-blobs.M.${description.replaceAll('+', '-').replaceAll('/', '_')}`;
  await manager.streams.purge('OBJ_pressledger-blobs', { filter });
  await store.deleteAll(id, [named.ref.key]);
  t.equal(await left(), 0);

  const elsewhere = store.stage(id, 'document', randomBytes(1000));
  await elsewhere.store();
  const objects = await new Objm(jetstream(connection)).open('pressledger-blobs');
  const info = await objects.info(elsewhere.ref.key);
  const subject = `$O.pressledger-blobs.M.${Buffer.from(elsewhere.ref.key).toString('base64')}`;
  const moved = JSON.stringify({ ...info, nuid: 'elsewhere' });
  await jetstream(connection).publish(subject.replaceAll('+', '-').replaceAll('/', '_'), moved);
  t.equal(await store.exists(elsewhere.ref), false, 'content elsewhere would outlive its key');
});
