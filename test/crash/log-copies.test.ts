/** Exports and imports that are killed in the middle, again and again. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { fillLog } from '../../bench/made-up-log.ts';
import { errorMessage } from '../../src/errors/error-message.ts';
import { cliJson, refuses } from '../support/cli.ts';
import { readLog } from '../support/invariants.ts';
import { killCommand } from '../support/killed-command.ts';
import { createPlace, type Place } from '../support/place.ts';

const EVENTS = 30_000;

void test('an export and an import that are killed again and again end with the same log', {
  timeout: 180_000,
}, async (t) => {
  const place = createPlace(t);
  fillLog(join(place.dataDir, 'pressledger.db'), EVENTS);
  const log = await cliJson(place, ['verify']);
  const file = join(place.tmpDir, 'log.gz');
  const partial = `${file}.part`;
  const written = (): number => (existsSync(partial) ? statSync(partial).size : 0);
  let kills = 0;
  for (let share = 0.1; share < 0.9; share += 0.2) {
    const from = Math.max(written(), share * 1_000_000);
    const args = ['log', 'export', '-o', file];
    if (await killCommand(place, args, () => written() > from)) kills += 1;
    t.notOk(existsSync(file), 'it has no name before it is whole');
  }
  const exported = await cliJson(place, ['log', 'export', '-o', file]);
  t.ok((exported as { found: number }).found > 0, 'it goes on');
  const { root, events } = log as { root: string; events: number };
  t.match(exported, { root, events });

  const dataDir = join(place.tmpDir, 'copied');
  const target: Place = { ...place, dataDir, env: { ...place.env, DATA_DIR: dataDir } };
  const stored = (): number => {
    if (!existsSync(join(dataDir, 'pressledger.db'))) return 0;
    try {
      return readLog(dataDir).length;
    } catch (error) {
      // The file is there before its tables.
      if (errorMessage(error) === 'no such table: events') return 0;
      throw error;
    }
  };
  let seen = 0;
  for (const share of [0, 0.2, 0.5, 0.9]) {
    const from = Math.max(seen, share * events);
    const killed = await killCommand(target, ['log', 'import', file], () => stored() > from);
    if (!killed) break;
    kills += 1;
    seen = stored();
    await refuses(
      t,
      target,
      ['account', 'list'],
      1,
      /holds a copy of an exported log .* not complete/,
    );
    await refuses(t, target, ['start'], 1, /holds a copy of an exported log .* not complete/);
  }
  t.ok(kills >= 6, `${kills} kills`);
  const imported = await cliJson(target, ['log', 'import', file]);
  t.match(imported, { root, events });
  t.ok((imported as { found: number }).found >= seen);
  t.match(await cliJson(target, ['verify']), { ok: true, root, events });
  t.strictSame(
    readLog(dataDir).map(({ id }) => id),
    readLog(place.dataDir).map(({ id }) => id),
  );
});
