/**
 * An exported log: lines of JSON. First a header, then each event in its canonical form, which its leaf in the log's
 * tree is the hash of, then what all of it must come to. See docs/decisions/0038-exported-logs.md.
 */
import { createHash } from 'node:crypto';
import type { DomainEvent } from '../domain/events.ts';
import { errorMessage } from '../errors/error-message.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { CopiedEvent } from '../event-store/port.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import type { Frontier } from '../transparency-log/merkle-tree.ts';

/** Counted up when an older release could not read the file. */
const FORMAT = 1;

export interface Header {
  /** Made at random for each export. */
  readonly id: string;
}

/** What the events of a log come to. */
export interface LogEnd {
  readonly events: number;
  /** The root hash of the tree over the events, in base64. */
  readonly root: string;
}

export interface Totals extends LogEnd {
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

/** The file or place cannot be used; the message goes on after its name. */
export class UnusableArchive extends Error {
  override readonly name = 'UnusableArchive';
}

export const entryOf = (event: CopiedEvent): Entry => ({ line: canonicalEvent(event), event });

export const headerLine = ({ id }: Header): string =>
  JSON.stringify({ pressledger: 'event log', format: FORMAT, id });

/** @throws {UnusableArchive} */
export function parseHeader(line: string): Header {
  const { pressledger, format, id } = parsed(line);
  if (pressledger !== 'event log' || typeof id !== 'string') {
    throw new UnusableArchive('is not an exported log of Pressledger.');
  }
  if (format === FORMAT) return { id };
  throw new UnusableArchive(
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

/** @throws {UnusableArchive} it is not an event in its canonical form */
export function parseEntry(line: string): Entry {
  const event = parsed(line) as unknown as CopiedEvent;
  if (typeof event.stream !== 'string' || canonicalEvent(event) !== line) {
    throw new UnusableArchive('is damaged: it holds a line that is not an event.');
  }
  return { line, event };
}

/** @throws {UnusableArchive} this release could not work with it */
export function knownEvent(event: CopiedEvent): DomainEvent {
  try {
    return decodeEvent({ ...event, position: 0n });
  } catch (error) {
    throw new UnusableArchive(
      `cannot be read by this release: ${errorMessage(error).replace(/\.$/, '')}. Install the release that wrote it, or a newer one.`,
      { cause: error },
    );
  }
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UnusableArchive('is damaged: it holds a line that is not JSON.', { cause: error });
  }
}

export const endOf = (tree: Frontier): LogEnd => ({
  events: tree.size,
  root: tree.root().toString('base64'),
});

/** The hash of lines with their line feeds. */
export class LinesHash {
  readonly #hash = createHash('sha256');

  line(line: string): void {
    this.#hash.update(`${line}\n`);
  }

  take(entries: readonly Entry[]): void {
    for (const { line } of entries) this.line(line);
  }

  hex(): string {
    return this.#hash.copy().digest('hex');
  }
}
