/** An exported log as a file: cut off, changed, resumed, and brought into a store. */

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Test, test } from 'tap';
import { encodeBlock } from '../../src/archive/blocks.ts';
import type { LogReader } from '../../src/archive/checked-log.ts';
import type { CopyProgress } from '../../src/archive/copy.ts';
import { exportLog } from '../../src/archive/export.ts';
import { importLog, openExport } from '../../src/archive/import.ts';
import { eventsRead } from '../../src/commands/output.ts';
import { type CopyableEventStore, EventStoreUnavailable } from '../../src/event-store/port.ts';
import { canonicalEvent } from '../../src/transparency-log/canonical-event.ts';
import { openLogIn, openSource, quietly } from '../support/archives.ts';
import { newEvents } from '../support/events.ts';
import { seededRandom } from '../support/random.ts';
import { forge, verifyDirectory } from '../support/signed-log.ts';

const openStore = (t: Test, dataDir: string): CopyableEventStore => openLogIn(t, dataDir).store;

/** The log of `signedLog`, its store, and an export of it. */
async function exported(t: Test) {
  const { dataDir, store, directory } = await openSource(t);
  const file = join(directory, 'log.gz');
  const totals = await exportLog(store, file, quietly);
  return { dataDir, store, file, totals };
}

void test('an export is the canonical events, and comes to what the log comes to', async (t) => {
  const { dataDir, store, file, totals } = await exported(t);
  const { root, events } = totals;
  t.match(await verifyDirectory(dataDir), { ok: true, root, events });
  t.equal(totals.found, 0);
  const text = gunzipSync(readFileSync(file)).toString();
  const lines = text.split('\n');
  t.equal(lines.length, events + 3, 'header, events, totals, and the last line feed');
  const before = text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1);
  t.equal(createHash('sha256').update(before).digest('hex'), totals.sha256);
  const all = await store.readAll();
  t.strictSame(
    lines.slice(1, -2),
    all.map((event) => canonicalEvent(event)),
  );
  const newest = all.findLast(({ type }) => type === 'CheckpointSigned');
  t.match(newest?.data, { note: totals.checkpoint });
  await t.rejects(exportLog(store, file, quietly), {
    message: `${file} is there already: name another file, or remove it.`,
  });
});

void test('an export leaves a file that was made meanwhile as it is', async (t) => {
  const { store, directory } = await openSource(t);
  const file = join(directory, 'meanwhile.gz');
  const exporting = exportLog(store, file, () => writeFileSync(file, 'of somebody else'));
  await t.rejects(exporting, {
    message: `${file} is there already: name another file, or remove it.`,
  });
  t.equal(readFileSync(file, 'utf8'), 'of somebody else');
  rmSync(file);
  t.equal((await exportLog(store, file, quietly)).found > 0, true, 'the next call goes on');
  t.notOk(existsSync(`${file}.part`));
});

void test('an import gives the same log, and a file that is whole is taken once', async (t) => {
  const { file, store, totals } = await exported(t);
  const dataDir = join(file, '../copied');
  const target = openStore(t, dataDir);
  const log = await openExport(file, quietly);
  t.strictSame({ ...log.totals, found: 0 }, totals);
  t.strictSame(await importLog(log, target, quietly), { found: 0 });
  t.strictSame(await target.readAll(), await store.readAll());
  t.equal(await target.barrier(), undefined);
  t.match(await verifyDirectory(dataDir, { documents: false }), { ok: true, root: totals.root });
  t.strictSame(await importLog(log, target, quietly), { found: totals.events }, 'it is complete');
  await target.append('new', newEvents(1), 'no-stream');
  await t.rejects(importLog(log, target, quietly), { message: /^The event store is not empty, / });
});

/** The position where a server has it that others use, too. */
const shared = (position: bigint): bigint => 1_000_000n + position * 3n;

void test('a total that follows from the positions of a shared server is an estimate', async (t) => {
  const { store, totals, file } = await exported(t);
  const reader: LogReader = {
    head: async () => shared(await store.head()),
    readAll: async ({ after = 0n, limit } = {}) => {
      const own = after === 0n ? 0n : (after - 1_000_000n) / 3n;
      const events = await store.readAll({ after: own, ...(limit !== undefined && { limit }) });
      return events.map((event) => ({ ...event, position: shared(event.position) }));
    },
    readStream: (stream, options) => store.readStream(stream, options),
  };
  const told: CopyProgress[] = [];
  await exportLog(store, `${file}.own`, (progress) => told.push(progress));
  await exportLog(reader, `${file}.shared`, (progress) => told.push(progress));
  const whole = { done: totals.events, total: totals.events };
  t.match(told, [
    { ...whole, isEstimate: false },
    { ...whole, isEstimate: true },
  ]);
  t.match(told.map(eventsRead), [
    /^([\d,]+) of \1 events \(100 %\)/,
    /^([\d,]+) of about \1 events \(/,
  ]);
});

void test('an export that was cut off anywhere is resumed', async (t) => {
  const { file, store, totals } = await exported(t);
  const whole = readFileSync(file);
  const partial = `${file}.part`;
  const random = seededRandom();
  t.comment(`TEST_SEED=${random.seed}`);
  const lengths = [
    0,
    1,
    19,
    20,
    ...Array.from({ length: 12 }, () => random.integer(21, whole.length)),
  ];
  for (const length of lengths) {
    rmSync(file, { force: true });
    writeFileSync(partial, whole.subarray(0, length));
    const again = await exportLog(store, file, quietly);
    t.equal(again.root, totals.root, `of ${length} bytes`);
    t.equal((await openExport(file, quietly)).totals.sha256, again.sha256);
    t.notOk(existsSync(partial));
  }
  renameSync(file, partial);
  await store.append('account-new', newEvents(1), 'no-stream');
  const grown = await exportLog(store, file, quietly);
  t.match(grown, { events: totals.events + 1, found: totals.events }, 'the log has grown');
  await t.rejects(openExport(file, quietly), {
    message: /^cannot be read by this release: Unknown event type Happened\. Install /,
  });
});

void test('an export goes on with nothing that is not the same log', async (t) => {
  const { dataDir, file, store } = await exported(t);
  const partial = `${file}.part`;
  const other = openStore(t, join(file, '../other'));
  await other.append('account-1', newEvents(2), 'no-stream');
  renameSync(file, partial);
  await t.rejects(exportLog(other, file, quietly), { message: /^[^\n]+ remove it[^\n]+$/ });
  t.notOk(existsSync(file));
  const away: LogReader = {
    head: () => store.head(),
    readAll: (options) => store.readAll(options),
    readStream: () => Promise.reject(new EventStoreUnavailable('It does not answer.')),
  };
  await t.rejects(exportLog(away, file, quietly), { name: 'EventStoreUnavailable' });
  writeFileSync(partial, 'mine');
  await t.rejects(exportLog(store, file, quietly), {
    message: /cannot be resumed: remove it/,
  });
  t.equal(readFileSync(partial, 'utf8'), 'mine', 'is left as it was');
  rmSync(partial);
  forge(dataDir, (db) =>
    db.exec(`UPDATE events SET data = replace(data, '"amount":10', '"amount":11')`),
  );
  await t.rejects(exportLog(store, file, quietly), {
    message: /^The log is not as it was signed /,
  });
});

void test('a file that is cut off, changed or of another format is refused, and nothing stored', async (t) => {
  const { file } = await exported(t);
  const whole = readFileSync(file);
  const bad = `${file}.bad`;
  const random = seededRandom();
  t.comment(`TEST_SEED=${random.seed}`);
  const refused = async (content: Buffer, message: RegExp, what: string): Promise<void> => {
    writeFileSync(bad, content);
    await t.rejects(openExport(bad, quietly), { name: 'UnusableArchive', message }, what);
  };
  for (let n = 0; n < 20; n += 1) {
    const length = random.integer(0, whole.length - 1);
    await refused(
      whole.subarray(0, length),
      /^is (cut off|empty|damaged)[^\n]+$/,
      `${length} bytes`,
    );
  }
  for (let n = 0; n < 40; n += 1) {
    const at = random.integer(0, whole.length - 1);
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ (1 << random.integer(0, 7));
    // The length of a block may point beyond the end; a changed time in a header is not damage.
    writeFileSync(bad, changed);
    const isHarmless = await openExport(bad, quietly).then(
      () => true,
      () => false,
    );
    if (isHarmless) t.same(gunzipSync(changed), gunzipSync(whole), `byte ${at} changes nothing`);
  }
  await refused(
    await encodeBlock(['{"pressledger":"event log","format":2,"id":"x"}']),
    /^is an exported log of format 2, and this release reads format 1: /,
    'format',
  );
  await refused(
    await encodeBlock(['{"a":1}']),
    /^is not an exported log of Pressledger\.$/,
    'foreign',
  );
  await refused(
    Buffer.from('%PDF-1.7'),
    /^is damaged: it does not begin as an export does\.$/,
    'no blocks',
  );
  copyFileSync(file, bad);
  const lines = gunzipSync(whole).toString().split('\n');
  const forged = lines.map((line) => line.replace('"amount":10', '"amount":99'));
  const blocks = [forged.slice(0, 1), forged.slice(1, -2), forged.slice(-2, -1)];
  const all = await Promise.all(blocks.map(encodeBlock));
  await refused(
    Buffer.concat(all),
    /^is damaged: its first \d+ events are not those that were signed\.$/,
    'forged',
  );
});

void test('an import goes on with its own file alone, and leaves other stores alone', async (t) => {
  const { file, store } = await exported(t);
  const other = `${file}.other`;
  await exportLog(store, other, quietly);
  const log = await openExport(file, quietly);
  const target = openStore(t, join(file, '../copied'));
  const append = target.appendCopies.bind(target);
  target.appendCopies = async (events) => {
    await append(events.slice(0, 7));
    throw new Error('killed');
  };
  await t.rejects(importLog(log, target, quietly), { message: 'killed' });
  target.appendCopies = append;
  t.match(await target.barrier(), { kind: 'incomplete', subject: `an exported log (${log.id})` });
  await t.rejects(importLog(await openExport(other, quietly), target, quietly), {
    message: /^The event store holds another copy that is not complete, of an exported log /,
  });
  t.strictSame(await importLog(log, target, quietly), { found: 7 });
  t.strictSame(await target.readAll(), await store.readAll());

  const used = openStore(t, join(file, '../used'));
  await used.append('account-1', newEvents(1), 'no-stream');
  await t.rejects(importLog(log, used, quietly), { message: /^The event store is not empty, / });
  t.equal((await used.readAll()).length, 1);
});

void test('an import whose store was used meanwhile is refused', async (t) => {
  const { file } = await exported(t);
  const log = await openExport(file, quietly);
  const target = openStore(t, join(file, '../copied'));
  await target.setBarrier({ kind: 'incomplete', subject: `an exported log (${log.id})` });
  await target.append('account-1', newEvents(1), 'no-stream');
  await t.rejects(importLog(log, target, quietly), {
    message: /^The event store holds another event of index 0: /,
  });
});
