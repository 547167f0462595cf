/**
 * An account with 100,000 live keys costs what one with ten does. What is asserted is the work done:
 * events read and buckets looked into.
 */
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { DEFAULT_LIMITS } from '../../src/actors/command.ts';
import type { SnapshotCache } from '../../src/actors/snapshots.ts';
import { SqliteSnapshots } from '../../src/actors/snapshots.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { acceptedWithKey, accountAggregate } from '../../src/domain/account.ts';
import type { DomainEvent } from '../../src/domain/events.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { eventId } from '../../src/time/ids.ts';
import { OPEN, request, sentBy } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import {
  accountId,
  blobRef,
  conversionId,
  HOUR_MS,
  NOW,
  OPTIONS,
  REQUEST_HMAC,
  sha256,
} from '../support/samples.ts';

const MANY = 100_000;
const APPEND = 1000;
/** A day in buckets of four hours, one begun and one for clocks that differ. */
const MOST_BUCKETS = 8;
/** What a process that was killed just before its next snapshot left to read. */
const BEHIND = DEFAULT_LIMITS.snapshotEvery - 2;

const requestedAt = (n: number, keys: number): number =>
  NOW - Math.floor(((keys - n) * 23 * HOUR_MS) / keys);

function accepted(n: number, keys: number): DomainEvent[] {
  const of = { accountId: accountId(), conversionId: conversionId(n) };
  return [
    { type: 'CreditDebited', data: { ...of, amount: 1 } },
    {
      type: 'ConversionRequested',
      data: {
        ...of,
        source: 'html',
        request: blobRef('request', n),
        requestHmac: REQUEST_HMAC,
        options: OPTIONS,
        requestedAt: requestedAt(n, keys),
        idempotencyKey: sha256(n),
      },
    },
  ];
}

/** Writes the account's log straight to the store: opened, granted, then `keys` conversions in a day. */
async function build(store: EventStore, id: string, keys: number): Promise<void> {
  const { email, passwordHash, plan } = OPEN;
  let revision = -1;
  const append = async (events: readonly DomainEvent[]): Promise<void> => {
    const encoded = events.map((event, n) => {
      const cause = `${id}/${revision + 1 + n}`;
      return encodeEvent(eventId(cause), event, sentBy(cause).metadata);
    });
    const expected = revision === -1 ? 'no-stream' : revision;
    ({ revision } = await store.append(accountAggregate.stream(id), encoded, expected));
  };
  await append([
    { type: 'AccountOpened', data: { accountId: accountId(), email, passwordHash, plan } },
    { type: 'CreditGranted', data: { accountId: accountId(), amount: 10 * MANY } },
  ]);
  for (let n = 0; n < keys; n += APPEND) {
    const count = Math.min(APPEND, keys - n);
    await append(Array.from({ length: count }, (_, m) => accepted(n + m, keys)).flat());
  }
}

/** What a cold process does for its first request and for those that follow. */
async function work(
  t: Test,
  store: EventStore,
  snapshots: SnapshotCache,
  id: string,
  keys: number,
) {
  const counted = new FaultyStore(store);
  const eventsRead = () => counted.reads.reduce((sum, { events }) => sum + events, 0);
  const system = new ActorSystem({ store: counted, snapshots });
  const { state } = await system.read(accountAggregate, id);
  const cold = eventsRead();
  for (const n of [0, keys >> 1, keys - 1]) {
    const answer = acceptedWithKey(state, sha256(n), NOW);
    t.strictSame(answer, { conversionId: conversionId(n), requestedAt: requestedAt(n, keys) });
    const again = await system.send(
      accountAggregate,
      id,
      request(2 * MANY, sha256(n)),
      sentBy(`${id} again ${n}`),
    );
    t.match(again, { accepted: true, events: [] }, `key ${n} is still known`);
  }
  const before = eventsRead();
  for (let n = 0; n < 20; n += 1) {
    const command = request(3 * MANY + n, sha256(3 * MANY + n));
    const outcome = await system.send(accountAggregate, id, command, sentBy(`${id} new ${n}`));
    t.match(outcome, { accepted: true, events: [{}, {}] });
  }
  const buckets = (await system.read(accountAggregate, id)).state.keys.size;
  const warm = eventsRead() - before;
  await system.close();
  return { cold, warm, buckets };
}

void test('100,000 live keys', async (t) => {
  const dir = testDirectory(t);
  const database = openEmbeddedDatabase(join(dir, 'store.db'));
  const store = new SqliteEventStore(database);
  const snapshots = new SqliteSnapshots(join(dir, 'snapshots.db'), Buffer.alloc(32));
  t.teardown(async () => {
    snapshots.close();
    await store.close();
    database.close();
  });
  await build(store, 'many', MANY);
  await build(store, 'few', 10);

  // A process that ends in order keeps what it knows; then the account goes on a little without it.
  const first = new ActorSystem({ store, snapshots });
  await first.read(accountAggregate, 'many');
  await first.close();
  const last = 2 + 2 * MANY - 1;
  const later = Array.from({ length: BEHIND / 2 }, (_, n) => accepted(MANY + n, MANY)).flat();
  const encoded = later.map((event, n) =>
    encodeEvent(eventId(`later/${n}`), event, sentBy(`later/${n}`).metadata),
  );
  await store.append(accountAggregate.stream('many'), encoded, last);

  const many = await work(t, store, snapshots, 'many', MANY);
  const few = await work(t, store, snapshots, 'few', 10);
  t.equal(many.cold, BEHIND + 1, 'the snapshot’s own event and what came after it');
  t.equal(few.cold, 22, 'all of a short account');
  t.equal(many.warm, few.warm, 'the same for each request');
  t.ok(many.buckets <= MOST_BUCKETS, `${many.buckets} buckets to look into`);
});
