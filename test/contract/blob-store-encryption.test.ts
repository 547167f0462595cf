/** What encryption at rest promises: frames open in their place of their blob only, or not at all. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { type Test, test } from 'tap';
import {
  BlobCipher,
  contentBytes,
  ENCRYPTED_FRAME_BYTES,
  encryptedBytes,
  FRAME_BYTES,
  HEADER_BYTES,
} from '../../src/documents/cipher.ts';
import { decryptBlob, openContent, readContent } from '../../src/documents/decryption.ts';
import { encryptFile, UnencryptedText } from '../../src/documents/encryption.ts';
import { ObjectBlobStore } from '../../src/documents/remote.ts';
import type { BlobKind } from '../../src/domain/blob-key.ts';
import type { BlobRef } from '../../src/domain/event-fields.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { testDirectory } from '../support/directory.ts';
import { MemoryObjects } from '../support/memory-objects.ts';
import { CONTENT_KEY } from '../support/samples.ts';

const conversionId = newConversionId(Date.now());
const owner = { conversionId, contentKey: CONTENT_KEY };
const damaged = { name: 'BlobStoreUnavailable' };

/** Lengths on, below and above the borders of frames. */
const lengths = fc
  .tuple(fc.nat(3), fc.integer({ min: -2, max: 2 }))
  .map(([frames, off]) => Math.max(0, frames * FRAME_BYTES + off));

const textOf = (bytes: number): string =>
  randomBytes(Math.ceil(bytes / 2))
    .toString('hex')
    .slice(0, bytes);

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

function openPlace() {
  const objects = new MemoryObjects();
  const blobs = new ObjectBlobStore(objects);
  const store = async (text: string, kind: BlobKind = 'document', of = owner): Promise<BlobRef> => {
    const staged = new UnencryptedText(text).stage(blobs, of, kind);
    await staged.store();
    return staged.ref;
  };
  const stored = ({ key }: BlobRef): Buffer => objects.stored.get(key) ?? Buffer.alloc(0);
  /** Stores other bytes under a name of theirs, as anybody who may write there could. */
  const forge = (kind: BlobKind, content: Buffer, id = conversionId): BlobRef => {
    const hash = sha256(content);
    const ref = { key: `${id}/${kind}-${hash}`, sha256: hash, bytes: content.length };
    objects.stored.set(ref.key, content);
    return ref;
  };
  const refused = async (t: Test, ref: BlobRef, what: string, key = CONTENT_KEY): Promise<void> => {
    await t.rejects(readContent(blobs, key, ref), damaged, `${what}: read`);
    await t.rejects(openContent(blobs, key, ref).then(buffer), damaged, `${what}: open`);
  };
  return { objects, blobs, store, stored, forge, refused };
}

void test('every part of every length comes back, and nothing of it lies readable', async (t) => {
  const { blobs, store, stored } = openPlace();
  await fc.assert(
    fc.asyncProperty(lengths, fc.nat(), fc.nat(), async (bytes, a, b) => {
      const text = textOf(bytes);
      const ref = await store(text);
      const content = Buffer.from(text);
      t.equal(ref.bytes, encryptedBytes(bytes));
      t.equal(contentBytes(ref.bytes), bytes);
      if (bytes > 16 && stored(ref).includes(text.slice(0, 16))) return false;
      const whole = await buffer(await openContent(blobs, CONTENT_KEY, ref));
      const read = await readContent(blobs, CONTENT_KEY, ref);
      if (!whole.equals(content) || !read.equals(content)) return false;
      if (bytes === 0) return true;
      const [start = 0, end = 0] = [a % bytes, b % bytes].toSorted((x, y) => x - y);
      const part = await buffer(await openContent(blobs, CONTENT_KEY, ref, { start, end }));
      return part.equals(content.subarray(start, end + 1));
    }),
    { numRuns: 60 },
  );
  const ref = await store('ten bytes.');
  for (const range of [
    { start: 0, end: 10 },
    { start: 5, end: 4 },
    { start: -1, end: 4 },
  ]) {
    await t.rejects(openContent(blobs, CONTENT_KEY, ref, range), RangeError);
  }
});

void test('no length of a blob is that of two contents', (t) => {
  const stored = fc.integer({ min: 0, max: 4 * ENCRYPTED_FRAME_BYTES });
  fc.assert(
    fc.property(stored, (bytes) => {
      const content = contentBytes(bytes);
      return content === undefined || encryptedBytes(content) === bytes;
    }),
  );
  for (const bytes of [0, HEADER_BYTES, HEADER_BYTES + 15, encryptedBytes(FRAME_BYTES) + 1]) {
    t.equal(contentBytes(bytes), undefined, `${bytes}`);
  }
  t.equal(contentBytes(encryptedBytes(0)), 0);
  t.end();
});

void test('a text is encrypted once, and its HMAC is of its conversion alone', async (t) => {
  const { blobs } = openPlace();
  const text = new UnencryptedText('<p>ü</p>');
  t.equal(text.bytes, 9);
  const hmac = text.hmac(CONTENT_KEY);
  t.match(hmac, /^[0-9a-f]{64}$/);
  t.equal(new UnencryptedText('<p>ü</p>').hmac(CONTENT_KEY), hmac);
  t.not(new UnencryptedText('<p>ü</p>').hmac(Buffer.alloc(32, 6)), hmac);
  t.not(new UnencryptedText('<p>u</p>').hmac(CONTENT_KEY), hmac);
  const one = text.stage(blobs, owner, 'request');
  const two = new UnencryptedText('<p>ü</p>').stage(blobs, owner, 'request');
  t.not(one.ref.sha256, two.ref.sha256, 'the same text never lies there twice');
  t.throws(() => text.stage(blobs, owner, 'request'), /has been encrypted/);
  t.throws(() => text.hmac(CONTENT_KEY), /has been encrypted/);
});

void test('a file is replaced by its encrypted form, whatever its length', async (t) => {
  const directory = testDirectory(t);
  const { blobs } = openPlace();
  const many = 16 * FRAME_BYTES;
  const sizes = [0, 1, FRAME_BYTES, FRAME_BYTES + 1, many - 1, many, many + 1, 3 * many + 5];
  for (const bytes of sizes) {
    const path = join(directory, `${bytes}.pdf`);
    const content = randomBytes(bytes);
    writeFileSync(path, content);
    const file = await encryptFile(owner, 'document', { path, bytes }, `${path}.encrypted`);
    t.strictSame(readdirSync(directory), [basename(file.path)], 'nothing of it stays readable');
    const stored = readFileSync(file.path);
    t.match(file, { bytes: stored.length, sha256: sha256(stored) });
    const ref = await blobs.adopt(conversionId, 'document', file);
    t.ok(content.equals(await readContent(blobs, CONTENT_KEY, ref)), `${bytes}`);
  }
  const path = join(directory, 'other.pdf');
  writeFileSync(path, 'four');
  const encrypting = encryptFile(owner, 'document', { path, bytes: 5 }, `${path}.encrypted`);
  await t.rejects(encrypting, /has 4 bytes, not 5/);
  t.notOk(existsSync(`${path}.encrypted`));
});

void test('a changed bit anywhere is found, by the whole and by the parts it is in', async (t) => {
  const { objects, blobs, store, stored, forge, refused } = openPlace();
  await fc.assert(
    fc.asyncProperty(lengths, fc.nat(), fc.nat(7), async (bytes, at, bit) => {
      const ref = await store(textOf(bytes));
      const changed = Buffer.from(stored(ref));
      const place = at % changed.length;
      changed[place] = (changed[place] ?? 0) ^ (1 << bit);
      // Also if the same person could change what the log says of its hash.
      await refused(t, forge('document', Buffer.from(changed)), `${place} of ${bytes}`);
      objects.stored.set(ref.key, changed);
      await refused(t, ref, `${place} of ${bytes}, under its name`);
      const frame = Math.floor((place - HEADER_BYTES) / ENCRYPTED_FRAME_BYTES);
      const start = Math.max(0, frame) * FRAME_BYTES;
      if (start >= bytes) return;
      const part = openContent(blobs, CONTENT_KEY, ref, { start, end: start });
      await t.rejects(part, damaged, `the part of ${place}, before its first byte`);
    }),
    { numRuns: 40 },
  );
});

void test('frames that are cut off, swapped or repeated do not open', async (t) => {
  const { store, stored, forge, refused } = openPlace();
  const ref = await store(textOf(4 * FRAME_BYTES));
  const header = stored(ref).subarray(0, HEADER_BYTES);
  const frames = [0, 1, 2, 3].map((index) => {
    const start = HEADER_BYTES + index * ENCRYPTED_FRAME_BYTES;
    return stored(ref).subarray(start, start + ENCRYPTED_FRAME_BYTES);
  });
  const arrangements = fc.array(fc.nat(3), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(arrangements, async (order) => {
      fc.pre(order.join('') !== '0123');
      const changed = Buffer.concat([header, ...order.flatMap((index) => frames[index] ?? [])]);
      await refused(t, forge('document', changed), order.join(','));
    }),
    { numRuns: 60 },
  );
  await fc.assert(
    fc.asyncProperty(fc.nat(ref.bytes - 1), async (length) => {
      await refused(t, forge('document', stored(ref).subarray(0, length)), `cut at ${length}`);
    }),
    { numRuns: 40 },
  );
  const again = stored(await store(textOf(4 * FRAME_BYTES)));
  const mixed = Buffer.concat([header, again.subarray(HEADER_BYTES)]);
  await refused(t, forge('document', mixed), 'with the header of another encryption');
});

void test('one blob does not pass for another', async (t) => {
  const { objects, blobs, store, stored, forge, refused } = openPlace();
  const [one, two] = [await store('one'), await store('two')];
  const mine = Buffer.from(stored(one));
  objects.stored.set(one.key, Buffer.from(stored(two)));
  await refused(t, one, 'another try of the same conversion, of the same length');
  await refused(t, forge('request', mine), 'another kind');

  const other = { conversionId: newConversionId(Date.now()), contentKey: Buffer.alloc(32, 6) };
  await refused(t, forge('document', mine, other.conversionId), 'another conversion’s blob');
  const theirs = await store('another', 'document', other);
  await refused(t, theirs, 'with another conversion’s key');
  await refused(t, forge('document', Buffer.from(stored(theirs))), 'in another’s place');
  t.equal(String(await readContent(blobs, other.contentKey, theirs)), 'another');
  await refused(t, forge('document', Buffer.from('%PDF-1.7 not encrypted')), 'never encrypted');
  await refused(t, forge('document', randomBytes(encryptedBytes(100))), 'of a fitting length');
  const later = Buffer.from(stored(two));
  later[7] = 2;
  await t.rejects(readContent(blobs, CONTENT_KEY, forge('document', later)), {
    message: /stored by a newer release \(form 2, this one knows 1\); install that release/,
  });
  const none = { ...one, key: one.key.replace(one.sha256, '0'.repeat(64)), sha256: '0'.repeat(64) };
  await t.rejects(openContent(blobs, CONTENT_KEY, none), { name: 'BlobNotFound' });
});

void test('a nonce never repeats within a key', (t) => {
  const [one, two] = [1, 2].map(() => new BlobCipher(CONTENT_KEY, 'same', 5));
  if (one === undefined || two === undefined) throw new Error('There are no ciphers.');
  const rooms = [one, two].map((cipher) => {
    const room = Buffer.alloc(5 + 16);
    cipher.encryptInPlace(room, 0);
    return room;
  });
  t.notOk(rooms[0]?.equals(rooms[1] ?? rooms[0]), 'each encryption has a key of its own');
  const ref = {
    key: `${conversionId}/request-${'0'.repeat(64)}`,
    sha256: '0'.repeat(64),
    bytes: 1,
  };
  t.throws(() => decryptBlob(CONTENT_KEY, ref, Buffer.alloc(1)), damaged);
  t.end();
});
