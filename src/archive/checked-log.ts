/** The events of a log as they pass, held against every checkpoint that the log has signed. */
import type { EventStore, RecordedEvent } from '../event-store/port.ts';
import { LOG_STREAM, SignedCheckpoints } from '../log/verify-log/checkpoints.ts';
import { Broken } from '../log/verify-log/difference.ts';
import { Frontier, leafHash } from '../transparency-log/merkle-tree.ts';
import { type CopyProgress, rate } from './copy.ts';
import { type Entry, entryOf } from './log-lines.ts';

/** Events read at once. */
const BATCH = 1_000;

/** Events that give the log a name. */
const NAMING: readonly string[] = ['LogOpened', 'LogRenamed', 'LogContinued'];

export type LogReader = Pick<EventStore, 'head' | 'readAll' | 'readStream'>;

/** An event of the log that is read, with its position there. */
export interface LogEntry extends Entry {
  readonly event: RecordedEvent;
}

/** One line: no log that was signed has these events. */
export class NotAsSigned extends Error {
  override readonly name = 'NotAsSigned';
  /** The index of the event, and what is wrong with it. */
  readonly where: string;

  constructor(index: number, cause: Broken) {
    const where = `event of index ${index}: ${cause.message}`;
    super(`The log is not as it was signed (${where}).`, { cause });
    this.where = where;
  }
}

export class CheckedLog {
  /** Over the events that have passed. */
  readonly tree: Frontier;
  readonly #store: LogReader;
  readonly #signed: SignedCheckpoints;
  /** The newest checkpoint under the log's present name that has passed, as a note. */
  newest: string | undefined;
  /** The present name, of those that have passed. */
  origin: string | undefined;

  /** @param tree of the events that are passed over by `passOver`, which it goes on from */
  constructor(store: LogReader, tree = new Frontier()) {
    this.#store = store;
    this.tree = tree;
    this.#signed = new SignedCheckpoints(store, []);
  }

  /** The verifier keys of the events that have passed, at least. */
  get keys(): readonly string[] {
    return this.#signed.keys;
  }

  /**
   * Passes over events that were taken before, by another one.
   * @param logEvents the number of those in the log's own stream
   */
  async passOver(logEvents: number): Promise<void> {
    await this.#signed.passOver(logEvents, this.tree.size);
  }

  /** @throws {NotAsSigned} the events are not those that a checkpoint was signed over */
  async take(entries: readonly Entry[]): Promise<void> {
    await this.#signed.readThrough(this.tree.size + entries.length);
    try {
      for (const entry of entries) this.#take(entry);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      throw new NotAsSigned(this.tree.size, error);
    }
  }

  /**
   * The log's further events, up to its end as it is now.
   * @param after the position of the last event that was taken
   * @throws {EventStoreUnavailable}
   */
  async *rest(
    after: bigint,
    onProgress: (progress: CopyProgress) => void,
  ): AsyncGenerator<readonly LogEntry[]> {
    const head = await this.#store.head();
    const [began, before] = [performance.now(), this.tree.size];
    let start = after;
    for (let at = after; at < head; ) {
      const events = await this.#store.readAll({ after: at, limit: BATCH });
      const taken = events.filter(({ position }) => position <= head);
      const entries = taken.map((event) => ({ ...entryOf(event), event }));
      await this.take(entries);
      if (entries.length > 0) yield entries;
      // What lies before the log's first event at a server is not part of it.
      if (at === 0n) start = (taken[0]?.position ?? 1n) - 1n;
      at = taken.at(-1)?.position ?? head;
      const done = this.tree.size;
      const [read, passed] = [done - before, Number(at - start)];
      onProgress({
        done,
        total: before + Math.round((read * Number(head - start)) / passed),
        isEstimate: read !== passed,
        perSecond: rate(read, began),
      });
    }
  }

  #take({ line, event }: Entry): void {
    const { tree } = this;
    if (event.stream === LOG_STREAM) {
      this.#signed.meet(event as RecordedEvent, tree.size);
      if (event.type === 'CheckpointSigned') {
        this.newest = (event.data as { readonly note: string }).note;
      }
      if (NAMING.includes(event.type)) {
        this.origin = (event.data as { readonly origin: string }).origin;
        this.newest = undefined;
      }
    }
    tree.add(leafHash(line));
    const { due } = this.#signed;
    if (due?.size !== tree.size) return;
    if (!due.root.equals(tree.root())) {
      throw new Broken(
        `the root ${due.root.toString('base64')} of the first ${due.size} events, as signed`,
        tree.root().toString('base64'),
      );
    }
    this.#signed.confirm();
  }
}

/**
 * The position of an event that another store or a file has.
 * @returns nothing where the log does not hold it
 */
export async function positionOf(store: LogReader, entry: Entry): Promise<bigint | undefined> {
  const { stream, revision } = entry.event;
  const [event] = await store.readStream(stream, { from: revision, limit: 1 });
  return event && entryOf(event).line === entry.line ? event.position : undefined;
}
