/** Lines of text in a file of a backup: gzip members, which other tools read as one file. */
import { createGunzip } from 'node:zlib';
import { encodeBlock } from './blocks.ts';
import { UnusableArchive } from './log-lines.ts';
import { type LinesFile, sha256Of } from './manifest.ts';
import type { BackupPlace } from './places/port.ts';

const LINES_IN_BLOCK = 1_000;
/** Above what lines of ours come to, which have hashes and ids. A forged file must not take all memory. */
const MOST_INFLATION = 100;
const MOST_BYTES = 64 * 1024 * 1024;

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
  const most = MOST_BYTES + MOST_INFLATION * content.length;
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
