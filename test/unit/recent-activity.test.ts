/** Rates and failures of the log's last minutes, whatever gaps its positions have. */
import { test } from 'tap';
import type { RecordedEvent } from '../../src/event-store/port.ts';
import { RecentActivity, WINDOW_MS } from '../../src/observe/recent-activity.ts';

const NOW = 1_800_000_000_000;

/** A log of events that are a second apart, on a store whose positions have gaps. */
class SparseLog {
  readonly events: RecordedEvent[] = [];
  /** The positions that were read from: a server refuses one where no event is. */
  readonly reads: bigint[] = [];

  add(type: string, time: number, data: object = {}): void {
    const position = BigInt(this.events.length + 1) * 317n;
    const metadata = { time };
    this.events.push({ id: '', stream: 's', revision: 0, type, data, metadata, position });
  }

  get places() {
    const hashes = { size: this.events.length, leaves: () => [], subtree: () => undefined };
    return { hashes, positionOf: (number: number) => this.events[number]?.position };
  }

  async head(): Promise<bigint> {
    return this.events.at(-1)?.position ?? 0n;
  }

  async readAll({ after = 0n, limit = 1000 } = {}): Promise<readonly RecordedEvent[]> {
    this.reads.push(after);
    return this.events.filter(({ position }) => position > after).slice(0, limit);
  }
}

void test('it counts what the last five minutes hold, and reads little before them', async (t) => {
  const log = new SparseLog();
  for (let second = 20_000; second > 0; second -= 1) {
    log.add('ConversionRequested', NOW - second * 1000);
    if (second % 10 === 0)
      log.add('ConversionFailed', NOW - second * 1000, { code: 'timeout', renderer: 'r1' });
  }
  const activity = new RecentActivity(log);
  const { perMinute, failures, renderers, windowMs } = await activity.look(NOW, log.places);
  t.equal(windowMs, WINDOW_MS);
  t.equal(perMinute.requested, 59.8, 'the event of exactly five minutes ago is not counted');
  t.equal(perMinute.failed, 5.8);
  t.strictSame(failures, [{ code: 'timeout', count: 29 }]);
  t.match(renderers, [{ name: 'r1', completed: 0, failed: 29, lastSeen: NOW - 10_000 }]);
  const places = new Set([0n, ...log.events.map(({ position }) => position)]);
  t.ok(
    log.reads.every((each) => places.has(each)),
    'only from where an event is',
  );
  t.ok(log.reads.length < 10, 'and not from the beginning');

  log.add('ConversionCompleted', NOW + 1000, { renderer: 'r2' });
  const later = await activity.look(NOW + 60_000, log.places);
  t.equal(later.perMinute.completed, 0.2);
  t.equal(later.perMinute.requested, 47.8, 'older ones fall out');
  t.equal(later.renderers[0]?.name, 'r2', 'the last to report first');
});

void test('without the places of events it sees what comes', async (t) => {
  const log = new SparseLog();
  log.add('ConversionRequested', NOW);
  const activity = new RecentActivity(log);
  t.equal((await activity.look(NOW, undefined)).perMinute.requested, 0);
  log.add('ConversionRequested', NOW);
  t.equal((await activity.look(NOW, undefined)).perMinute.requested, 0.2);
});
