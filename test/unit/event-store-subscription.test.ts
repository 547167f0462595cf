import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { test } from 'tap';
import type {
  DriverEvent,
  DriverSubscription,
} from '../../src/event-store/kurrentdb/connection.ts';
import { KurrentDbSubscription } from '../../src/event-store/kurrentdb/subscription.ts';
import type { RecordedEvent } from '../../src/event-store/port.ts';

const driverEvent = (n: number): DriverEvent => ({
  streamId: 'a-1',
  id: `id-${n}`,
  type: 'Happened',
  revision: BigInt(n),
  isJson: true,
  data: {},
  position: { commit: BigInt(n + 1) },
});

const recordedEvent = ({ streamId, id, type, revision, position }: DriverEvent): RecordedEvent => ({
  stream: streamId,
  id,
  type,
  revision: Number(revision),
  position: position?.commit ?? 0n,
  data: {},
  metadata: {},
});

/** Passes on one event in a turn of the event loop, as the driver does. */
class OneATurn extends EventEmitter implements DriverSubscription {
  #ready: DriverEvent | undefined;

  async give(events: readonly DriverEvent[]): Promise<void> {
    for (const event of events) {
      while (this.#ready !== undefined) await nextTurn();
      this.#ready = event;
      this.emit('readable');
      await nextTurn();
    }
  }

  read(): { readonly event: DriverEvent } | null {
    const event = this.#ready;
    this.#ready = undefined;
    return event === undefined ? null : { event };
  }

  async unsubscribe(): Promise<void> {
    this.emit('end');
  }
}

void test('events that come one in a turn are handed over together', async (t) => {
  const driver = new OneATurn();
  const log = {
    subscribe: () => driver,
    recordedEvent,
    readStream: async () => [],
    failed: <E extends Error>(error: E) => error,
  };
  const batches: number[] = [];
  const seen: string[] = [];
  const handle = (events: readonly RecordedEvent[]): void => {
    batches.push(events.length);
    seen.push(...events.map(({ id }) => id));
  };
  const subscription = new KurrentDbSubscription(log, 0n, handle, pino({ level: 'silent' }));
  const events = Array.from({ length: 1_200 }, (_, n) => driverEvent(n));
  await driver.give(events);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  t.strictSame(
    seen,
    events.map(({ id }) => id),
  );
  t.ok(batches.length <= 10, `${batches.length} batches: ${batches.join(' ')}`);
  t.ok(Math.max(...batches) <= 500, 'a batch has a limit');

  await driver.give([driverEvent(1_200)]);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  t.equal(batches.at(-1), 1, 'one event that comes alone waits for no other');
  await subscription.stop();
  await subscription.ended;
});
