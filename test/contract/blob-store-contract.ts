/** What every blob store must do. Each adapter has a test file that runs it. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Test, test } from 'tap';
import { openContent, readContent } from '../../src/documents/decryption.ts';
import { UnencryptedText } from '../../src/documents/encryption.ts';
import { BlobNotFound, type BlobStore } from '../../src/documents/port.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { listed } from '../support/memory-objects.ts';
import { CONTENT_KEY } from '../support/samples.ts';
import { storePdf } from '../support/stored-pdf.ts';

export interface OpenedBlobStore {
  readonly store: BlobStore;
  /** Where a file that is to be adopted may lie. */
  readonly dir: string;
  readonly close: () => Promise<void>;
}

export interface BlobStoreAdapter {
  readonly name: string;
  /** Of each test: why it is skipped. */
  readonly options?: { readonly skip?: string };
  readonly open: (t: Test) => Promise<OpenedBlobStore>;
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Below, at and above every size at which an adapter may change its way. */
const SIZES = [0, 1, 2_000, 65_536, 65_537, 3_000_000];

export function runBlobStoreContract({ name, open, options = {} }: BlobStoreAdapter): void {
  const contract = (
    title: string,
    run: (t: Test, opened: OpenedBlobStore, id: string) => Promise<void>,
  ): void => {
    void test(`${name}: ${title}`, options, async (t) => {
      const opened = await open(t);
      try {
        await run(t, opened, newConversionId(Date.now()));
      } finally {
        await opened.close();
      }
    });
  };

  contract('names content by its hash', async (t, { store }, id) => {
    const content = randomBytes(100);
    const { ref } = store.stage(id, 'request', content);
    t.strictSame(ref, {
      key: `${id}/request-${sha256(content)}`,
      sha256: sha256(content),
      bytes: 100,
    });
    await t.rejects(store.read(ref), BlobNotFound, 'staged is not stored');
  });

  contract('gives back what was stored, whatever its size', async (t, { store }, id) => {
    for (const size of SIZES) {
      const content = randomBytes(size);
      const staged = store.stage(id, 'request', content);
      await staged.store();
      await staged.store();
      t.ok(content.equals(await store.read(staged.ref)), `read ${size}`);
      t.ok(content.equals(await buffer(await store.open(staged.ref))), `open ${size}`);
    }
  });

  contract('gives a part of a blob', async (t, { store }, id) => {
    for (const size of [1_000, 200_000]) {
      const content = randomBytes(size);
      const staged = store.stage(id, 'document', content);
      await staged.store();
      for (const [start, end] of [
        [0, 0],
        [10, 19],
        [size - 5, size - 1],
        [0, size - 1],
      ] as const) {
        const part = await buffer(await store.open(staged.ref, { start, end }));
        t.ok(content.subarray(start, end + 1).equals(part), `${start}-${end} of ${size}`);
      }
      for (const range of [
        { start: 0, end: size },
        { start: 5, end: 4 },
        { start: -1, end: 4 },
        { start: 0.5, end: 4 },
      ]) {
        await t.rejects(store.open(staged.ref, range), RangeError, JSON.stringify(range));
      }
    }
  });

  contract('adopts a file', async (t, { store, dir }, id) => {
    const content = randomBytes(5_000);
    const path = join(dir, 'out.pdf');
    writeFileSync(path, content);
    const ref = await store.adopt(id, 'document', {
      path,
      sha256: sha256(content),
      bytes: content.length,
    });
    t.equal(ref.key, `${id}/document-${sha256(content)}`);
    t.notOk(existsSync(path));
    t.ok(content.equals(await store.read(ref)));
    t.ok(content.equals(await buffer(await store.open(ref))));
  });

  contract(
    'holds ciphertext, and gives the content or any part of it',
    async (t, { store, dir }, id) => {
      const owner = { conversionId: id, contentKey: CONTENT_KEY };
      const text = '<p>confidential</p>'.repeat(10_000);
      const request = new UnencryptedText(text).stage(store, owner, 'request');
      await request.store();
      const stored = await buffer(await store.open(request.ref));
      t.notOk(stored.includes('confidential'));
      t.equal(String(await readContent(store, CONTENT_KEY, request.ref)), text);
      const content = Buffer.from(text);
      const { document } = await storePdf(store, owner, content, dir);
      t.ok(content.equals(await buffer(await openContent(store, CONTENT_KEY, document))));
      for (const [start, end] of [
        [0, 0],
        [65_535, 65_536],
        [70_000, 189_999],
      ] as const) {
        const part = await buffer(await openContent(store, CONTENT_KEY, document, { start, end }));
        t.ok(content.subarray(start, end + 1).equals(part), `${start}-${end}`);
      }
    },
  );

  contract('refuses to adopt a file of another length', async (t, { store, dir }, id) => {
    const path = join(dir, 'out.pdf');
    writeFileSync(path, 'four');
    const file = { path, sha256: sha256(Buffer.from('four')), bytes: 5 };
    await t.rejects(store.adopt(id, 'document', file), { name: 'BlobStoreUnavailable' });
    await t.rejects(store.adopt(id, 'document', { ...file, path: join(dir, 'none') }), {
      name: 'BlobStoreUnavailable',
    });
  });

  contract('says when a blob is not there', async (t, { store }, id) => {
    const { ref } = store.stage(id, 'document', randomBytes(10));
    await t.rejects(store.read(ref), BlobNotFound);
    await t.rejects(store.open(ref), BlobNotFound);
  });

  contract('says whether a blob is there', async (t, { store }, id) => {
    for (const size of SIZES) {
      const staged = store.stage(id, 'document', randomBytes(size));
      t.equal(await store.exists(staged.ref), false, `${size}, staged`);
      await staged.store();
      t.equal(await store.exists(staged.ref), true, `${size}, stored`);
      await t.rejects(
        store.exists({ ...staged.ref, bytes: size + 1 }),
        { name: 'BlobStoreUnavailable' },
        `${size}, of another length`,
      );
    }
    await store.deleteAll(id);
    t.equal(await store.exists(store.stage(id, 'document', randomBytes(5)).ref), false);
  });

  contract('deletes all of one conversion and nothing else', async (t, { store }, id) => {
    const other = newConversionId(Date.now());
    const keep = store.stage(other, 'request', randomBytes(10));
    const gone = [10, 100_000].map((size) => store.stage(id, 'request', randomBytes(size)));
    for (const staged of [keep, ...gone]) await staged.store();
    await store.deleteAll(id);
    await store.deleteAll(id);
    for (const { ref } of gone) {
      await t.rejects(store.read(ref), BlobNotFound);
      t.equal(await store.exists(ref), false);
    }
    t.equal((await store.read(keep.ref)).length, 10);
    await store.deleteAll(newConversionId(Date.now()));
  });

  contract('lists what lies there by itself, and deletes one of it', async (t, { store }, id) => {
    t.strictSame(await listed(store.list()), []);
    await store.delete(`${id}/request-${'0'.repeat(64)}`);
    const other = newConversionId(Date.now());
    const staged = [
      store.stage(id, 'request', randomBytes(100_000)),
      store.stage(id, 'document', randomBytes(100_001)),
      store.stage(other, 'request', randomBytes(100_002)),
    ];
    for (const each of staged) await each.store();
    await store.claim('some log');
    const keys = async () => (await listed(store.list())).map(({ key }) => key).toSorted();
    t.strictSame(await keys(), staged.map(({ ref }) => ref.key).toSorted());
    t.match(
      (await listed(store.list())).find(({ key }) => key.startsWith(other)),
      { conversionId: other, sha256: staged[2]?.ref.sha256 },
    );
    for (const { ref } of staged) {
      await store.delete(ref.key);
      t.equal(await store.exists(ref), false);
      t.notOk((await keys()).includes(ref.key));
    }
    const small = store.stage(id, 'request', randomBytes(10));
    await small.store();
    await store.delete(small.ref.key);
    t.equal(await store.exists(small.ref), false, 'wherever it lies');
  });

  contract('belongs to the log that claims it first', async (t, { store }) => {
    t.equal(await store.claim('one'), true);
    t.equal(await store.claim('one'), true);
    t.equal(await store.claim('two'), false);
    t.equal(await store.claim('another'), false);
    t.equal(await store.claim('one'), true);
  });

  contract('refuses every key that is not one of its own', async (t, { store, dir }, id) => {
    const hash = '0'.repeat(64);
    const keys = [
      `../${id}/request-${hash}`,
      `${id}/../../etc/passwd`,
      `${id}/request-${hash}/..`,
      `${id}/other-${hash}`,
      `${id}/request-${'1'.repeat(64)}`,
      `${id}\0/request-${hash}`,
      '',
    ];
    for (const key of keys) {
      const ref = { key, sha256: hash, bytes: 1 };
      await t.rejects(store.read(ref), TypeError, JSON.stringify(key));
      await t.rejects(store.open(ref), TypeError, JSON.stringify(key));
      await t.rejects(store.exists(ref), TypeError, JSON.stringify(key));
      if (!key.includes('1111')) await t.rejects(store.delete(key), TypeError, JSON.stringify(key));
    }
    for (const bad of ['..', '../..', 'conv_', `${id}/..`, `${id}\n`, id.toUpperCase()]) {
      t.throws(() => store.stage(bad, 'request', Buffer.alloc(1)), TypeError, JSON.stringify(bad));
      await t.rejects(store.deleteAll(bad), TypeError, JSON.stringify(bad));
      const file = { path: join(dir, 'x'), sha256: hash, bytes: 1 };
      await t.rejects(store.adopt(bad, 'document', file), TypeError, JSON.stringify(bad));
    }
  });
}
