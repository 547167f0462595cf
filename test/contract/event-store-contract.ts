/** What every event store must do. Each adapter has a test file that runs it. */
import { type Test, test } from 'tap';
import { StagedBlob } from '../../src/documents/port.ts';
import {
  type CopiedEvent,
  type CopyableEventStore,
  type EventStore,
  type ExpectedRevision,
  type RecordedEvent,
  VersionConflict,
} from '../../src/event-store/port.ts';
import { appendNext, follow, newEvent, newEvents } from '../support/events.ts';
import { blobRef } from '../support/samples.ts';

export interface OpenedEventStore {
  readonly store: CopyableEventStore;
  /** Another store on the same log, as another process would open it. */
  readonly another: () => Promise<OpenedEventStore>;
  readonly close: () => Promise<void>;
}

export interface EventStoreAdapter {
  readonly name: string;
  /** An empty log. */
  readonly open: (t: Test) => Promise<OpenedEventStore>;
  /** Of each test: why it is skipped. */
  readonly options?: { readonly skip?: string };
}

const idsOf = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);

/** Events as another store has recorded them, of three streams that alternate, some two at a time. */
/** Events as a move reads them from another store, with their positions there. */
const copies = (count: number): RecordedEvent[] =>
  newEvents(count).map((event, n) => ({
    ...event,
    stream: `a-${Math.floor(n / 2) % 3}`,
    revision: 2 * Math.floor(n / 6) + (n % 2),
    position: BigInt(1000 + n),
  }));
const withoutPositions = (events: readonly CopiedEvent[]): CopiedEvent[] =>
  events.map(({ id, type, data, metadata, stream, revision }) => {
    return { id, type, data, metadata, stream, revision };
  });

export function runEventStoreContract({ name, open, options = {} }: EventStoreAdapter): void {
  const contract = (
    title: string,
    run: (t: Test, opened: OpenedEventStore) => Promise<void>,
  ): void => {
    void test(`${name}: ${title}`, options, async (t) => {
      const opened = await open(t);
      try {
        await run(t, opened);
      } finally {
        await opened.close();
      }
    });
  };

  contract('gives back what was appended', async (t, { store }) => {
    t.equal(await store.head(), 0n);
    const event = newEvent({ text: 'Grüße 😀 \u2028', list: [1, null, true], nested: { a: 1.5 } });
    const { revision, position } = await store.append('a-1', [event], 'no-stream');
    t.equal(revision, 0);
    t.ok(position > 0n);
    t.equal(await store.head(), position);
    const expected = [{ ...event, stream: 'a-1', revision, position }];
    t.strictSame(await store.readStream('a-1'), expected);
    t.strictSame(await store.readAll(), expected);
  });

  contract('appends several events as one', async (t, { store }) => {
    const events = newEvents(3);
    const { revision, position } = await store.append('a-1', events, 'no-stream');
    t.equal(revision, 2);
    const stored = await store.readStream('a-1');
    t.strictSame(idsOf(stored), idsOf(events));
    t.strictSame(
      stored.map((event) => event.revision),
      [0, 1, 2],
    );
    t.equal(stored.at(-1)?.position, position);
  });

  contract('refuses an empty append', async (t, { store }) => {
    await t.rejects(store.append('a-1', [], 'no-stream'), TypeError);
    t.equal(await store.head(), 0n);
  });

  const refusals: [string, number, ExpectedRevision][] = [
    ['a stream that is there, expected not to be', 1, 'no-stream'],
    ['a stream that is not there, expected at 0', 0, 0],
    ['a stream behind what is expected', 1, 1],
    ['a stream ahead of what is expected', 3, 1],
  ];
  for (const [title, existing, expected] of refusals) {
    contract(`refuses ${title}`, async (t, { store }) => {
      if (existing > 0) await store.append('a-1', newEvents(existing), 'no-stream');
      const head = await store.head();
      const refused = await store.append('a-1', newEvents(2), expected).catch((e: unknown) => e);
      t.match(refused, new VersionConflict('a-1', expected, existing - 1));
      t.type(refused, VersionConflict);
      t.equal(await store.head(), head, 'nothing is stored');
    });
  }

  contract('appends to a stream that is as expected', async (t, { store }) => {
    t.equal((await store.append('a-1', newEvents(2), 'no-stream')).revision, 1);
    t.equal((await store.append('a-1', newEvents(1), 1)).revision, 2);
    t.equal((await store.append('a-2', newEvents(1), 'no-stream')).revision, 0);
  });

  contract('decides one of many that expect the same', async (t, { store }) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => store.append('a-1', newEvents(2), 'no-stream')),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    t.equal(refused.length, 19);
    t.ok(
      refused.every((each) => each.status === 'rejected' && each.reason instanceof VersionConflict),
    );
    t.equal((await store.readStream('a-1')).length, 2);
  });

  contract('keeps appends apart that come at once', async (t, { store }) => {
    await store.append('taken', newEvents(1), 'no-stream');
    const outcomes = await Promise.allSettled([
      store.append('a-1', newEvents(1), 'no-stream'),
      store.append('taken', newEvents(1), 'no-stream'),
      store.append('a-2', newEvents(2), 'no-stream'),
    ]);
    t.strictSame(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    t.equal((await store.readStream('a-1')).length, 1);
    t.equal((await store.readStream('a-2')).length, 2);
    t.equal((await store.readStream('taken')).length, 1);
  });

  contract('reads a stream from anywhere', async (t, { store }) => {
    await store.append('a-1', newEvents(5), 'no-stream');
    const revisions = async (range: Parameters<EventStore['readStream']>[1]) =>
      (await store.readStream('a-1', range)).map(({ revision }) => revision);
    t.strictSame(await revisions({}), [0, 1, 2, 3, 4]);
    t.strictSame(await revisions({ from: 3 }), [3, 4]);
    t.strictSame(await revisions({ from: 1, limit: 2 }), [1, 2]);
    t.strictSame(await revisions({ from: 5 }), []);
    t.strictSame(await store.readStream('a-2'), []);
  });

  contract('reads all in position order', async (t, { store }) => {
    for (let n = 0; n < 6; n += 1) await appendNext(store, `a-${n % 3}`, newEvents(1));
    const all = await store.readAll();
    t.equal(all.length, 6);
    const positions = all.map(({ position }) => position);
    t.ok(positions.every((position, n) => n === 0 || position > (positions[n - 1] ?? 0n)));
    t.strictSame(await store.readAll({ after: positions[1] ?? 0n, limit: 2 }), all.slice(2, 4));
    t.strictSame(await store.readAll({ after: positions.at(-1) ?? 0n }), []);
  });

  contract('stores what an append refers to no later than its events', async (t, { store }) => {
    let stored = 0;
    const blob = new StagedBlob(blobRef('request'), async () => void (stored += 1));
    await store.append('a-1', newEvents(1), 'no-stream', [blob]);
    t.equal(stored, 1);
    t.equal(blob.isStoredApart, true);
    const failing = new StagedBlob(blobRef('request'), () => Promise.reject(new Error('no room')));
    await t.rejects(store.append('a-1', newEvents(1), 0, [blob, failing]), {
      name: 'EventStoreUnavailable',
      cause: { message: 'no room' },
    });
    t.equal((await store.readStream('a-1')).length, 1);
  });

  contract('hands over what is there, then what comes', async (t, { store }) => {
    await store.append('a-1', newEvents(3), 'no-stream');
    const [first] = await store.readAll({ limit: 1 });
    const whole = follow(store, 0n);
    const rest = follow(store, first?.position ?? 0n);
    await whole.until(3);
    await store.append('a-2', newEvents(2), 'no-stream');
    await Promise.all([whole.until(5), rest.until(4)]);
    const all = await store.readAll();
    t.strictSame(whole.seen, all);
    t.strictSame(rest.seen, all.slice(1));
    await Promise.all([whole.subscription.stop(), rest.subscription.stop()]);
    await whole.subscription.ended;
    await store.append('a-2', newEvents(1), 1);
    t.equal(whole.seen.length, 5, 'nothing after the stop');
  });

  contract('hands over a long log in order, one batch at a time', async (t, { store }) => {
    for (let n = 0; n < 30; n += 1) await appendNext(store, `a-${n % 7}`, newEvents(50));
    const seen: string[] = [];
    let running = 0;
    let most = 0;
    await new Promise<void>((resolve, reject) => {
      const subscription = store.subscribe(0n, async (events) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        seen.push(...idsOf(events));
        running -= 1;
        if (seen.length === 1500) void subscription.stop().then(resolve, reject);
      });
      subscription.ended.catch(reject);
    });
    t.equal(most, 1);
    const all = [...(await store.readAll({ limit: 2000 }))];
    t.strictSame(seen, idsOf(all));
  });

  contract('ends a subscription whose handler fails', async (t, { store }) => {
    await store.append('a-1', newEvents(1), 'no-stream');
    let calls = 0;
    const subscription = store.subscribe(0n, () => {
      calls += 1;
      throw new Error('the handler failed');
    });
    await t.rejects(subscription.ended, { message: 'the handler failed' });
    await subscription.stop();
    t.equal(calls, 1);
  });

  contract('keeps everything for the next store', async (t, { store, another }) => {
    await store.append('a-1', newEvents(2), 'no-stream');
    const next = await another();
    try {
      t.strictSame(await next.store.readAll(), await store.readAll());
      t.equal((await next.store.append('a-1', newEvents(1), 1)).revision, 2);
      t.equal((await store.append('a-1', newEvents(1), 2)).revision, 3);
      await t.rejects(next.store.append('a-1', newEvents(1), 2), VersionConflict);
    } finally {
      await next.close();
    }
  });

  contract('hands over what another store appends', async (t, { store, another }) => {
    const { seen, subscription, until } = follow(store, 0n);
    const next = await another();
    try {
      const events = newEvents(2);
      await next.store.append('a-1', events, 'no-stream');
      await until(2);
      t.strictSame(idsOf(seen), idsOf(events));
    } finally {
      await subscription.stop();
      await next.close();
    }
  });

  contract('takes copies of events in their order', async (t, { store }) => {
    const events = copies(60);
    await store.appendCopies(events.slice(0, 25));
    await store.appendCopies(events.slice(25));
    await store.appendCopies([]);
    t.strictSame(withoutPositions(await store.readAll()), withoutPositions(events));
    t.strictSame(
      (await store.readStream('a-1')).map(({ revision }) => revision),
      Array.from({ length: 20 }, (_, n) => n),
    );
    await store.append('a-1', newEvents(1), 19);
  });

  contract('stores no copy without those before it', async (t, { store }) => {
    const events = copies(12);
    const gap = events.filter((_, n) => n !== 6);
    await t.rejects(store.appendCopies(gap), VersionConflict);
    const stored = withoutPositions(await store.readAll());
    t.strictSame(stored, withoutPositions(events.slice(0, stored.length)));
    await store.appendCopies(events.slice(stored.length));
    t.equal((await store.readAll()).length, 12);
  });

  contract('keeps a barrier apart from the log', async (t, { store, another }) => {
    await store.append('a-1', newEvents(1), 'no-stream');
    const before = await store.readAll();
    t.equal(await store.barrier(), undefined);
    const barriers = [
      { kind: 'incomplete', subject: 'a log' },
      { kind: 'moved', subject: 'elsewhere' },
    ] as const;
    const next = await another();
    try {
      for (const barrier of barriers) {
        await store.setBarrier(barrier);
        t.strictSame(await next.store.barrier(), barrier);
      }
      await next.store.setBarrier(undefined);
      t.equal(await store.barrier(), undefined);
    } finally {
      await next.close();
    }
    t.strictSame(await store.readAll(), before);
    await store.append('a-1', newEvents(1), 0);
  });
}
