/** What /readyz says of a blob store that cannot be used, and that it notices when it can be again. */
import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { readConfig } from '../../src/config/config.ts';
import { NatsObjects } from '../../src/documents/nats-objects.ts';
import type { Objects } from '../../src/documents/objects.ts';
import { ObjectBlobStore } from '../../src/documents/remote.ts';
import { S3Bucket } from '../../src/documents/s3-bucket.ts';
import { S3Objects } from '../../src/documents/s3-objects.ts';
import { logUnlessTold } from '../../src/observe/log.ts';
import { Outage } from '../../src/observe/outage.ts';
import { openBlobs } from '../../src/service/blobs.ts';
import { Openings } from '../../src/service/open.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { eventually } from '../support/deadline.ts';
import { listed, MemoryObjects } from '../support/memory-objects.ts';
import { connectForGood, startNatsServer } from '../support/nats-server.ts';
import { silent } from '../support/renderer.ts';
import { type S3Fault, s3Credentials, startS3Server } from '../support/s3-server.ts';

const BLOBS = 'OBJ_pressledger-blobs';
const id = newConversionId(Date.now());
const unavailable = { name: 'BlobStoreUnavailable' };
const store = (blobs: ObjectBlobStore, bytes: number): Promise<void> =>
  blobs.stage(id, 'request', randomBytes(bytes)).store();
const onceUsable = (blobs: ObjectBlobStore): Promise<true> =>
  eventually('the store', async () => ((await blobs.failure()) === undefined ? true : undefined));

const answer =
  (status: number, code: string, method: string): S3Fault =>
  (request, response) => {
    if (request.method !== method) return false;
    request.resume();
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
    return true;
  };

async function onNats(t: Test) {
  const server = await startNatsServer(t);
  const connection = await connectForGood(t, server.url);
  const objects = new NatsObjects(connection, { timeoutMs: 500 });
  const manager = await jetstreamManager(connection);
  return { server, connection, objects, manager };
}

void test('NATS: a bucket that somebody filled is noticed, and that it is free again', async (t) => {
  const { connection, objects, manager } = await onNats(t);
  const blobs = new ObjectBlobStore(objects, { tryAgainMs: 50 });
  await store(blobs, 1000);
  // What docs/deployment.md has its operator do: `nats stream edit --max-bytes`.
  const { config } = await manager.streams.info(BLOBS);
  await manager.streams.update(BLOBS, { ...config, max_bytes: 500_000 });
  const again = new NatsObjects(connection);
  await again.checkUsable();
  t.equal((await manager.streams.info(BLOBS)).config.max_bytes, 500_000, 'a start leaves it so');
  const renderers = new ObjectBlobStore(again, { triesWrites: false });
  await store(renderers, 400_000);
  t.equal(await blobs.failure(), undefined, 'nobody has been refused yet');
  await t.rejects(store(blobs, 200_000), unavailable);
  const full = 'it takes no writes: maximum bytes exceeded';
  t.equal(await blobs.failure(), full);
  const { state } = await manager.streams.info(BLOBS);
  await eventually('a try', async () => {
    t.equal(await blobs.failure(), full);
    const { last_seq } = (await manager.streams.info(BLOBS)).state;
    return last_seq > state.last_seq || undefined;
  });
  t.equal(await renderers.failure(), undefined);
  await manager.streams.purge(BLOBS, { filter: `$O.pressledger-blobs.C.${id}.>` });
  await onceUsable(blobs);
  await store(blobs, 200_000);
  t.strictSame(await listed(objects.list('check/')), [], 'no try has left anything');
});

void test('NATS: a server that does not answer is said plainly', async (t) => {
  const { server, objects } = await onNats(t);
  const blobs = new ObjectBlobStore(objects);
  await store(blobs, 10);
  await server.kill();
  t.equal(await blobs.failure(), 'no answer in time');
});

void test('S3: what its server says is told, without our own names', async (t) => {
  const server = await startS3Server(t);
  const client = new S3Bucket(server.location, s3Credentials, {
    tries: 2,
    idleMs: 200,
  });
  t.teardown(() => client.close());
  const blobs = new ObjectBlobStore(new S3Objects(client, 'blobs/'), { tryAgainMs: 20 });
  server.fault = answer(403, 'AccessDenied', 'HEAD');
  t.equal(await blobs.failure(), 'its server answers 403');
  server.fault = answer(507, 'InsufficientStorage', 'PUT');
  await t.rejects(store(blobs, 10), unavailable);
  t.equal(await blobs.failure(), 'it takes no writes: its server answers 507 InsufficientStorage');
  server.fault = () => true;
  t.equal(await blobs.failure(), 'no answer in time');
  server.fault = undefined;
  await onceUsable(blobs);
  t.equal(server.objects.size, 0);
});

void test('S3: a server that falls silent and then is busy has a line for each, and one for its return', async (t) => {
  const server = await startS3Server(t);
  const lines: string[] = [];
  const write = (line: string): void => void lines.push((JSON.parse(line) as { msg: string }).msg);
  const logger = pino({ level: 'info', hooks: { logMethod: logUnlessTold } }, { write });
  const outage = new Outage('the bucket', logger, 300);
  const limits = { tries: 2, idleMs: 200 };
  const client = new S3Bucket(server.location, s3Credentials, limits, outage);
  t.teardown(() => client.close());
  const objects = new S3Objects(client, 'blobs/');
  const blobs = new ObjectBlobStore(objects);
  await store(blobs, 10);
  server.fault = answer(501, 'NotImplemented', 'GET');
  t.equal(await objects.keepsVersions(), undefined);
  t.strictSame(lines, [], 'a server that does not know of versions answers all the same');
  for (const fault of [() => true, answer(503, 'SlowDown', 'PUT')]) {
    server.fault = fault;
    for (let n = 0; n < 3; n += 1) {
      await store(blobs, 10).catch((err: unknown) => logger.error({ err }, 'not stored'));
    }
  }
  server.fault = answer(403, 'AccessDenied', 'PUT');
  await store(blobs, 10).catch((err: unknown) => logger.error({ err }, 'refused'));
  server.fault = undefined;
  await store(blobs, 10);
  await eventually('the end', () => (lines.length > 3 ? true : undefined));
  t.strictSame(lines, [
    'the bucket does not answer as it should: it is tried again',
    'the bucket fails for another reason, too: it is tried again',
    'refused',
    'the bucket answers again',
  ]);
});

void test('a write is not tried by each probe, nor for more than it must show', async (t) => {
  const objects = new MemoryObjects();
  const sizes: number[] = [];
  const refusing: Objects = {
    put: async (_, { bytes }) => {
      sizes.push(bytes);
      throw new Error('It is full.');
    },
    get: (key) => objects.get(key),
    size: (key) => objects.size(key),
    delete: (key) => objects.delete(key),
    list: (folder) => objects.list(folder),
  };
  const patient = new ObjectBlobStore(refusing);
  await t.rejects(store(patient, 100), unavailable);
  const probes = await Promise.all(Array.from({ length: 100 }, () => patient.failure()));
  t.strictSame(new Set(probes), new Set(['it takes no writes: It is full.']));
  t.strictSame(sizes, [100]);
  const eager = new ObjectBlobStore(refusing, { tryAgainMs: 0 });
  await t.rejects(store(eager, 3_000_000), unavailable);
  await Promise.all(Array.from({ length: 100 }, () => eager.failure()));
  t.strictSame(sizes, [100, 3_000_000, 1_048_576], 'one at a time');
});

void test('a shared folder that is not there is noticed, and that it is back', async (t) => {
  const folder = join(t.testdir(), 'shared');
  const openings = new Openings();
  const config = readConfig({ BLOB_STORE_URL: `file:${folder}` });
  const around = { config, logger: silent, openings, nats: undefined };
  await t.rejects(openBlobs(around, 'renderer'), { message: /^There is no .*shared.blobs: / });
  await openBlobs(around, 'api');
  t.strictSame(await openings.unhealthyReasons(), []);
  renameSync(folder, `${folder}-away`);
  t.match(await openings.unhealthyReasons(), [
    /^the blob store cannot be used: .* is missing \(ENOENT\)/,
  ]);
  renameSync(`${folder}-away`, folder);
  t.strictSame(await openings.unhealthyReasons(), []);
  t.ok(await openBlobs(around, 'renderer'));
});
