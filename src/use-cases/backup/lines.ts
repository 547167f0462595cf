/** Lines of text in a file of a backup: gzip members, which other tools read as one file. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { BackupPlace } from '../../backup-place/port.ts';
import { encodeBlock } from '../log-copy/blocks.ts';
import { type LinesFile, sha256Of, UnusableBackup } from './manifest.ts';

const LINES_IN_BLOCK = 1_000;
/** Above what is ever written. A forged file must not take all memory. */
const MOST_BYTES = 1024 * 1024 * 1024;

const inflated = promisify(gunzip);

export async function writeLines(
  place: BackupPlace,
  file: string,
  lines: readonly string[],
): Promise<LinesFile> {
  const blocks: Buffer[] = [];
  for (let at = 0; at < lines.length || at === 0; at += LINES_IN_BLOCK) {
    const some = lines.slice(at, at + LINES_IN_BLOCK);
    blocks.push(await encodeBlock(some.map((line) => `${line}\n`).join('')));
  }
  const content = Buffer.concat(blocks);
  await place.write(file, content);
  return { file, sha256: sha256Of(content) };
}

/** @throws {UnusableBackup} it is missing, or not what was written */
export async function readLines(
  place: BackupPlace,
  { file, sha256 }: LinesFile,
): Promise<readonly string[]> {
  const content = await place.read(file);
  if (content === undefined) throw new UnusableBackup(`is damaged: ${file} is missing.`);
  if (sha256Of(content) !== sha256) {
    throw new UnusableBackup(`is damaged: ${file} is not what was written.`);
  }
  const text = (await inflated(content, { maxOutputLength: MOST_BYTES })).toString();
  return text.split('\n').slice(0, -1);
}
