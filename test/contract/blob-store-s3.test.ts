import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Test, test } from 'tap';
import { bufferContent } from '../../src/documents/objects.ts';
import { BlobNotFound } from '../../src/documents/port.ts';
import { ObjectBlobStore } from '../../src/documents/remote.ts';
import { S3Bucket } from '../../src/documents/s3-bucket.ts';
import {
  parseS3Url,
  type S3Credentials,
  type S3Location,
} from '../../src/documents/s3-location.ts';
import { S3Objects } from '../../src/documents/s3-objects.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { testDirectory } from '../support/directory.ts';
import { listed } from '../support/memory-objects.ts';
import { needsS3Server, realS3Bucket } from '../support/s3-real.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';
import { signatureFault } from '../support/s3-signature.ts';
import { runBlobStoreContract } from './blob-store-contract.ts';

runBlobStoreContract({
  name: 'S3',
  open: async (t) => {
    const { location } = await startS3Server(t);
    const client = new S3Bucket(location, s3Credentials);
    const store = new ObjectBlobStore(new S3Objects(client, 'blobs/'));
    return { store, dir: testDirectory(t), close: async () => client.close() };
  },
});

runBlobStoreContract({
  name: 'S3_TEST_URL',
  options: needsS3Server,
  open: async (t) => {
    const client = realS3Bucket();
    const objects = new S3Objects(client, 'blobs/');
    await objects.checkUsable();
    const store = new ObjectBlobStore(objects);
    return { store, dir: testDirectory(t), close: async () => client.close() };
  },
});

const unavailable = { name: 'BlobStoreUnavailable' };
const quick = { tries: 3, idleMs: 300 };

async function openQuick(t: Test) {
  const server = await startS3Server(t);
  const client = new S3Bucket(server.location, s3Credentials, quick);
  t.teardown(() => client.close());
  const objects = new S3Objects(client, 'blobs/');
  const store = new ObjectBlobStore(objects);
  const id = newConversionId(Date.now());
  return { server, objects, store, id };
}

/** @returns what it took, in milliseconds */
async function timed(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}

void test('S3: the tests’ server checks signatures as AWS documents them', (t) => {
  // The example of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  const secrets = { AKIAIOSFODNN7EXAMPLE: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': createHash('sha256').digest('hex'),
    'x-amz-date': '20130524T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, ' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  };
  const fault = (url: string, body = '') =>
    signatureFault({ method: 'GET', url, headers }, Buffer.from(body), secrets, 'us-east-1');
  t.equal(fault('/test.txt'), undefined);
  t.equal(fault('/other.txt'), 'SignatureDoesNotMatch');
  t.equal(fault('/test.txt', 'x'), 'XAmzContentSHA256Mismatch');
  t.end();
});

void test('S3: while the server is away the store says so soon, and works when it is back', async (t) => {
  const { server, store, id } = await openQuick(t);
  const staged = store.stage(id, 'request', randomBytes(1000));
  await staged.store();
  await server.stop();
  const tries: Promise<unknown>[] = [
    store.read(staged.ref),
    store.open(staged.ref, { start: 0, end: 5 }),
    store.exists(staged.ref),
    staged.store(),
    store.deleteAll(id),
  ];
  const took = await timed(
    Promise.all(tries.map((each) => t.rejects(each.then(String), unavailable))),
  );
  t.ok(took < 5000, `${took} ms`);
  t.match(await store.failure(), /^connect ECONNREFUSED 127\.0\.0\.1:\d+$/);
  await server.start();
  t.equal((await store.read(staged.ref)).length, 1000);
  t.equal(await store.failure(), undefined);
});

void test('S3: a server that does not answer is given up in bounded time', async (t) => {
  const { server, store, id } = await openQuick(t);
  const staged = store.stage(id, 'request', randomBytes(1000));
  await staged.store();
  server.fault = () => true;
  const took = await timed(t.rejects(store.read(staged.ref), { ...unavailable }));
  t.ok(took > 600 && took < 5000, `three tries of 300 ms: ${took}`);
});

void test('S3: a busy server is asked again, a refusal is not', async (t) => {
  const { server, store, id } = await openQuick(t);
  for (const status of [500, 503, 429]) {
    let faults = 2;
    server.fault = (request, response) => {
      if (faults === 0) return false;
      faults -= 1;
      request.resume();
      response.writeHead(status).end();
      return true;
    };
    const staged = store.stage(id, 'request', randomBytes(1000));
    await staged.store();
    faults = 2;
    t.equal((await store.read(staged.ref)).length, 1000, String(status));
  }
  const { ref } = store.stage(id, 'request', randomBytes(10));
  server.fault = (_request, response) => {
    response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    return true;
  };
  server.requests.length = 0;
  await t.rejects(store.read(ref), { ...unavailable, cause: { message: /403 AccessDenied/ } });
  t.equal(server.requests.length, 1);
});

void test('S3: an upload that is cut off leaves nothing', async (t) => {
  const { server, store, id } = await openQuick(t);
  const content = randomBytes(8_000_000);
  const path = join(testDirectory(t), 'out.pdf');
  writeFileSync(path, content);
  const file = {
    path,
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
  };
  const { ref } = store.stage(id, 'document', content);
  let cut = 0;
  server.fault = (request) => {
    if (request.method !== 'PUT') return false;
    request.once('data', () => {
      cut += 1;
      request.destroy();
    });
    return true;
  };
  await t.rejects(store.adopt(id, 'document', file), unavailable);
  t.equal(cut, 3);
  t.ok(existsSync(path), 'the file stays for another try');
  await t.rejects(store.read(ref), BlobNotFound);
  server.fault = undefined;
  t.strictSame(await store.adopt(id, 'document', file), ref);
  t.ok(content.equals(await store.read(ref)));
});

/** Two parts and a bit, in bytes. */
const LARGE = 17 * 2 ** 20;

void test('S3: large content goes in parts, each retried by itself', async (t) => {
  const { server, store, id } = await openQuick(t);
  const content = randomBytes(LARGE);
  const staged = store.stage(id, 'document', content);
  let broken = 0;
  server.fault = (request, response) => {
    if (request.method !== 'PUT' || broken === 2) return false;
    broken += 1;
    request.resume();
    response.writeHead(503).end();
    return true;
  };
  await staged.store();
  t.equal(broken, 2);
  t.ok(content.equals(await store.read(staged.ref)));
  t.equal(server.uploads.size, 0);
});

void test('S3: a large upload that is cut off, or is not what was measured, leaves nothing', async (t) => {
  const { server, store, objects, id } = await openQuick(t);
  const content = randomBytes(LARGE);
  const staged = store.stage(id, 'document', content);
  server.fault = (request) => {
    const isLast = request.url?.includes('partNumber=3') ?? false;
    if (isLast) request.once('data', () => request.destroy());
    return isLast;
  };
  await t.rejects(staged.store(), unavailable);
  server.fault = undefined;
  t.same([server.uploads.size, server.objects.size], [0, 0], 'no part of it');
  const other = { ...bufferContent(content), sha256: '0'.repeat(64) };
  await t.rejects(objects.put('a/b', other), { name: 'ObjectsUnavailable' });
  t.same([server.uploads.size, server.objects.size], [0, 0], 'no part of it');
  await staged.store();
  t.ok(content.equals(await store.read(staged.ref)));
});

void test('S3: what is being created by another is tried again, and then refused', async (t) => {
  const { server, objects } = await openQuick(t);
  const content = bufferContent(Buffer.from('mine'));
  let conflicts = 2;
  server.fault = (request, response) => {
    if (conflicts === 0) return false;
    conflicts -= 1;
    request.resume();
    response.writeHead(409).end('<Error><Code>ConditionalRequestConflict</Code></Error>');
    return true;
  };
  t.equal(await objects.create('a/b', content), true, 'the other write failed');
  t.equal(await objects.create('a/b', content), false);
  conflicts = Infinity;
  await t.rejects(objects.create('a/c', content), { message: /409 ConditionalRequestConflict/ });
});

void test('S3: a download that breaks off or stalls fails', async (t) => {
  const { server, store, id } = await openQuick(t);
  const staged = store.stage(id, 'document', randomBytes(500_000));
  await staged.store();
  for (const cut of [true, false]) {
    server.fault = (_request, response) => {
      response.writeHead(200, { 'content-length': 500_000 });
      response.write(Buffer.alloc(1000), () => {
        if (cut) response.destroy();
      });
      return true;
    };
    await t.rejects(store.read(staged.ref), unavailable);
    await t.rejects(buffer(await store.open(staged.ref)), unavailable);
  }
});

void test('S3: a list or an error whose body stalls is given up in bounded time', async (t) => {
  const { server, objects } = await openQuick(t);
  const calls: readonly [number, string, () => Promise<unknown>][] = [
    [200, 'list', () => listed(objects.list('a/'))],
    [403, 'list', () => listed(objects.list('a/'))],
    [503, 'get', () => objects.get('a/b')],
    [403, 'get', () => objects.get('a/b')],
    [404, 'get', () => objects.get('a/b')],
    [403, 'delete', () => objects.delete('a/b')],
    [200, 'keepsVersions', () => objects.keepsVersions()],
    [403, 'checkUsable', () => objects.checkUsable()],
  ];
  for (const [status, name, call] of calls) {
    server.fault = (_request, response) => {
      response.writeHead(status, { 'content-length': 5000 });
      response.write('<Contents>');
      return true;
    };
    const ended = call().then(
      () => 'nothing',
      (error: Error) => error.name,
    );
    const late = new Promise((resolve) => setTimeout(resolve, 5000, 'late').unref());
    const expected = name === 'checkUsable' ? 'Error' : 'ObjectsUnavailable';
    t.equal(await Promise.race([ended, late]), expected, `${name} ${status}`);
  }
});

void test('S3: a body that nobody reads and that stalls holds no connection', async (t) => {
  const { server, objects } = await openQuick(t);
  const closed = new Promise((resolve) => {
    server.fault = (_request, response) => {
      response.socket?.once('close', resolve);
      response.writeHead(200, { 'content-length': 5000 }).write('x');
      return true;
    };
  });
  await t.rejects(objects.delete('a/b'), { name: 'ObjectsUnavailable' });
  const late = new Promise((resolve) => setTimeout(resolve, 5000, 'late').unref());
  t.not(await Promise.race([closed, late]), 'late');
});

void test('S3: a reader may be slower than the longest silence of the server', async (t) => {
  const { store, id } = await openQuick(t);
  const staged = store.stage(id, 'document', randomBytes(5_000_000));
  await staged.store();
  let bytes = 0;
  let first = true;
  for await (const chunk of await store.open(staged.ref)) {
    bytes += (chunk as Buffer).length;
    // Longer than idleMs: there is no event to wait for.
    if (first) await new Promise((resolve) => setTimeout(resolve, 700));
    first = false;
  }
  t.equal(bytes, 5_000_000);
});

void test('S3: wrong bytes under the right name are found', async (t) => {
  const { server, store, id } = await openQuick(t);
  const staged = store.stage(id, 'document', randomBytes(1000));
  await staged.store();
  const [path = ''] = [...server.objects.keys()].filter((each) => each.endsWith(staged.ref.key));
  t.equal(path, `/pressledger/some/where/blobs/${staged.ref.key}`);
  server.objects.set(path, randomBytes(1000));
  await t.rejects(store.read(staged.ref), unavailable);
  server.objects.set(path, randomBytes(999));
  await t.rejects(store.open(staged.ref), unavailable);
});

void test('S3: lists in pages', async (t) => {
  const { server, objects, store, id } = await openQuick(t);
  server.pageSize = 2;
  for (let size = 0; size < 5; size += 1) {
    await store.stage(id, 'request', Buffer.alloc(size)).store();
  }
  t.equal((await listed(objects.list(`${id}/`))).length, 5);
  await store.deleteAll(id);
  t.equal(server.objects.size, 0);
});

void test('S3: what cannot be used is said in one line, without a secret', async (t) => {
  const { server } = await openQuick(t);
  const check = (location: Partial<S3Location>, credentials: Partial<S3Credentials>) => {
    const client = new S3Bucket(
      { ...server.location, ...location },
      { ...s3Credentials, ...credentials },
      quick,
    );
    t.teardown(() => client.close());
    return new S3Objects(client, 'blobs/').checkUsable();
  };
  await check({}, {});
  const cases = [
    [{ bucket: 'no-such-bucket' }, {}, /bucket no-such-bucket at http.* does not exist/],
    [{}, { accessKeyId: 'other' }, /403 InvalidAccessKeyId.*AWS_ACCESS_KEY_ID/],
    [{}, { secretAccessKey: 'wrong-secret' }, /403 SignatureDoesNotMatch/],
    [{ region: 'mars-1' }, {}, /AuthorizationHeaderMalformed.*region/],
    [{ endpoint: 'http://127.0.0.1:1' }, {}, /cannot be used: .*ECONNREFUSED/],
  ] as const;
  for (const [location, credentials, message] of cases) {
    const text = await check(location, credentials).then(String, String);
    t.match(text, message);
    t.match(text, /^Error: BLOB_STORE_URL: /);
    t.notMatch(text, /\n|secret/);
  }
});

void test('S3: reads a URL', (t) => {
  t.strictSame(parseS3Url('s3://docs'), {
    bucket: 'docs',
    prefix: '',
    region: 'us-east-1',
    endpoint: 'https://s3.us-east-1.amazonaws.com',
    pathStyle: false,
  });
  t.strictSame(
    parseS3Url(
      's3://my.docs/a/b-c/?region=eu-central-1&endpoint=http://minio:9000&path_style=false',
    ),
    {
      bucket: 'my.docs',
      prefix: 'a/b-c/',
      region: 'eu-central-1',
      endpoint: 'http://minio:9000',
      pathStyle: false,
    },
  );
  t.equal(parseS3Url('s3://docs?endpoint=https://minio.example').pathStyle, true);
  for (const bad of [
    '',
    'docs',
    'http://docs',
    's3://',
    's3:docs',
    's3://UPPER',
    's3://secret:secret@docs',
    's3://docs:9000',
    's3://docs/a//b',
    's3://docs/a b',
    's3://docs?secret=x',
    's3://docs?region=a&region=b',
    's3://docs?region=a/b',
    's3://docs?path_style=yes',
    's3://docs?endpoint=minio:9000',
    's3://docs?endpoint=https://secret@minio',
    's3://docs?endpoint=https://minio/path',
    's3://docs#secret',
  ]) {
    t.throws(() => parseS3Url(bad), { message: /^BLOB_STORE_URL cannot be used: [^\n]+\.$/ }, bad);
    t.throws(() => parseS3Url(bad), { message: /^(?!.*secret)/ }, bad);
  }
  t.end();
});
