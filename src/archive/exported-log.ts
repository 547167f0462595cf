/** Reads an exported log, and refuses one that is not what it says. */
import { type FileHandle, open } from 'node:fs/promises';
import { decodeEvent } from '../event-store/codec.ts';
import { errorMessage } from '../error-message.ts';
import { parseCheckpoint } from '../transparency-log/checkpoint.ts';
import { openNote } from '../transparency-log/signed-note.ts';
import { type Block, DamagedBlock, endOfBlock, readBlock } from './blocks.ts';
import type { CopyProgress } from './checked-log.ts';
import {
  Digest,
  type Entry,
  type Header,
  parseEntry,
  parseHeader,
  parseTotals,
  type Totals,
  UnusableExport,
} from './log-lines.ts';

export interface ExportedLog extends Header {
  readonly totals: Totals;
  /** Its events, once more from the first on. */
  readonly entries: () => AsyncGenerator<readonly Entry[]>;
}

/**
 * Reads the whole file and checks it: every block, the hash, the tree, and the checkpoint's root.
 * @param check sees each event, and throws where it cannot be used
 * @throws {UnusableExport} one line, which goes on after the file's name
 */
export async function openExport(
  path: string,
  onProgress: (progress: CopyProgress) => void,
  check = checkKnown,
): Promise<ExportedLog> {
  const totals = await using(path, readTotals);
  const signed = totals.checkpoint === null ? undefined : checkpointOf(totals.checkpoint);
  const digest = new Digest();
  let id = '';
  const began = performance.now();
  for await (const { header, entries } of linesOf(path)) {
    if (header !== undefined) {
      id = parseHeader(header).id;
      digest.header(header);
    }
    for (const { line, event } of entries) {
      digest.event(line);
      check(event);
      const { size } = digest.tree;
      if (size === signed?.size && !digest.tree.root().equals(signed.root)) {
        throw new UnusableExport(
          `is damaged: its first ${size} events are not those that were signed.`,
        );
      }
    }
    const done = digest.tree.size;
    const perSecond = (done * 1000) / (performance.now() - began);
    onProgress({ done, total: totals.events, perSecond });
  }
  const found = digest.totals(totals.checkpoint ?? undefined);
  const isSame = found.sha256 === totals.sha256 && found.root === totals.root;
  if (!isSame || found.events !== totals.events || (signed?.size ?? 0) > found.events) {
    throw new UnusableExport('is damaged: it is not what its last line says.');
  }
  const entries = async function* (): AsyncGenerator<readonly Entry[]> {
    for await (const lines of linesOf(path)) yield lines.entries;
  };
  return { id, totals, entries };
}

/** @throws {UnusableExport} this release could not work with it */
function checkKnown(event: Entry['event']): void {
  try {
    decodeEvent({ ...event, position: 0n });
  } catch (error) {
    throw new UnusableExport(
      `cannot be read by this release: ${errorMessage(error).replace(/\.$/, '')}. Install the release that wrote it, or a newer one.`,
      { cause: error },
    );
  }
}

function checkpointOf(note: string): { readonly size: number; readonly root: Buffer } {
  try {
    return parseCheckpoint(openNote(note).text);
  } catch (error) {
    throw new UnusableExport('is damaged: its checkpoint is none.', { cause: error });
  }
}

/** The last line, by the lengths of the blocks before it. */
async function readTotals(file: FileHandle): Promise<Totals> {
  const first = await wholeBlock(file, 0);
  if (first === undefined) throw new UnusableExport('is empty.');
  parseHeader(first.text.split('\n', 1)[0] ?? '');
  const { size } = await file.stat();
  let last = 0;
  for (let end = first.end; end < size; ) {
    last = end;
    const next = await endOfBlock(file, end);
    if (next === 'cut off') throw cutOff();
    end = next;
  }
  const block = await wholeBlock(file, last);
  const totals = parseTotals(block?.text.split('\n', 1)[0] ?? '');
  if (totals === undefined) throw cutOff();
  return totals;
}

const cutOff = (): UnusableExport =>
  new UnusableExport('is cut off: its end is missing. Copy it again, or let the export end.');

async function wholeBlock(file: FileHandle, at: number): Promise<Block | undefined> {
  const block = await readBlock(file, at);
  if (block === 'cut off') throw cutOff();
  return block;
}

interface Lines {
  readonly header?: string;
  readonly entries: readonly Entry[];
}

async function* linesOf(path: string): AsyncGenerator<Lines> {
  const file = await open(path, 'r');
  try {
    for (let at = 0; ; ) {
      const block = await wholeBlock(file, at);
      if (block === undefined) return;
      const lines = block.text.split('\n').slice(0, -1);
      if (at === 0) yield { header: lines[0] ?? '', entries: [] };
      else if (parseTotals(lines[0] ?? '') === undefined) yield { entries: lines.map(parseEntry) };
      at = block.end;
    }
  } catch (error) {
    throw unusable(error);
  } finally {
    await file.close();
  }
}

async function using<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    return await work(file);
  } catch (error) {
    throw unusable(error);
  } finally {
    await file.close();
  }
}

const unusable = (error: unknown): unknown =>
  error instanceof DamagedBlock
    ? new UnusableExport(`is damaged: ${error.message}.`, { cause: error })
    : error;
