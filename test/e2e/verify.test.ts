import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Test, test } from 'tap';
import { cliJson, runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { type LogEvent, readLog } from '../support/invariants.ts';
import type { Place } from '../support/place.ts';
import { seededRandom } from '../support/random.ts';
import { startService } from '../support/service.ts';
import { copyOf, filesOf, forge, verifyDirectory } from '../support/signed-log.ts';

const FLIPS = 40;

/** A service that has rendered, failed, refunded and signed; stopped. */
async function usedPlace(t: Test): Promise<Place> {
  const service = await startService(t, {
    CHECKPOINT_SECONDS: '1',
    RENDER_CONCURRENCY: '2',
    FAILED_RETENTION_SECONDS: '0',
  });
  const { place } = service;
  const client = service.client();
  const ends = await Promise.all(
    [
      { html: '<h1>One</h1>' },
      { html: `<h1>Two</h1><!--${'x'.repeat(100_000)}-->` },
      { html: '<p>Three</p>', page_ranges: '9' },
    ].map(async (request) => await client.wait((await client.create(request)).id)),
  );
  t.strictSame(
    ends.map(({ status }) => status),
    ['completed', 'completed', 'failed'],
  );
  const log = () => readLog(place.dataDir);
  const end = await eventually('the deletion of what failed', () =>
    log().find(({ type }) => type === 'ConversionExpired'),
  );
  await eventually('a checkpoint over it', () => coveredBy(log()) >= end.position || undefined);
  const beside = await cliJson(place, ['verify', '--documents']);
  t.match(beside, { ok: true, unfinished: 0, refunds_due: 0 }, 'beside the service');
  t.equal((await service.stop()).code, 0);
  return place;
}

/** Events that the newest checkpoint covers. */
const coveredBy = (log: readonly LogEvent[]): number =>
  log.reduce((size, { type, data }) => {
    return type === 'CheckpointSigned' ? (JSON.parse(data) as { size: number }).size : size;
  }, 0);

const contentOf = (dataDir: string): Record<string, string> =>
  Object.fromEntries(
    filesOf(dataDir, '').map((file) => [file.slice(dataDir.length), readFileSync(file, 'base64')]),
  );

void test('verify, on a copy of a data directory without its keys', async (t) => {
  const { dataDir, env, ...rest } = await usedPlace(t);
  const copy = copyOf(dataDir);
  for (const secret of filesOf(copy, '').filter((file) => /key/.test(file.slice(copy.length)))) {
    rmSync(secret);
  }
  const place: Place = { ...rest, dataDir: copy, env: { ...env, DATA_DIR: copy } };
  const before = contentOf(copy);
  const whole = await cliJson(place, ['verify', '--documents']);
  const { length } = readLog(dataDir);
  t.match(whole, { ok: true, events: length, size: length, root: /=$/, documents: { files: 6 } });
  const told = await runCli(place, ['verify']);
  t.equal(told.code, 0);
  t.match(told.stdout, /^The log is whole: \d+ events, \d+ a second\.$/m);
  t.match(told.stdout, /^\d+ checkpoints?; the newest covers \d+ events\.$/m);
  t.strictSame(contentOf(copy), before, 'nothing was changed');

  const newest = readLog(copy).findLast(({ type }) => type === 'CheckpointSigned');
  const { note, size } = JSON.parse(newest?.data ?? '') as { note: string; size: number };
  const kept = join(place.tmpDir, 'kept.txt');
  writeFileSync(kept, note);
  t.match(await cliJson(place, ['verify', '--checkpoint', kept]), { ok: true });

  forge(copy, (db) => db.exec(`DELETE FROM events WHERE position >= ${size}`));
  rmSync(join(copy, 'transparency-log'), { recursive: true });
  rmSync(join(copy, 'read-model'), { recursive: true });
  const cut = await runCli(place, ['verify', '--checkpoint', kept, '--json']);
  t.equal(cut.code, 1);
  t.match(JSON.parse(cut.stdout), { ok: false, at: { checkpoint: kept }, found: /truncated/ });
  t.match(cut.stderr, /^pressledger: Not as it must be: checkpoint \S+kept\.txt, index \d+\. /m);

  forge(copy, (db) => db.exec("UPDATE events SET id = 'x' WHERE position = 1"));
  const said = `\`DATA_DIR=${copy} bin/pressledger verify\` says more.`;
  const exported = join(place.tmpDir, 'log.jsonl.gz');
  for (const args of [
    ['log', 'export', '-o', exported],
    ['backup', join(place.tmpDir, 'backup')],
  ]) {
    const refused = await runCli(place, args);
    t.equal(refused.code, 1);
    t.ok(refused.stderr.includes(said), `${args[0]}: ${refused.stderr}`);
  }

  const { id } = readLog(dataDir)[0] ?? {};
  forge(copy, (db) => db.prepare('UPDATE events SET id = ? WHERE position = 1').run(id));
  for (const [object, sql] of [
    ['trigger t', 'CREATE TRIGGER t AFTER INSERT ON blobs BEGIN SELECT 1; END'],
    ['table events', 'DROP TRIGGER t; ALTER TABLE events RENAME COLUMN data TO other'],
  ] as const) {
    forge(copy, (db) => db.exec(sql));
    const changed = await runCli(place, ['verify', '--json']);
    t.equal(changed.code, 1);
    t.match(JSON.parse(changed.stdout), { ok: false, at: { object } });
    const start = await runCli(place, ['start']);
    t.match(start, { code: 1, stderr: new RegExp(`changed past the service, at the ${object}:`) });
  }
});

void test('whatever is changed at random in a real log is found, and named', {
  timeout: 120_000,
}, async (t) => {
  const { dataDir } = await usedPlace(t);
  const random = seededRandom();
  t.comment(`TEST_SEED=${random.seed}`);
  const log = readLog(dataDir);
  const covered = coveredBy(log);
  for (let n = 0; n < FLIPS; n += 1) {
    const forged = copyOf(dataDir);
    const event = log[random.integer(0, covered - 1)];
    if (event === undefined) throw new Error('Positions count from 1.');
    const { position } = event;
    const column = (['data', 'metadata', 'id', 'type', 'stream'] as const)[random.integer(0, 5)];
    forge(forged, (db) => {
      if (column === undefined) {
        db.prepare('DELETE FROM events WHERE position = ?').run(position);
        return;
      }
      const at = random.integer(0, event[column].length - 1);
      const flipped =
        event[column].slice(0, at) + other(event[column][at]) + event[column].slice(at + 1);
      db.prepare(`UPDATE events SET ${column} = ? WHERE position = ?`).run(flipped, position);
    });
    const result = await verifyDirectory(forged, { documents: false });
    const at = { index: position - 1, position: `${position + (column === undefined ? 1 : 0)}` };
    t.match(result, { ok: false, at }, `${event.type} at ${position}: ${column ?? 'removed'}`);
    rmSync(join(forged, 'read-model'), { recursive: true });
    const alone = await verifyDirectory(forged, { documents: false });
    t.equal(alone.ok, false, `${event.type} at ${position}, without read models`);
    rmSync(forged, { recursive: true });
  }
  for (const file of filesOf(dataDir)) {
    if (!/-[0-9a-f]{64}$/.test(file)) continue;
    const content = readFileSync(file);
    const at = random.integer(0, content.length - 1);
    const flipped = Buffer.from(content);
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << random.integer(0, 7)), at);
    writeFileSync(file, flipped);
    const result = await verifyDirectory(dataDir, { now: Date.now() });
    t.match(result, { ok: false, at: { file: new RegExp(basename(file)) } }, `byte ${at}`);
    writeFileSync(file, content);
  }
  t.match(await verifyDirectory(dataDir, { now: Date.now() }), { ok: true });
});

/** Another character than that. */
const other = (character: string | undefined): string => (character === '7' ? '8' : '7');
