import { setImmediate } from 'node:timers/promises';
import type { EventStore } from '../event-store/port.ts';

/**
 * One look at the log's head for everyone who asks meanwhile. Each look begins after all whom it serves
 * have asked, so each gets a head no older than its question; who asks while one is under way is served
 * by the next. What a look costs (system calls, or a round trip) is thereby shared under load.
 */
export function sharedHead(store: Pick<EventStore, 'head'>): EventStore['head'] {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<bigint> | undefined;

  async function look(): Promise<bigint> {
    // Not earlier than the end of this turn of the event loop: what came in it shares the look.
    await Promise.all([underWay, setImmediate()]);
    next = undefined;
    const head = store.head();
    underWay = head.catch(() => {});
    return await head;
  }

  return () => {
    next ??= look();
    return next;
  };
}
