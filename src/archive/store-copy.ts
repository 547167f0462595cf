/** Brings the events of a log into a store that is empty, or that holds the beginning of the same copy. */
import type { Barrier, CopyableEventStore, RecordedEvent } from '../event-store/port.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import { Frontier, leafHash } from '../transparency-log/merkle-tree.ts';
import { type Entry, endOf, type LogEnd } from './log-lines.ts';

const BATCH = 1_000;

/**
 * Looks whether the store is empty, or holds the beginning of this copy.
 * @throws {Error} one line: it holds something else
 */
export async function refuseOtherLog(
  store: Pick<CopyableEventStore, 'barrier' | 'head'>,
  subject: string,
): Promise<void> {
  const barrier = await store.barrier();
  if (barrier?.kind === 'incomplete' && barrier.subject === subject) return;
  if (barrier !== undefined)
    throw new Error(`The event store ${heldBy(barrier)}: name an empty one.`);
  await refuseUsedStore(store);
}

/**
 * Looks before there is a copy to name. An incomplete one may be of the same log: `begin` compares the two.
 * @throws {Error} one line: the store holds a log
 */
export async function refuseUsedStore(
  store: Pick<CopyableEventStore, 'barrier' | 'head'>,
): Promise<void> {
  if ((await store.barrier())?.kind === 'incomplete' || (await store.head()) === 0n) return;
  throw new Error(
    'The event store is not empty, and only an empty one takes a whole log: name another one.',
  );
}

const heldBy = ({ kind, subject }: Barrier): string =>
  kind === 'incomplete'
    ? `holds another copy that is not complete, of ${subject}`
    : `holds a log that ${kind === 'moved' ? 'was' : 'is being'} moved to ${subject}`;

export const incomplete = (subject: string): Barrier => ({ kind: 'incomplete', subject });

export class StoreCopy {
  readonly #store: CopyableEventStore;
  /** The position of the last event of the store that was compared; nothing once its end was reached. */
  #after: bigint | undefined = 0n;
  /** Events that were there already. */
  found = 0;

  private constructor(store: CopyableEventStore) {
    this.#store = store;
  }

  /**
   * Lets nobody but this copy into the store until its caller removes the barrier.
   * @param subject names the log for people, and tells this copy from others
   * @throws {Error} one line: the store holds something else
   */
  static async begin(store: CopyableEventStore, subject: string): Promise<StoreCopy> {
    await refuseOtherLog(store, subject);
    if ((await store.barrier()) === undefined) await store.setBarrier(incomplete(subject));
    return new StoreCopy(store);
  }

  /** Compares the next events of the log with what is there, and appends what is not. */
  async take(entries: readonly Entry[]): Promise<void> {
    const there = await this.#compare(entries);
    if (there === entries.length) return;
    await this.#store.appendCopies(entries.slice(there).map(({ event }) => event));
  }

  async #compare(entries: readonly Entry[]): Promise<number> {
    if (this.#after === undefined || entries.length === 0) return 0;
    const there = await this.#store.readAll({ after: this.#after, limit: entries.length });
    for (const [index, event] of there.entries()) {
      if (canonicalEvent(event) !== entries[index]?.line) {
        throw new Error(
          `The event store holds another event of index ${this.found + index}: begin again with an empty one.`,
        );
      }
    }
    this.found += there.length;
    this.#after = there.length < entries.length ? undefined : there.at(-1)?.position;
    return there.length;
  }

  /**
   * Reads the whole store and compares it with what it must come to.
   * @throws {Error} one line: it is another log
   */
  async verify(totals: LogEnd): Promise<void> {
    const { events, root } = await treeOf(this.#store);
    if (events === totals.events && root === totals.root) return;
    throw new Error(
      `The event store holds ${events} events with the root ${root}, and the log has ${totals.events} with the root ${totals.root}: ` +
        'begin again with an empty store.',
    );
  }
}

export async function treeOf(store: Pick<CopyableEventStore, 'readAll'>): Promise<LogEnd> {
  const tree = new Frontier();
  for await (const event of eventsOf(store)) tree.add(leafHash(canonicalEvent(event)));
  return endOf(tree);
}

export async function* eventsOf(
  store: Pick<CopyableEventStore, 'readAll'>,
): AsyncGenerator<RecordedEvent> {
  for (let after = 0n; ; ) {
    const events = await store.readAll({ after, limit: BATCH });
    const last = events.at(-1);
    if (last === undefined) return;
    yield* events;
    after = last.position;
  }
}
