/**
 * Verification: events a second of `verify`, beside a rebuild of all read models in the same run.
 *
 *   node bench/verify.ts [events, default 200000]
 */
import { join } from 'node:path';
import { stdout } from 'node:process';
import { allProjections } from '../projections/all.ts';
import { hiddenFault } from '../src/event-store/sqlite/read.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { rebuildReadModel } from '../src/read-model/rebuild.ts';
import { openEmbeddedReadOnly } from '../src/sqlite/read-only.ts';
import { verifyLog } from '../src/use-cases/verify-log.ts';
import { fillLog } from './made-up-log.ts';
import { inTemporaryDirectory, median, perSecond } from './measure.ts';

const ROUNDS = 3;

await inTemporaryDirectory(async (directory) => {
  const path = join(directory, 'store.db');
  const events = fillLog(path, Number(process.argv[2] ?? 200_000));
  const database = openEmbeddedReadOnly(path);
  const store = new SqliteEventStore(database);
  const verify = async (): Promise<void> => {
    const log = { store, retentionMs: 0, hiddenFault: () => hiddenFault(database.db) };
    const result = await verifyLog(log, { now: Date.now() });
    if (!result.ok) throw new Error(`The log is not whole: ${result.found}`);
  };
  const rates: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const readModel = { directory: join(directory, `${round}`), projections: allProjections };
    const verified = await perSecond(events, verify);
    const rebuilt = await perSecond(events, async () => {
      await rebuildReadModel({ readModel, store });
    });
    rates.push([verified, rebuilt]);
  }
  await store.close();
  database.close();
  const [verified, rebuilt] = [0, 1].map((n) => median(rates.map((rate) => rate[n] ?? 0)));
  const ratio = median(rates.map(([one, other]) => one / other));
  stdout.write(
    `${events.toLocaleString('en')} events, median of ${ROUNDS} rounds\n` +
      `verify ${Math.round(verified ?? 0)} a second, rebuild ${Math.round(rebuilt ?? 0)}, ratio ${ratio.toFixed(2)}\n`,
  );
});
