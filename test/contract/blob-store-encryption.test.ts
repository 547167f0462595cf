/** What encryption at rest promises: frames open in their place of their blob only, or not at all. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import fc from 'fast-check';
import { test } from 'tap';
import {
  FRAME_BYTES,
  HEADER_BYTES,
  SEALED_FRAME_BYTES,
  sealedBytes,
} from '../../src/blob-store/cipher.ts';
import { bufferContent, fileContent } from '../../src/blob-store/objects.ts';
import { ObjectBlobStore } from '../../src/blob-store/remote.ts';
import { openSealed, sealContent } from '../../src/blob-store/sealed-content.ts';
import { newConversionId } from '../../src/ids.ts';
import { MemoryObjects } from '../support/memory-objects.ts';

const key = Buffer.alloc(32, 3);
const id = newConversionId(Date.now());
const unavailable = { name: 'BlobStoreUnavailable' };

/** Lengths on, below and above the borders of frames. */
const lengths = fc
  .tuple(fc.nat(3), fc.integer({ min: -2, max: 2 }))
  .map(([frames, off]) => Math.max(0, frames * FRAME_BYTES + off));

const sealed = async (name: string, content: Buffer): Promise<Buffer> =>
  buffer((await sealContent(key, name, bufferContent(content))).open());

const opened = (name: string, bytes: number, stored: Buffer): Promise<Buffer> =>
  buffer(openSealed(key, name, bytes, Readable.from([stored], { objectMode: false })));

void test('every part of every length comes back, and nothing of it lies readable', async (t) => {
  const objects = new MemoryObjects();
  const store = new ObjectBlobStore(objects, key);
  await fc.assert(
    fc.asyncProperty(lengths, fc.nat(), fc.nat(), async (bytes, a, b) => {
      const content = randomBytes(bytes);
      const staged = store.stage(id, 'document', content);
      await staged.store();
      const stored = objects.stored.get(staged.ref.key) ?? Buffer.alloc(0);
      const plain = bytes > 16 && stored.includes(content.subarray(0, 16));
      const whole = await buffer(await store.open(staged.ref));
      if (plain || stored.length !== sealedBytes(bytes) || !whole.equals(content)) return false;
      if (bytes === 0) return true;
      const [start = 0, end = 0] = [a % bytes, b % bytes].toSorted((x, y) => x - y);
      const part = await buffer(await store.open(staged.ref, { start, end }));
      return part.equals(content.subarray(start, end + 1));
    }),
    { numRuns: 60 },
  );
  t.pass();
});

void test('what is too large to keep in memory is sealed the same each time', async (t) => {
  const path = join(t.testdir(), 'large.pdf');
  const content = randomBytes(9_000_000);
  writeFileSync(path, content);
  const { sha256, bytes } = bufferContent(content);
  const large = await sealContent(key, 'large', fileContent({ path, sha256, bytes }));
  const [one, two] = [await buffer(large.open()), await buffer(large.open())];
  t.ok(one.equals(two));
  t.equal(bufferContent(one).sha256, large.sha256);
  t.equal(one.length, large.bytes);
  t.ok(content.equals(await opened('large', bytes, one)));
  writeFileSync(path, randomBytes(9_000_000));
  const sent: Buffer[] = [];
  const again = large.open().on('data', (chunk: Buffer) => void sent.push(chunk));
  await t.rejects(finished(again), { message: /changed while it was stored/ });
  t.equal(Buffer.concat(sent).length, HEADER_BYTES, 'one nonce never seals two contents');
});

void test('a changed bit anywhere is found, by the whole and by the parts it is in', async (t) => {
  const objects = new MemoryObjects();
  const store = new ObjectBlobStore(objects, key);
  await fc.assert(
    fc.asyncProperty(lengths, fc.nat(), fc.nat(7), async (bytes, at, bit) => {
      const staged = store.stage(id, 'document', randomBytes(bytes));
      await staged.store();
      const stored = objects.stored.get(staged.ref.key) ?? Buffer.alloc(0);
      const place = at % stored.length;
      stored[place] = (stored[place] ?? 0) ^ (1 << bit);
      await t.rejects(store.read(staged.ref), unavailable, `${place} of ${bytes}`);
      await t.rejects(buffer(await store.open(staged.ref)), unavailable);
      const start =
        Math.max(0, Math.floor((place - HEADER_BYTES) / SEALED_FRAME_BYTES)) * FRAME_BYTES;
      if (start >= bytes) return;
      const part = store.open(staged.ref, { start, end: start });
      await t.rejects(part.then(buffer), unavailable, `the part of ${place}`);
    }),
    { numRuns: 40 },
  );
});

void test('frames that are cut off, swapped, repeated or of another blob do not open', async (t) => {
  const content = randomBytes(4 * FRAME_BYTES);
  const stored = await sealed('one', content);
  const header = stored.subarray(0, HEADER_BYTES);
  const frames = [0, 1, 2, 3].map((index) => {
    const start = HEADER_BYTES + index * SEALED_FRAME_BYTES;
    return stored.subarray(start, start + SEALED_FRAME_BYTES);
  });
  t.ok(content.equals(await opened('one', content.length, Buffer.concat([header, ...frames]))));

  const arrangements = fc.array(fc.nat(3), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(arrangements, fc.nat(4), async (order, length) => {
      fc.pre(order.join('') !== '0123');
      const changed = Buffer.concat([header, ...order.flatMap((index) => frames[index] ?? [])]);
      // With its true length, and with any other that the same frames could stand for.
      for (const bytes of [content.length, length * FRAME_BYTES]) {
        await t.rejects(opened('one', bytes, changed), `${order.join(',')} as ${bytes}`);
      }
    }),
    { numRuns: 60 },
  );
  await fc.assert(
    fc.asyncProperty(fc.nat(stored.length - 1), async (length) => {
      await t.rejects(opened('one', content.length, stored.subarray(0, length)), String(length));
    }),
    { numRuns: 40 },
  );
  await t.rejects(opened('two', content.length, stored), 'under the name of another blob');
  const again = await sealed('one', content);
  const mixed = Buffer.concat([header, again.subarray(HEADER_BYTES)]);
  await t.rejects(opened('one', content.length, mixed), 'with the header of another sealing');
});

void test('one blob does not pass for another, encrypted or not', async (t) => {
  const objects = new MemoryObjects();
  const store = new ObjectBlobStore(objects, key);
  const [one, two] = [randomBytes(100), randomBytes(100)].map((c) =>
    store.stage(id, 'document', c),
  );
  if (one === undefined || two === undefined) throw new Error('Nothing was staged.');
  await one.store();
  await two.store();
  objects.stored.set(one.ref.key, objects.stored.get(two.ref.key) ?? Buffer.alloc(0));
  await t.rejects(store.read(one.ref), unavailable);
  objects.stored.set(one.ref.key, randomBytes(100));
  await t.rejects(store.read(one.ref), unavailable, 'plain content of the same length');
  await t.rejects(buffer(await store.open(one.ref)), unavailable);
  await t.rejects(store.open(one.ref, { start: 3, end: 5 }), unavailable, 'nor in parts');
});

void test('what was stored without a key stays readable with one', async (t) => {
  const objects = new MemoryObjects();
  const content = randomBytes(200_000);
  const staged = new ObjectBlobStore(objects).stage(id, 'document', content);
  await staged.store();
  const store = new ObjectBlobStore(objects, key);
  t.ok(content.equals(await store.read(staged.ref)));
  t.ok(content.equals(await buffer(await store.open(staged.ref))));
  const part = await buffer(await store.open(staged.ref, { start: 65_000, end: 150_000 }));
  t.ok(content.subarray(65_000, 150_001).equals(part));
});

void test('a missing key is said when it is needed', async (t) => {
  const objects = new MemoryObjects();
  const staged = new ObjectBlobStore(objects, key).stage(id, 'document', randomBytes(10));
  await staged.store();
  const without = new ObjectBlobStore(objects);
  const message = /encrypted, and BLOB_KEY is not set/;
  await t.rejects(without.read(staged.ref), { ...unavailable, message });
  await t.rejects(without.open(staged.ref, { start: 0, end: 0 }), { ...unavailable, message });
});

void test('a file that is not what its writer measured is not adopted', async (t) => {
  const objects = new MemoryObjects();
  const path = join(t.testdir(), 'out.pdf');
  for (const store of [new ObjectBlobStore(objects), new ObjectBlobStore(objects, key)]) {
    for (const bytes of [0, 10, FRAME_BYTES, FRAME_BYTES + 1]) {
      writeFileSync(path, Buffer.alloc(bytes, 1));
      const { sha256 } = bufferContent(Buffer.alloc(bytes + 1, 2));
      await t.rejects(store.adopt(id, 'document', { path, sha256, bytes }), unavailable);
    }
  }
  t.equal(objects.stored.size, 0);
});
