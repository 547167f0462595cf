/**
 * The costs of accounting for every document, on a log of some conversions and on one of many:
 * - `verify` beside a rebuild of all read models, in events a second;
 * - the inclusion proof of an event, by the tree as it is kept;
 * - the history of a conversion, on the large log beside the small one.
 * `append-tree.ts` has the cost of the tree for an append, `replay.ts` a rebuild beside plain SQLite.
 *
 *   node bench/audit.ts [events, default 200000] [rounds, default 3]
 */
import { join } from 'node:path';
import { allProjections } from '../projections/all.ts';
import { conversionQueries } from '../projections/conversions.ts';
import { historyQueries } from '../projections/history.ts';
import { logTreeQueries } from '../projections/log-tree.ts';
import { readEvents } from '../src/conversions/history.ts';
import { hiddenFault } from '../src/event-store/sqlite/read.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { verifyLog } from '../src/log/verify-log.ts';
import { ReadModel } from '../src/read-model/database.ts';
import { rebuildReadModel } from '../src/read-model/rebuild.ts';
import { openEmbeddedReadOnly } from '../src/sqlite/read-only.ts';
import { inclusionProof } from '../src/transparency-log/merkle-tree.ts';
import { conversionId } from '../test/support/samples.ts';
import { EVENTS_PER_CONVERSION, fillLog } from './made-up-log.ts';
import { inTemporaryDirectory, median, perSecond, print } from './measure.ts';

const SMALL = 4_300;
const CALLS = 500;
const PAGE = { order: 'oldest first', offset: 0, limit: 100 } as const;

const whole = (value: number): string => Math.round(value).toLocaleString('en');

function openLog(directory: string, name: string, wanted: number) {
  const path = join(directory, `${name}.db`);
  const events = fillLog(path, wanted);
  const database = openEmbeddedReadOnly(path);
  const store = new SqliteEventStore(database);
  const readModel = {
    directory: join(directory, `${name}-read-model`),
    projections: allProjections,
  };
  let opened: ReadModel | undefined;
  return {
    events,
    rebuild: async (): Promise<void> => void (await rebuildReadModel({ readModel, store })),
    async verify(): Promise<void> {
      const log = { store, retentionMs: 0, hiddenFault: () => hiddenFault(database.db) };
      const result = await verifyLog(log, { now: Date.now() });
      if (!result.ok) throw new Error(`The log is not whole: ${result.found}`);
    },
    /** Milliseconds of one proof, each of another event. */
    proofs(): number[] {
      const { hashes } = this.readModel.query(logTreeQueries);
      const { size } = hashes;
      return Array.from({ length: CALLS }, (_, call) => {
        const start = performance.now();
        inclusionProof(hashes, Math.floor((size * call) / CALLS), size);
        return performance.now() - start;
      });
    },
    /** Milliseconds of one conversion's history, each of another one. */
    async histories(): Promise<number[]> {
      const conversions = this.readModel.query(conversionQueries);
      const history = this.readModel.query(historyQueries);
      const times: number[] = [];
      for (let call = 0; call < CALLS; call += 1) {
        const id = conversionId(1 + Math.floor((wanted / EVENTS_PER_CONVERSION) * (call / CALLS)));
        const start = performance.now();
        const accountId = conversions.byId(id)?.accountId ?? '';
        const { places, total } = history.page(accountId, { conversionId: id }, PAGE);
        const read = await readEvents(store, places);
        times.push(performance.now() - start);
        if (total < 2 || read.length !== total) throw new Error(`${id} has ${total} events.`);
      }
      return times;
    },
    get readModel(): ReadModel {
      opened ??= new ReadModel(readModel);
      return opened;
    },
    async close(): Promise<void> {
      opened?.close();
      await store.close();
      database.close();
    },
  };
}

type Pairs = readonly (readonly [number, number])[];

const of = (pairs: Pairs, side: 0 | 1): number => median(pairs.map((pair) => pair[side]));
const ratio = (pairs: Pairs): string => median(pairs.map(([one, other]) => one / other)).toFixed(2);

await inTemporaryDirectory(async (directory) => {
  const [, , wanted = '200000', rounds = '3'] = process.argv;
  const large = openLog(directory, 'large', Number(wanted));
  const small = openLog(directory, 'small', SMALL);
  await small.rebuild();
  const rates: (readonly [verified: number, rebuilt: number])[] = [];
  const histories: (readonly [large: number, small: number])[] = [];
  const proofs: number[] = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    const verified = await perSecond(large.events, () => large.verify());
    rates.push([verified, await perSecond(large.events, () => large.rebuild())]);
    histories.push([median(await large.histories()), median(await small.histories())]);
    proofs.push(...large.proofs());
  }
  print(`${whole(large.events)} events, and ${whole(small.events)}; medians of ${rounds} rounds`);
  print(
    `verify ${whole(of(rates, 0))} events a second, rebuild ${whole(of(rates, 1))}: ratio ${ratio(rates)}`,
  );
  print(
    `inclusion proof ${median(proofs).toFixed(2)} ms, the slowest ${Math.max(...proofs).toFixed(2)} ms`,
  );
  print(
    `history of a conversion ${of(histories, 0).toFixed(3)} ms on the large log, ${of(histories, 1).toFixed(3)} ms ` +
      `on the small one: ratio ${ratio(histories)}`,
  );
  await Promise.all([large.close(), small.close()]);
});
