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

export interface ComparedStore extends EventStore {
  /**
   * Compares from now on, and what was read before the read models were open.
   * @param tree of the generation in use @throws {LogDiffers}
   */
  compareWith(tree: () => LogTreeQueries): void;
}

/** Its reads throw {@link LogDiffers} where the log is not the one that the read models were made of. */
export function comparedStore(store: EventStore, guard: Pick<LogGuard, 'refuse'>): ComparedStore {
  let tree: (() => LogTreeQueries) | undefined;
  let early: RecordedEvent[] = [];

  /** @param leaf undefined: the tree has none there */
  const compare = (event: RecordedEvent, leaf: Leaf | undefined): void => {
    const { position, revision, stream } = event;
    const isSame = leaf?.position === position && leaf.hash.equals(leafHash(canonicalEvent(event)));
    if (isSame) return;
    guard.refuse(
      `The log's event at position ${position} (revision ${revision} of ${stream}) is not the one that the read models were made of.`,
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
  /** A member of a cluster may lack events for a moment. */
  const unlessMissing = async (
    read: () => Promise<readonly RecordedEvent[]>,
    missing: (events: readonly RecordedEvent[]) => string | undefined,
  ): Promise<readonly RecordedEvent[]> => {
    let lacks: string | undefined;
    const events = await lookAgain(async () => {
      const found = await read();
      lacks = missing(found);
      return lacks === undefined ? found : undefined;
    });
    if (events !== undefined) return events;
    return guard.refuse(
      `The log lacks ${lacks}, which the read models were made of: it was removed, or an older copy of the log was put back.`,
    );
  };

  return {
    compareWith(given) {
      tree = given;
      compareAll(early, tree());
      early = [];
    },
    async readStream(stream, { from = 0, limit = DEFAULT_LIMIT } = {}) {
      const read = () => store.readStream(stream, { from, limit });
      if (tree === undefined) return await readEarly(read);
      // As of before the read: what is appended meanwhile may be in the one or the other.
      const { head, lastRevision } = tree();
      const [end, last] = [head(), lastRevision(stream)];
      const expected = Math.min(limit, last - from + 1);
      const events = await unlessMissing(read, (found) => {
        for (let at = 0; at < expected; at += 1) {
          if (found[at]?.revision !== from + at) return `revision ${from + at} of ${stream}`;
        }
        return undefined;
      });
      compareAll(events, tree());
      // What the tree does not have comes after it.
      for (const event of events) {
        if (event.revision > last && event.position <= end) compare(event, undefined);
      }
      return events;
    },
    async readAll({ after = 0n, limit = DEFAULT_LIMIT } = {}) {
      const read = () => store.readAll({ after, limit });
      if (tree === undefined) return await readEarly(read);
      const known = tree();
      if (after >= known.head()) return await read();
      const expected = known.leavesAfter(after, limit);
      const events = await unlessMissing(read, ({ length }) => {
        const lacking = expected[length];
        return lacking && `its event at position ${lacking.position}`;
      });
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
