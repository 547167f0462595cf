/** A real embedded event store in a directory of its own, and domain events written to it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { DomainEvent } from '../../src/domain/events.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { eventId } from '../../src/time/ids.ts';
import { appendNext, commandOf } from './events.ts';
import type { Step } from './history.ts';
import { NOW } from './samples.ts';

export interface TestLog {
  readonly directory: string;
  readonly store: EventStore;
  /** Appends to one stream, each event a second after the one before; returns the last position. */
  append(stream: string, ...events: readonly DomainEvent[]): Promise<bigint>;
  /** A second process's view of the same log. */
  openAgain(): EventStore;
}

/** @param past tells the events of one log from those of another */
export function openLog(t: Test, past = 'cmd'): TestLog {
  const directory = mkdtempSync(join(tmpdir(), 'pressledger-log-'));
  const open = (): EventStore => {
    const database = openEmbeddedDatabase(join(directory, 'store.db'));
    const store = new SqliteEventStore(database);
    t.teardown(async () => {
      await store.close();
      database.close();
    });
    return store;
  };
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const store = open();
  let count = 0;
  return {
    directory,
    store,
    openAgain: open,
    async append(stream, ...events) {
      const encoded = events.map((event) => {
        count += 1;
        const id = `${past}_${count}`;
        const metadata = { correlationId: id, causationId: id, time: NOW + count * 1000 };
        return encodeEvent(eventId(`${commandOf(event, id)}/${stream}/0`), event, {
          ...metadata,
          actor: { kind: 'operator' },
        });
      });
      const { position } = await appendNext(store, stream, encoded);
      return position;
    },
  };
}

/** Writes a made-up past, step by step; returns the last position. */
export async function write(log: TestLog, steps: Iterable<Step>): Promise<bigint> {
  let position = 0n;
  let failedAt = 0n;
  for (const { stream, events, failure } of steps) {
    position = await log.append(stream, ...events(failedAt));
    if (failure === true) failedAt = position;
  }
  return position;
}
