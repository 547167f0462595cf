/**
 * Appends a second with the log's tree among the projections that follow them in the same process, beside
 * the same appends without it. Rounds of both sides alternate; printed are medians, and the medians of the
 * rounds' ratios, by the clock and by processor time: until all is durable, and until all is projected.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { allProjections } from '../projections/all.ts';
import { logTree } from '../projections/log-tree.ts';
import { encodeEvent } from '../src/event-store/codec.ts';
import type { NewEvent } from '../src/event-store/port.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { ReadModel } from '../src/read-model/database.ts';
import type { Projection } from '../src/read-model/projection.ts';
import { ProjectionRunner } from '../src/read-model/runner.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { eventId } from '../src/time/ids.ts';
import { request } from '../test/support/history.ts';
import { NOW } from '../test/support/samples.ts';
import { inTemporaryDirectory, median, print } from './measure.ts';

const ROUNDS = 9;
const WRITERS = 64;
const REQUESTS = 20;

interface Times {
  readonly durable: number;
  readonly projected: number;
  readonly processor: number;
}

/** The two events of a request, which differ from all others. */
function eventsOf(n: number, writer: number): readonly NewEvent[] {
  const { stream, events } = request(n, writer);
  return events(0n).map((event, at) =>
    encodeEvent(eventId(`${n}/${at}`), event, {
      correlationId: stream,
      causationId: stream,
      actor: { kind: 'service' },
      time: NOW + n,
    }),
  );
}

function openSide(dir: string, projections: readonly Projection[]) {
  mkdirSync(dir);
  const database = openEmbeddedDatabase(join(dir, 'store.db'));
  const store = new SqliteEventStore(database);
  const readModel = new ReadModel({ directory: join(dir, 'read-model'), projections });
  const runner = new ProjectionRunner({ store, readModel });
  runner.start();
  let round = 0;
  return {
    async append(): Promise<Times> {
      const batches = Array.from({ length: WRITERS }, (_, writer) =>
        Array.from({ length: REQUESTS }, (__, n) =>
          eventsOf((round * REQUESTS + n) * WRITERS + writer, writer),
        ),
      );
      const first = round * REQUESTS * 2;
      round += 1;
      const [start, used] = [performance.now(), process.cpuUsage()];
      await Promise.all(
        batches.map(async (own, writer) => {
          for (const [n, events] of own.entries()) {
            const last = first + 2 * n - 1;
            await store.append(`account-${writer}`, events, last < 0 ? 'no-stream' : last);
          }
        }),
      );
      const durable = performance.now() - start;
      await runner.waitFor(await store.head());
      const { user, system } = process.cpuUsage(used);
      return {
        durable,
        projected: performance.now() - start,
        processor: (user + system) / 1000,
      };
    },
    async close(): Promise<void> {
      await runner.stop();
      readModel.close();
      await store.close();
      database.close();
    },
  };
}

await inTemporaryDirectory(async (dir) => {
  const withTree = openSide(join(dir, 'with'), allProjections);
  const without = openSide(
    join(dir, 'without'),
    allProjections.filter((each) => each !== logTree),
  );
  const rounds: { readonly tree: Times; readonly plain: Times }[] = [];
  for (let n = -2; n < ROUNDS; n += 1) {
    const before = n % 2 === 0 ? await without.append() : undefined;
    const tree = await withTree.append();
    const plain = before ?? (await without.append());
    // The first rounds warm up.
    if (n >= 0) rounds.push({ tree, plain });
  }
  await withTree.close();
  await without.close();
  const count = WRITERS * REQUESTS * 2;
  for (const kind of ['durable', 'projected', 'processor'] as const) {
    const rate = (side: 'tree' | 'plain'): string =>
      median(rounds.map((each) => (count * 1000) / each[side][kind]))
        .toFixed(0)
        .padStart(7);
    const ratio = median(rounds.map(({ tree, plain }) => plain[kind] / tree[kind]));
    print(
      `${kind.padEnd(10)} with the tree ${rate('tree')}/s  without ${rate('plain')}/s  ratio ${ratio.toFixed(3)}`,
    );
  }
});
