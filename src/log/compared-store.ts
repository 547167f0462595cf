/**
 * Compares what is read of the log with the tree that the read models keep: an event that was changed, removed or put in
 * past the service decides nothing and is told to nobody.
 */
import type { Leaf, LogTreeQueries } from '../../projections/log-tree.ts';
import { lookAgain } from '../event-store/look-again.ts';
import type { EventStore, RecordedEvent } from '../event-store/port.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import { leafHash } from '../transparency-log/merkle-tree.ts';
import type { LogGuard } from './log-guard.ts';

/** As the port says. */
const DEFAULT_LIMIT = 1_000;

/** The event that differed last, kept outside the log: the next start looks at it again before it is ready. */
export interface Suspect {
  read(): EventPlace | undefined;
  keep(place: EventPlace): void;
  forget(): void;
}

type EventPlace = Pick<RecordedEvent, 'stream' | 'revision'>;

export interface ComparedStore extends EventStore {
  /**
   * Compares from now on, what was read before the read models were open, and the event that differed last.
   * @param tree of the generation in use @throws {LogDiffers} @throws {EventStoreUnavailable}
   */
  compareWith(tree: () => LogTreeQueries): Promise<void>;
}

/** Its reads throw {@link LogDiffers} where the log is not the one that the read models were made of. */
export function comparedStore(
  store: EventStore,
  guard: Pick<LogGuard, 'refuse'>,
  suspect: Suspect,
): ComparedStore {
  let tree: (() => LogTreeQueries) | undefined;
  let early: RecordedEvent[] = [];

  const refuse = (found: string, place?: EventPlace): never => {
    try {
      if (place !== undefined) suspect.keep(place);
    } catch {
      // On a full disk: the difference is refused and told without it.
    }
    return guard.refuse(found);
  };
  /** @param leaf undefined: the tree has none there */
  const compare = (event: RecordedEvent, leaf: Leaf | undefined): void => {
    const { position, revision, stream } = event;
    const isSame = leaf?.position === position && leaf.hash.equals(leafHash(canonicalEvent(event)));
    if (isSame) return;
    refuse(
      `The log's event at position ${position} (revision ${revision} of ${stream}) is not the one that the read models were made of.`,
      { stream, revision },
    );
  };
  /** Leaves out events that the read models do not have yet. */
  const compareAll = (events: readonly RecordedEvent[], { head, leafAt }: LogTreeQueries): void => {
    if (events.length === 0) return;
    const end = head();
    for (const event of events) if (event.position <= end) compare(event, leafAt(event.position));
  };
  const readEarly = async (read: () => Promise<readonly RecordedEvent[]>) => {
    const events = await read();
    early.push(...events);
    return events;
  };
  /**
   * A member of a cluster may lack events for a moment.
   * @param missing the first event that must be among those, or its position
   */
  const unlessMissing = async (
    read: () => Promise<readonly RecordedEvent[]>,
    missing: (events: readonly RecordedEvent[]) => EventPlace | bigint | undefined,
  ): Promise<readonly RecordedEvent[]> => {
    let found: readonly RecordedEvent[] = [];
    const events = await lookAgain(async () => {
      found = await read();
      return missing(found) === undefined ? found : undefined;
    });
    if (events !== undefined) return events;
    const lacks = missing(found);
    const [what, place] =
      typeof lacks === 'object'
        ? ([`revision ${lacks.revision} of ${lacks.stream}`, lacks] as const)
        : ([`position ${lacks}`] as const);
    return refuse(
      `The log lacks ${what}, which the read models were made of: it was removed, or an older copy of the log was put back.`,
      place,
    );
  };

  const readStream: EventStore['readStream'] = async (
    stream,
    { from = 0, limit = DEFAULT_LIMIT } = {},
  ) => {
    const read = () => store.readStream(stream, { from, limit });
    if (tree === undefined) return await readEarly(read);
    // As of before the read: what is appended meanwhile may be in the one or the other.
    const { head, lastRevision } = tree();
    const [end, last] = [head(), lastRevision(stream)];
    const expected = Math.min(limit, last - from + 1);
    const events = await unlessMissing(read, (found) => {
      for (let at = 0; at < expected; at += 1) {
        const revision = from + at;
        if (found[at]?.revision !== revision) return { stream, revision };
      }
      return undefined;
    });
    compareAll(events, tree());
    // What the tree does not have comes after it.
    for (const event of events) {
      if (event.revision > last && event.position <= end) compare(event, undefined);
    }
    return events;
  };

  return {
    async compareWith(given) {
      tree = given;
      compareAll(early, tree());
      early = [];
      const place = suspect.read();
      if (place === undefined) return;
      await readStream(place.stream, { from: place.revision, limit: 1 });
      suspect.forget();
    },
    readStream,
    async readAll({ after = 0n, limit = DEFAULT_LIMIT } = {}) {
      const read = () => store.readAll({ after, limit });
      if (tree === undefined) return await readEarly(read);
      const known = tree();
      if (after >= known.head()) return await read();
      const expected = known.leavesAfter(after, limit);
      const events = await unlessMissing(read, ({ length }) => expected[length]?.position);
      for (const [at, leaf] of expected.entries()) {
        const event = events[at];
        if (event !== undefined) compare(event, leaf);
      }
      return events;
    },
    append: (...args) => store.append(...args),
    subscribe: (...args) => store.subscribe(...args),
    head: () => store.head(),
    close: () => store.close(),
  };
}
