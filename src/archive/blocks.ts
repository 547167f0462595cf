/**
 * Lines as a row of gzip members (RFC 1952), each with its own length in a field of its header. Every gzip reads it as
 * one file, and a reader that knows the field goes from member to member, so that a file that was cut off can be
 * resumed after its last whole member.
 */
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { crc32, createGunzip, deflateRaw, gunzip } from 'node:zlib';
import { UnusableArchive } from './log-lines.ts';
import { type LinesFile, sha256Of } from './manifest.ts';
import type { BackupPlace } from './places/port.ts';

/** Magic, deflate, "has a field"; no time, no system; a field of 8 bytes, called PL, of 4 bytes: the member's length. */
const HEADER = Buffer.from([
  0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 8, 0, 0x50, 0x4c, 4, 0, 0, 0, 0, 0,
]);
const LENGTH_AT = 16;
const TRAILER_BYTES = 8;
/** Above what is ever written. A forged length must not take all memory. */
const MOST_BYTES = 64 * 1024 * 1024;

const deflated = promisify(deflateRaw);
const inflated = promisify(gunzip);

export interface Block {
  readonly lines: readonly string[];
  /** The place of the next one in the file. */
  readonly end: number;
}

/** The file holds something else than blocks, or one that was changed. */
export class DamagedBlock extends Error {
  override readonly name = 'DamagedBlock';
}

export async function encodeBlock(lines: readonly string[]): Promise<Buffer> {
  const content = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const header = Buffer.from(HEADER);
  const body = await deflated(content);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(crc32(content), 0);
  trailer.writeUInt32LE(content.length, 4);
  header.writeUInt32LE(header.length + body.length + trailer.length, LENGTH_AT);
  return Buffer.concat([header, body, trailer]);
}

/**
 * The place after the block at `at`, without looking into it.
 * @returns `cut off`: the file ends before the block does
 * @throws {DamagedBlock}
 */
export async function endOfBlock(file: FileHandle, at: number): Promise<number | 'cut off'> {
  const header = Buffer.alloc(HEADER.length);
  const { bytesRead } = await file.read(header, 0, header.length, at);
  const known = Math.min(bytesRead, LENGTH_AT);
  if (header.compare(HEADER, 0, known, 0, known) !== 0) {
    throw new DamagedBlock(
      at === 0 ? 'it does not begin as an export does' : `there is no block at byte ${at}`,
    );
  }
  const length = bytesRead < header.length ? 0 : header.readUInt32LE(LENGTH_AT);
  if (bytesRead < header.length) return 'cut off';
  if (length < HEADER.length + TRAILER_BYTES || length > MOST_BYTES) {
    throw new DamagedBlock(`the block at byte ${at} has no possible length`);
  }
  const { size } = await file.stat();
  return at + length > size ? 'cut off' : at + length;
}

/**
 * The block at `at`; nothing at the end of the file.
 * @returns `cut off`: the file ends before the block does
 * @throws {DamagedBlock}
 */
export async function readBlock(
  file: FileHandle,
  at: number,
): Promise<Block | 'cut off' | undefined> {
  const { size } = await file.stat();
  if (at === size) return undefined;
  const end = await endOfBlock(file, at);
  if (end === 'cut off') return end;
  const member = Buffer.alloc(end - at);
  const { bytesRead } = await file.read(member, 0, member.length, at);
  if (bytesRead < member.length) return 'cut off';
  try {
    const content = await inflated(member, { maxOutputLength: MOST_BYTES });
    return { lines: content.toString().split('\n').slice(0, -1), end };
  } catch (error) {
    throw new DamagedBlock(`the block at byte ${at} was changed`, { cause: error });
  }
}

/** Lines of a member in a file of a backup. */
const LINES_IN_BLOCK = 1_000;
/** Above what lines of ours come to, which have hashes and ids. A forged file must not take all memory. */
const MOST_INFLATION = 100;
const MOST_UNPACKED_BYTES = 64 * 1024 * 1024;

export async function writeLines(
  place: BackupPlace,
  file: string,
  lines: readonly string[],
): Promise<LinesFile> {
  const blocks: Buffer[] = [];
  for (let at = 0; at < lines.length || at === 0; at += LINES_IN_BLOCK) {
    blocks.push(await encodeBlock(lines.slice(at, at + LINES_IN_BLOCK)));
  }
  const content = Buffer.concat(blocks);
  await place.write(file, content);
  return { file, sha256: sha256Of(content) };
}

/** @throws {UnusableArchive} it is missing, or not what was written */
export async function readLines(
  place: Pick<BackupPlace, 'read'>,
  { file, sha256 }: LinesFile,
): Promise<readonly string[]> {
  const content = await place.read(file);
  if (content === undefined) throw new UnusableArchive(`is damaged: ${file} is missing.`);
  if (sha256Of(content) !== sha256) {
    throw new UnusableArchive(`is damaged: ${file} is not what was written.`);
  }
  try {
    return await linesIn(content);
  } catch (error) {
    throw new UnusableArchive(`is damaged: ${file} cannot be unpacked.`, { cause: error });
  }
}

/** Unpacks piece by piece: a list of documents may be longer than the longest string. */
async function linesIn(content: Buffer): Promise<readonly string[]> {
  const most = MOST_UNPACKED_BYTES + MOST_INFLATION * content.length;
  const unpacked = createGunzip();
  unpacked.setEncoding('utf8');
  unpacked.end(content);
  const lines: string[] = [];
  let length = 0;
  let rest = '';
  for await (const piece of unpacked as AsyncIterable<string>) {
    length += piece.length;
    if (length > most) throw new Error(`It has more than ${most} bytes.`);
    const [first = '', ...others] = piece.split('\n');
    rest += first;
    for (const other of others) {
      lines.push(rest);
      rest = other;
    }
  }
  return lines;
}
