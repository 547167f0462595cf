/**
 * An exported log: lines of JSON. First a header, then each event in its canonical form, which its leaf in the log's
 * tree is the hash of, then what all of it must come to. See docs/decisions/0038-exported-logs.md.
 */
import { createHash } from 'node:crypto';
import type { CopiedEvent } from '../event-store/port.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import { Frontier, leafHash } from '../transparency-log/merkle-tree.ts';

/** Counted up when an older release could not read the file. */
const FORMAT = 1;

export interface Header {
  /** Made at random for each export. */
  readonly id: string;
}

export interface Totals {
  readonly events: number;
  /** The root hash of the tree over the events, in base64. */
  readonly root: string;
  /** The hash of all lines before this one, with their line feeds, in hex. */
  readonly sha256: string;
  /** The newest checkpoint among the events, as it was signed; null where there is none. */
  readonly checkpoint: string | null;
}

/** An event with the line that it is. */
export interface Entry {
  readonly line: string;
  readonly event: CopiedEvent;
}

/** The file cannot be used; the message goes on after its name. */
export class UnusableExport extends Error {
  override readonly name = 'UnusableExport';
}

export const entryOf = (event: CopiedEvent): Entry => ({ line: canonicalEvent(event), event });

export const headerLine = ({ id }: Header): string =>
  JSON.stringify({ pressledger: 'event log', format: FORMAT, id });

/** @throws {UnusableExport} */
export function parseHeader(line: string): Header {
  const { pressledger, format, id } = parsed(line);
  if (pressledger !== 'event log' || typeof id !== 'string') {
    throw new UnusableExport('is not an exported log of Pressledger.');
  }
  if (format === FORMAT) return { id };
  throw new UnusableExport(
    `is an exported log of format ${String(format)}, and this release reads format ${FORMAT}: use the release that wrote it.`,
  );
}

export const totalsLine = (totals: Totals): string =>
  JSON.stringify({ pressledger: 'end of event log', ...totals });

/** Undefined for another line than the last. */
export function parseTotals(line: string): Totals | undefined {
  if (!line.startsWith('{"pressledger":')) return undefined;
  const { pressledger, events, root, sha256, checkpoint } = parsed(line);
  const isEnd = pressledger === 'end of event log';
  if (!isEnd || typeof events !== 'number' || typeof root !== 'string') return undefined;
  return { events, root, sha256: String(sha256), checkpoint: checkpoint as string | null };
}

/** @throws {UnusableExport} it is not an event in its canonical form */
export function parseEntry(line: string): Entry {
  const event = parsed(line) as unknown as CopiedEvent;
  if (typeof event.stream !== 'string' || canonicalEvent(event) !== line) {
    throw new UnusableExport('is damaged: it holds a line that is not an event.');
  }
  return { line, event };
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UnusableExport('is damaged: it holds a line that is not JSON.', { cause: error });
  }
}

/** The tree and the hash over lines that come one by one. */
export class Digest {
  readonly tree: Frontier;
  readonly #hash = createHash('sha256');

  constructor(tree = new Frontier()) {
    this.tree = tree;
  }

  header(line: string): void {
    this.#hash.update(`${line}\n`);
  }

  event(line: string): void {
    this.#hash.update(`${line}\n`);
    this.tree.add(leafHash(line));
  }

  totals(checkpoint: string | undefined): Totals {
    return {
      events: this.tree.size,
      root: this.tree.root().toString('base64'),
      sha256: this.#hash.copy().digest('hex'),
      checkpoint: checkpoint ?? null,
    };
  }
}
