/** Reads an exported log, refuses one that is not what it says, and brings it into an empty event store. */
import { type FileHandle, open } from 'node:fs/promises';
import type { CopyableEventStore } from '../event-store/port.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import { parseCheckpoint } from '../transparency-log/checkpoint.ts';
import { Frontier, leafHash } from '../transparency-log/merkle-tree.ts';
import { openNote } from '../transparency-log/signed-note.ts';
import { type Block, DamagedBlock, endOfBlock, readBlock } from './blocks.ts';
import { type CopyProgress, copy, telling } from './copy.ts';
import {
  type Entry,
  endOf,
  type Header,
  knownEvent,
  LinesHash,
  parseEntry,
  parseHeader,
  parseTotals,
  type Totals,
  UnusableArchive,
} from './log-lines.ts';
import { StoreCopy, treeOf } from './store-copy.ts';

export interface ExportedLog extends Header {
  readonly totals: Totals;
  /** Its events, once more from the first on. */
  readonly entries: () => AsyncGenerator<readonly Entry[]>;
}

/**
 * Reads the whole file and checks it: every block, the hash, the tree, and the checkpoint's root.
 * @param check sees each event, and throws where it cannot be used
 * @throws {UnusableArchive} one line, which goes on after the file's name
 */
export async function openExport(
  path: string,
  onProgress: (progress: CopyProgress) => void,
  check: (event: Entry['event']) => unknown = knownEvent,
): Promise<ExportedLog> {
  const { header, totals, from, to } = await using(path, readEnds);
  const entries = () => entriesBetween(path, from, to);
  const signed = totals.checkpoint === null ? undefined : checkpointOf(totals.checkpoint);
  const hash = new LinesHash();
  hash.line(header);
  const tree = new Frontier();
  const checkAll = (batch: readonly Entry[]): void => {
    for (const { line, event } of batch) {
      tree.add(leafHash(line));
      check(event);
      if (tree.size !== signed?.size || tree.root().equals(signed.root)) continue;
      throw new UnusableArchive(
        `is damaged: its first ${tree.size} events are not those that were signed.`,
      );
    }
  };
  await copy(telling(entries(), totals.events, onProgress), hash, { take: checkAll });
  const { events, root } = endOf(tree);
  const isSame = hash.hex() === totals.sha256 && root === totals.root && events === totals.events;
  if (!isSame || (signed?.size ?? 0) > events) {
    throw new UnusableArchive('is damaged: it is not what its last line says.');
  }
  return { ...parseHeader(header), totals, entries };
}

/**
 * A call that was killed is resumed by the next one for the same file. Until one has ended, no service starts on the
 * store.
 * @param log was checked, so that nothing is stored of a file that cannot be used
 * @throws {Error} one line: the store is not empty, or holds something else
 */
export async function importLog(
  log: ExportedLog,
  store: CopyableEventStore,
  onProgress: (progress: CopyProgress) => void,
): Promise<{ readonly found: number }> {
  const { id, totals, entries } = log;
  if (await holdsWhole(log, store)) return { found: totals.events };
  const target = await StoreCopy.begin(store, `an exported log (${id})`);
  await copy(telling(entries(), totals.events, onProgress), target);
  await target.verify(totals);
  await store.setBarrier(undefined);
  return { found: target.found };
}

/** A call may have been killed between its last step and its answer. */
async function holdsWhole(
  { totals, entries }: ExportedLog,
  store: CopyableEventStore,
): Promise<boolean> {
  if ((await store.barrier()) !== undefined) return false;
  const [there] = await store.readAll({ limit: 1 });
  if (there === undefined) return false;
  for await (const [entry] of entries()) {
    if (entry?.line !== canonicalEvent(there)) return false;
    break;
  }
  const { events, root } = await treeOf(store);
  return events === totals.events && root === totals.root;
}

function checkpointOf(note: string): { readonly size: number; readonly root: Buffer } {
  try {
    return parseCheckpoint(openNote(note).text);
  } catch (error) {
    throw new UnusableArchive('is damaged: its checkpoint is none.', { cause: error });
  }
}

/** The first line and the last one, by the lengths of the blocks between them, and the places of these. */
async function readEnds(file: FileHandle) {
  const first = await wholeBlock(file, 0);
  if (first === undefined) throw new UnusableArchive('is empty.');
  const [header = ''] = first.lines;
  parseHeader(header);
  const { size } = await file.stat();
  let to = first.end;
  for (let end = to; end < size; ) {
    to = end;
    const next = await endOfBlock(file, end);
    if (next === 'cut off') throw cutOff();
    end = next;
  }
  const last = await wholeBlock(file, to);
  const totals = parseTotals(last?.lines[0] ?? '');
  if (totals === undefined) throw cutOff();
  return { header, totals, from: first.end, to };
}

const cutOff = (): UnusableArchive =>
  new UnusableArchive('is cut off: its end is missing. Copy it again, or let the export end.');

async function wholeBlock(file: FileHandle, at: number): Promise<Block | undefined> {
  const block = await readBlock(file, at);
  if (block === 'cut off') throw cutOff();
  return block;
}

async function* entriesBetween(
  path: string,
  from: number,
  to: number,
): AsyncGenerator<readonly Entry[]> {
  for (let at = from; at < to; ) {
    const block = await using(path, (file) => wholeBlock(file, at));
    if (block === undefined) throw cutOff();
    yield block.lines.map(parseEntry);
    at = block.end;
  }
}

async function using<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    return await work(file);
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
    throw new UnusableArchive(`is damaged: ${error.message}.`, { cause: error });
  } finally {
    await file.close();
  }
}
