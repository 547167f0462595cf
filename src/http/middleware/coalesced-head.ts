import { setImmediate } from 'node:timers/promises';
import type { EventStore } from '../../event-store/port.ts';

/**
 * Shares one look at the log's head among everyone who asks meanwhile. Each look begins after all whom it
 * serves have asked, so each gets a head no older than its question. Who asks while one is under way is
 * served by the next. So requests share the cost of a look (system calls, or a round trip) under load.
 */
export function coalescedHead(store: Pick<EventStore, 'head'>): EventStore['head'] {
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
