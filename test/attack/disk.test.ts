/** One account fills the disk: by conversions that fail and cost nothing, and by ones that it pays for. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import { startRetention } from '../../src/process-managers/retention.ts';
import { type Api, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { balanceOf, readLog, violations } from '../support/invariants.ts';
import { DAY_MS } from '../support/samples.ts';
import { type Service, startService } from '../support/service.ts';

const MiB = 2 ** 20;

/** The place that documents take: files (but for the one that names the log), rows, and all pages of the database. */
function stored(dataDir: string) {
  const root = join(dataDir, 'blobs');
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  const db = new Sqlite(join(dataDir, 'pressledger.db'), { readonly: true });
  const number = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0;
  try {
    return {
      fileBytes: files
        .filter((each) => each.isFile() && each.parentPath !== root)
        .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0),
      rows: number('SELECT count(*) FROM blobs'),
      databaseBytes: number('PRAGMA page_count') * number('PRAGMA page_size'),
    };
  } finally {
    db.close();
  }
}

/** The attack: pages that cannot be printed, with a comment of that many bytes. Ends when all is over. */
async function failMany(service: Service, count: number, bytes: number): Promise<void> {
  const client = service.client();
  const html = `<p>x</p><!--${'x'.repeat(bytes)}-->`;
  for (let n = 0; n < count; n += 1) {
    const { id } = await client.create({ html, page_ranges: '9999' });
    const record = await client.wait(id);
    if (record.status !== 'failed') throw new Error(`${id} is ${record.status}.`);
  }
  const { dataDir } = service.place;
  const ended = (type: string) => readLog(dataDir).filter((event) => event.type === type).length;
  await eventually(
    'deletion and refund of each',
    () =>
      ['ConversionExpired', 'CreditRefunded'].every(
        (type) => ended(type) === ended('ConversionFailed'),
      ) || undefined,
  );
}

void test('failed conversions leave no documents on the disk', async (t) => {
  const service = await startService(t, {
    RATE_LIMIT_PRO: '100000',
    FAILED_RETENTION_SECONDS: '0',
  });
  const { dataDir } = service.place;
  const before = stored(dataDir);
  await failMany(service, 6, 5_000_000);
  const after = stored(dataDir);
  t.match(after, { fileBytes: 0, rows: 0 });
  t.ok(after.databaseBytes - before.databaseBytes < MiB / 2, 'large ones are not rows');

  // Small ones are rows: the pages of deleted ones are used again.
  await failMany(service, 30, 60_000);
  const first = stored(dataDir);
  await failMany(service, 30, 60_000);
  const second = stored(dataDir);
  t.match(second, { fileBytes: 0, rows: 0 });
  t.ok(second.databaseBytes - first.databaseBytes < MiB / 2, 'less than a third of what was sent');

  const log = readLog(dataDir);
  t.strictSame(violations(log, { settled: true }), []);
  const [account] = log.filter(({ type }) => type === 'AccountOpened');
  const { accountId } = JSON.parse(account?.data ?? '{}') as { accountId: string };
  t.equal(balanceOf(log, accountId), 100, 'it cost nothing');
});

void test('what waits at the same time stores no more than the account may', async (t) => {
  const quota = 60_000;
  const env = { MAX_ACCOUNT_STORED_BYTES: String(quota), RENDER_CONCURRENCY: '1' };
  const service = await startService(t, { ...env, RATE_LIMIT_PRO: '100000' });
  const client = service.client();
  // All others are accepted while it waits: of none is the size known.
  const slow = await client.create({ html: '<h1>x</h1>', wait_for: { delay_ms: 5000 } });
  const ids = [slow.id];
  for (let n = 0; n < 9; n += 1) ids.push((await client.create({ html: '<h1>x</h1>' })).id);
  const records = await Promise.all(ids.map((id) => client.wait(id)));
  const failed = records.filter(({ status }) => status === 'failed');
  t.ok(failed.length > 0 && failed.length < records.length);
  for (const { error_message: text } of failed) t.match(text, /of the 60000 that it may store/);
  const log = await eventually('deletion and refund of each', () => {
    const events = readLog(service.place.dataDir);
    const count = (type: string) => events.filter((event) => event.type === type).length;
    return count('ConversionExpired') + count('CreditRefunded') === 2 * failed.length
      ? events
      : undefined;
  });
  t.strictSame(violations(log, { settled: true }), []);
  t.ok(stored(service.place.dataDir).fileBytes <= quota);
});

const QUOTA = 100_000;

async function post(api: Api, key: string, bytes: number) {
  const body = JSON.stringify({ html: `<p>${'x'.repeat(bytes)}</p>` });
  const answer = await api.call('POST', '/api/v1/pdf/', { key, body });
  await api.runner.waitFor(await api.store.head());
  return answer;
}

void test('an account stores what it may and no more, and others go on', async (t) => {
  const env = { MAX_ACCOUNT_STORED_BYTES: String(QUOTA), MAX_BODY_BYTES: '60000' };
  const api = await startApi(t, { env });
  const [greedy, other] = [await api.newAccount(), await api.newAccount()];
  const room = { status: 429, error: 'rate_limit_exceeded' };
  const first = await post(api, greedy.key, 50_000);
  t.equal(first.status, 202);
  const refused = await post(api, greedy.key, 50_000);
  t.strictSame(refusal(refused), room);
  t.match(refused.headers.get('retry-after'), /^[1-9][0-9]*$/);
  t.match(refused.body['message'], /50\d\d\d of the 100000 bytes .* retention .* operator/);
  t.equal((await post(api, greedy.key, 20_000)).status, 202, 'a smaller one has room');
  t.equal((await post(api, other.key, 50_000)).status, 202, 'another account is not affected');

  // A PDF counts as well, and no room is left for the smallest request.
  await api.complete(greedy.id, String(first.body['id']), Buffer.alloc(30_000));
  await api.runner.waitFor(await api.store.head());
  t.strictSame(refusal(await post(api, greedy.key, 10)), room);
  const log = await api.log();
  t.equal(log.filter(({ type }) => type === 'ConversionRequested').length, 3);
  t.equal(balanceOf(log, greedy.id), 98, 'what is refused costs nothing');
  t.equal(api.budgets.get('maxAccountStoredBytes').count().refused, 2);

  const retention = startRetention({
    ...api,
    retentionSeconds: (7 * DAY_MS) / 1000,
    failedRetentionSeconds: 0,
  });
  t.teardown(() => retention.stop());
  api.clock.time += 8 * DAY_MS;
  retention.wake();
  const accepted = await eventually('room', async () => {
    const answer = await post(api, greedy.key, 50_000);
    return answer.status === 202 ? answer : undefined;
  });
  t.ok(accepted, 'room again, when the retention has ended');
});

void test('a failed conversion takes no room for long', async (t) => {
  const env = { MAX_ACCOUNT_STORED_BYTES: String(QUOTA), MAX_BODY_BYTES: '60000' };
  const api = await startApi(t, { env });
  const { id: accountId, key } = await api.newAccount();
  const retention = startRetention({
    ...api,
    retentionSeconds: (7 * DAY_MS) / 1000,
    failedRetentionSeconds: 0,
  });
  t.teardown(() => retention.stop());
  for (let n = 0; n < 3; n += 1) {
    const answer = await eventually('room', async () => {
      const tried = await post(api, key, 55_000);
      return tried.status === 202 ? tried : undefined;
    });
    await api.fail(accountId, String(answer.body['id']), 'It failed.');
  }
  t.equal(balanceOf(await api.log(), accountId), 97, 'refunds are not under test here');
});

void test('requests at once pass the limit by no more than are under way', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_STORED_BYTES: String(QUOTA) } });
  const { id: accountId, key } = await api.newAccount();
  const AT_ONCE = 8;
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => post(api, key, 30_000)));
  }
  const requests = (await api.log()).filter(({ type }) => type === 'ConversionRequested');
  t.ok(requests.length >= 3 && requests.length <= 2 + AT_ONCE, `${requests.length} accepted`);
  t.equal(balanceOf(await api.log(), accountId), 100 - requests.length);
});

void test('a body of unknown length counts as the largest one', async (t) => {
  const env = { MAX_ACCOUNT_STORED_BYTES: String(QUOTA), MAX_BODY_BYTES: '60000' };
  const api = await startApi(t, { env });
  const { key } = await api.newAccount();
  t.equal((await post(api, key, 45_000)).status, 202);
  const body = JSON.stringify({ html: '<p>small</p>' });
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(body));
      controller.close();
    },
  });
  const chunked = await fetch(`${api.origin}/api/v1/pdf/`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: stream,
    duplex: 'half',
  });
  t.equal(chunked.status, 429);
  await chunked.body?.cancel();
  t.equal((await post(api, key, 10)).status, 202);
});
