import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'tap';
import type { ConversionOptions } from '../../client/src/types.ts';
import type { EventOf, PdfDigest } from '../../src/domain/events.ts';
import { newConversionId } from '../../src/ids.ts';
import { cliJson } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { balanceOf, readLog, violations } from '../support/invariants.ts';
import { seededRandom } from '../support/random.ts';
import { readModelRows } from '../support/read-model.ts';
import { type Service, startService } from '../support/service.ts';

const CONVERSIONS = 50;
const KILLS = 4;
const LONGEST_ROUND_MS = 2500;

interface Wanted {
  readonly key: string;
  readonly options: ConversionOptions;
  /** Once a 202 has come. */
  id?: string;
}

/** Every fifth one fails, so that refunds are killed too. */
function wanted(round: number): Wanted[] {
  return Array.from({ length: CONVERSIONS }, (_, n) => ({
    key: `round ${round}, ${n}`,
    options: {
      html: `<h1>Round ${round}</h1><p>Document ${n}</p>`,
      ...(n % 5 === 4 ? { page_ranges: '9' } : {}),
    },
  }));
}

/** Asks for all of them at once; what gets no answer is asked for again in the next round. */
async function submit(service: Service, all: readonly Wanted[]): Promise<void> {
  const client = service.client();
  await Promise.all(
    all.map(async (each) => {
      try {
        const { id } = await client.create(each.options, { idempotencyKey: each.key });
        if (each.id !== undefined && each.id !== id) throw new Error(`${each.key} has two ids`);
        each.id = id;
      } catch (error) {
        if (error instanceof Error && error.name === 'PressledgerUnreachable') return;
        throw error;
      }
    }),
  );
}

void test('SIGKILL at any moment loses nothing and doubles nothing', async (t) => {
  const random = seededRandom();
  t.comment(`TEST_SEED=${random.seed} repeats this run`);
  const service = await startService(t, {
    FREE_CREDITS: '100000',
    RATE_LIMIT_PRO: '1000000',
    RENDER_CONCURRENCY: '2',
  });
  const { dataDir } = service.place;
  const all: Wanted[] = [];

  for (let round = 0; round < KILLS; round += 1) {
    all.push(...wanted(round));
    const after = random.integer(0, LONGEST_ROUND_MS);
    const killed = pause(after).then(() => service.kill());
    await submit(service, all);
    t.match(await killed, { signal: 'SIGKILL' }, `killed after ${after} ms`);
    t.strictSame(violations(readLog(dataDir), { settled: false }), [], 'the log is whole');
    await service.start();
  }
  await submit(service, all);
  t.equal(all.filter(({ id }) => id === undefined).length, 0, 'every request got its 202');
  t.equal(new Set(all.map(({ id }) => id)).size, all.length, 'one conversion for each key');

  const client = service.client();
  const pdfs = new Map<string, PdfDigest>();
  const records = await Promise.all(all.map(({ id = '' }) => client.wait(id)));
  const refunds = () => violations(readLog(dataDir), { settled: true }).length === 0 || undefined;
  await eventually('every refund', refunds).catch(() => {});
  const log = readLog(dataDir);
  t.strictSame(violations(log, { settled: true }), []);
  for (const { type, data } of log) {
    if (type !== 'ConversionCompleted') continue;
    const { conversionId, pdf } = JSON.parse(data) as EventOf<'ConversionCompleted'>['data'];
    pdfs.set(conversionId, pdf);
  }
  t.equal(log.filter(({ type }) => type === 'ConversionRequested').length, all.length);
  for (const [n, record] of records.entries()) {
    const failing = all[n]?.options.page_ranges !== undefined;
    t.equal(record.status, failing ? 'failed' : 'completed', all[n]?.key ?? '');
    if (record.status !== 'completed') continue;
    const file = await buffer(await client.download(record));
    const hash = createHash('sha256').update(file).digest('hex');
    t.strictSame({ sha256: hash, bytes: file.length }, pdfs.get(record.id), record.id);
    t.ok(file.subarray(0, 5).equals(Buffer.from('%PDF-')) && file.includes('%%EOF'), 'it is a PDF');
  }
  const [{ data: opened } = { data: '{}' }] = log.filter(({ type }) => type === 'AccountOpened');
  const { accountId } = JSON.parse(opened) as { accountId: string };
  const shown = await cliJson(service.place, ['account', 'show', service.firstStart.email]);
  t.match(shown, { credits: balanceOf(log, accountId) }, 'the read model counts the same credits');

  const create = ['key', 'create', service.firstStart.email, '--name', 'short-lived'];
  const key = (await cliJson(service.place, create)) as { id: string; key: string };
  t.equal((await service.client(key.key).get(all[0]?.id ?? '')).status, 'completed');
  await cliJson(service.place, ['key', 'revoke', key.id]);
  await service.kill();
  await service.start();
  await t.rejects(service.client(key.key).get(all[0]?.id ?? ''), { code: 'unauthorized' });

  t.match(await service.stop(), { code: 0, signal: null });
  t.strictSame(await service.leftovers(), []);
  const live = readModelRows(dataDir);
  rmSync(join(dataDir, 'read-model'), { recursive: true });
  await cliJson(service.place, ['projections', 'rebuild']);
  t.strictSame(readModelRows(dataDir), live, 'what is rebuilt equals what was live');
});

void test('a start deletes what a crash left in the blob store, and nothing else', async (t) => {
  const service = await startService(t);
  const html = `<p>kept</p><!--${'x'.repeat(100_000)}-->`;
  const { id } = await service.client().create({ html });
  t.match(await service.client().wait(id), { status: 'completed' });
  await service.kill();
  const blobs = join(service.place.dataDir, 'blobs');
  const left = (conversionId: string): string => {
    const directory = join(blobs, conversionId.slice(-2), conversionId);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `request-${'0'.repeat(64)}`), 'of a request without its event');
    return directory;
  };
  const old = left(newConversionId(Date.now() - 60 * 60 * 1000));
  const young = left(newConversionId(Date.now()));
  await service.start();
  await eventually('the deletion', () => (existsSync(old) ? undefined : true));
  t.ok(existsSync(young), 'its event might be on its way');
  const client = service.client();
  const file = await buffer(await client.download(await client.get(id)));
  t.ok(file.subarray(0, 5).equals(Buffer.from('%PDF-')));
  t.equal(readdirSync(join(blobs, id.slice(-2), id)).length, 2, 'its request and its PDF');
  t.match(await service.stop(), { code: 0 });
});
