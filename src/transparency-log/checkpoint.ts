/** The text of a checkpoint (c2sp.org/tlog-checkpoint), which a signed note holds. */
import { HASH_SIZE } from './merkle-tree.ts';
import { fromBase64, fromDecimal, openNote } from './signed-note.ts';

export interface Checkpoint {
  /** The log's unique name. */
  readonly origin: string;
  /** Leaves of the tree. */
  readonly size: number;
  readonly root: Buffer;
}

export interface ParsedCheckpoint extends Checkpoint {
  /** Further lines, which mean nothing to us. */
  readonly extensions: readonly string[];
}

export function checkpointText({ origin, size, root }: Checkpoint): string {
  const text = `${origin}\n${size}\n${root.toString('base64')}\n`;
  parseCheckpoint(text);
  return text;
}

/**
 * Reads the text of a note, without its signatures.
 * @throws {Error} it is not a checkpoint
 */
export function parseCheckpoint(text: string): ParsedCheckpoint {
  const [origin, sizeLine = '', rootLine = '', ...extensions] = text.split('\n');
  if (extensions.pop() !== '') throw new Error('The checkpoint does not end with a line feed.');
  if (!origin || extensions.includes('')) throw new Error('The checkpoint has an empty line.');
  const size = fromDecimal(sizeLine);
  if (size === undefined) throw new Error('The second line of the checkpoint is not a tree size.');
  const root = fromBase64(rootLine);
  if (root?.length !== HASH_SIZE) {
    throw new Error('The third line of the checkpoint is not a root hash.');
  }
  return { origin, size, root, extensions };
}

/**
 * The note with the log's own signatures alone: witnesses and timestamps are about that one.
 * @throws {Error} it is not a signed note
 */
export function signedByLog(note: string): string {
  const { text, signatures } = openNote(note);
  const [origin] = text.split('\n');
  const own = signatures.filter(({ name }) => name === origin);
  return `${text}\n${own.map(({ line }) => `${line}\n`).join('')}`;
}
