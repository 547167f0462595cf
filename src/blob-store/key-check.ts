/**
 * Finds a mistaken BLOB_KEY at a node's start, by a fingerprint. The one that counts for API nodes lies
 * beside the keyring; the one for renderers lies among the blobs, where a renderer that was taken over can
 * spoil it: API nodes write that one and never obey it. See docs/decisions/0016-remote-blobs.md.
 */
import { hkdfSync } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { bufferContent, type Objects } from './objects.ts';
import { plainReason } from './plain-reason.ts';

/** Where renderers cannot reach: the records of the keyring. */
export interface KeyMarks {
  /** Stores the text unless there is one. @returns false where there is */
  create(name: string, text: string): Promise<boolean>;
  read(name: string): Promise<string | undefined>;
}

const CHECK = 'blob-key.check';
/** An API node has started here since there is `CHECK`: the mark among the blobs counts no longer. */
const MOVED = 'blob-key.moved';
const RENDERERS_MARK = 'check/blob-key';
const MARK_BYTES = 32;
/** What was found where the mark should be, and is none. */
const SPOILT_MARK = Buffer.alloc(0);

const FORGOTTEN = 'BLOB_KEY is not set, and the blob store was made with one; set that one.';
const MISTAKEN = 'BLOB_KEY is not the one that the blob store was made with; set that one.';
const SPOILT =
  'What renderers know BLOB_KEY by is damaged: start an API node again, which writes it anew.';
const PREMATURE =
  'BLOB_KEY is set, and the blob store is not encrypted: leave it out, or start an API node with it first.';

/**
 * For an API node, which may decide that the store is encrypted from now on, with this key.
 * @throws {Error} one line: the store was made with another key, or with one, or does not answer
 */
export async function checkKey(
  objects: Objects,
  key: Buffer | undefined,
  marks: KeyMarks,
): Promise<void> {
  await demandNone(faultOf(objects, key, marks));
}

/** For a renderer. @throws {Error} one line: API nodes have another key, or one, or none */
export async function checkKeyOfRenderer(objects: Objects, key: Buffer | undefined): Promise<void> {
  await demandNone(faultOfRenderer(objects, key));
}

/** For an API node whose key was checked: puts right what renderers find. */
export async function markForRenderers(objects: Objects, key: Buffer | undefined): Promise<void> {
  const wanted = key && fingerprintOf(key);
  const found = await readMark(objects).catch(() => SPOILT_MARK);
  if (wanted === undefined ? found === undefined : found?.equals(wanted)) return;
  // A driver may take an object of the same length for the one that it was asked to store.
  if (found !== undefined) await objects.delete(RENDERERS_MARK);
  if (wanted !== undefined) await objects.put(RENDERERS_MARK, bufferContent(wanted));
}

async function faultOf(
  objects: Objects,
  key: Buffer | undefined,
  marks: KeyMarks,
): Promise<string | undefined> {
  const known = (await marks.read(CHECK)) ?? (await earlierMark(objects, marks));
  if (key === undefined) {
    // A node that forgot its key would store in the clear what its operator wants encrypted.
    if (known !== undefined) return FORGOTTEN;
  } else {
    const fingerprint = fingerprintOf(key).toString('hex');
    if (known !== undefined && known !== fingerprint) return MISTAKEN;
    await marks.create(CHECK, fingerprint);
    // Read again: another node may have put its own at the same moment.
    if ((await marks.read(CHECK)) !== fingerprint) return MISTAKEN;
  }
  await marks.create(MOVED, 'moved');
  return undefined;
}

async function faultOfRenderer(
  objects: Objects,
  key: Buffer | undefined,
): Promise<string | undefined> {
  const known = await readMark(objects);
  if (key === undefined) return known && FORGOTTEN;
  if (known === undefined) return PREMATURE;
  if (known === SPOILT_MARK) return SPOILT;
  return known.equals(fingerprintOf(key)) ? undefined : MISTAKEN;
}

/** @param looking what is wrong, in one line */
async function demandNone(looking: Promise<string | undefined>): Promise<void> {
  const fault = await looking.catch(
    (error: unknown) => `BLOB_STORE_URL cannot be used: ${plainReason(error)}.`,
  );
  if (fault !== undefined) throw new Error(fault);
}

/** Earlier releases had one mark for all, where the renderers' is now. */
async function earlierMark(objects: Objects, marks: KeyMarks): Promise<string | undefined> {
  if ((await marks.read(MOVED)) !== undefined) return undefined;
  return (await readMark(objects))?.toString('hex');
}

/** Reads no more than a mark's length: whoever wrote it may have made it as large as he liked. */
async function readMark(objects: Objects): Promise<Buffer | undefined> {
  const stored = await objects.get(RENDERERS_MARK);
  if (stored === undefined) return undefined;
  if (stored.bytes === MARK_BYTES) return await buffer(stored.content);
  stored.content.destroy();
  return SPOILT_MARK;
}

function fingerprintOf(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'pressledger blob key check', MARK_BYTES));
}
