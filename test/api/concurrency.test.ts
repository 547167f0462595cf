/** The last credit and one idempotency key, wanted by many at once: in one process and in two. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { type Answer, BASE, startApi } from '../support/api.ts';
import { cliJson } from '../support/cli.ts';
import { balanceOf, type LogEvent, readLog, violations } from '../support/invariants.ts';
import { race, tally } from '../support/race.ts';
import { Service, startService } from '../support/service.ts';

const MANY = 1000;
const CREDITS = 10;
const WITH_ONE_KEY = 100;
/** Clients and server share this process: what it is slow at must not look like a slow client. */
const PATIENCE = { headersMs: 240_000, requestMs: 240_000, checkMs: 1_000 };
const SPENT = { '202': CREDITS, '402 insufficient_credits': MANY - CREDITS };
/** Larger than what is kept as a row beside the events. */
const LARGE = `<p>${'x'.repeat(70_000)}</p>`;

const requestsOf = (log: readonly LogEvent[], accountId: string) =>
  log.filter(
    ({ type, stream }) => type === 'ConversionRequested' && stream === `account-${accountId}`,
  );

/** Requests' documents in a data directory: rows and files. */
function documents(dataDir: string): number {
  const db = new Sqlite(join(dataDir, 'pressledger.db'), { readonly: true });
  const count = `SELECT count(*) FROM blobs WHERE key LIKE '%/request-%'`;
  const rows = db.prepare<[], number>(count).pluck().get() ?? 0;
  db.close();
  const files = readdirSync(join(dataDir, 'blobs'), { recursive: true, encoding: 'utf8' });
  return rows + files.filter((path) => /(^|\/)request-/.test(path)).length;
}

void test('a thousand want the last ten credits', async (t) => {
  // A share for 70 MB of bodies at once, and as much room for others.
  const env = { MAX_ACCOUNT_BODIES_BYTES: '128000000', MAX_BODIES_BYTES: '256000000' };
  const api = await startApi(t, { env, timeouts: PATIENCE });
  for (const html of ['<p>x</p>', LARGE]) {
    const { id, key } = await api.newAccount({ credits: CREDITS });
    const before = documents(api.root);
    t.strictSame(tally(await race([api.origin], MANY, key, { html })), SPENT);
    t.equal(documents(api.root) - before, CREDITS, 'documents stored');
    const log = await api.log();
    t.equal(requestsOf(log, id).length, CREDITS);
    t.equal(balanceOf(log, id), 0);
    t.match((await api.call('GET', `${BASE}/account/`, { key })).body, { credits: 0 });
    t.strictSame(violations(log, { settled: false }), []);
  }
});

void test('a hundred come with one key', async (t) => {
  const api = await startApi(t, { timeouts: PATIENCE });
  const { id, key } = await api.newAccount({ credits: CREDITS });
  const headers = { 'Idempotency-Key': 'one' };
  const answers = await race([api.origin], WITH_ONE_KEY, key, { headers });
  once(t, answers);
  const log = await api.log();
  t.equal(requestsOf(log, id).length, 1);
  t.equal(balanceOf(log, id), CREDITS - 1);
  t.equal(documents(api.root), 1);
});

function once(t: Test, answers: Awaited<ReturnType<typeof race>>): void {
  t.strictSame(tally(answers), { '202': WITH_ONE_KEY });
  t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'byte for byte the same');
  t.equal(answers.filter(({ replayed }) => !replayed).length, 1, 'all but one are replays');
}

void test('two API processes on one store', async (t) => {
  const env = { FREE_CREDITS: '100', RATE_LIMIT_PRO: '1000000', LOG_LEVEL: 'error' };
  const first = await startService(t, env);
  const { place } = first;
  const second = new Service(place);
  t.teardown(() => second.kill());
  await second.start();
  const origins = [first.url, second.url];
  const account = async (email: string, credits: number) => {
    const line = ['account', 'create', '--email', email, '--plan', 'pro'];
    const made = await cliJson(place, [...line, '--credits', `${credits}`]);
    const { key } = (await cliJson(place, ['key', 'create', email, '--name', 'k'])) as {
      key: string;
    };
    return { id: (made as { id: string }).id, key };
  };

  const spender = await account('spender@example.com', CREDITS);
  t.strictSame(tally(await race(origins, MANY, spender.key)), SPENT);
  const repeater = await account('repeater@example.com', CREDITS);
  const headers = { 'Idempotency-Key': 'one' };
  once(t, await race(origins, WITH_ONE_KEY, repeater.key, { headers }));

  const log = readLog(place.dataDir);
  t.equal(requestsOf(log, spender.id).length, CREDITS);
  t.equal(balanceOf(log, spender.id), 0);
  t.equal(requestsOf(log, repeater.id).length, 1);
  t.equal(balanceOf(log, repeater.id), CREDITS - 1);
  t.equal(documents(place.dataDir), CREDITS + 1, 'documents stored');
  t.strictSame(violations(log, { settled: false }), []);

  await seenAtOnce(t, first, second);
  await second.stop();
});

/** What one process has answered holds on the other with its very next request. */
async function seenAtOnce(t: Test, first: Service, second: Service): Promise<void> {
  const { apiKey } = first.firstStart;
  for (const [here, there] of [
    [first, second],
    [second, first],
  ] as const) {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await here.client(apiKey).create({ html: '<p>x</p>' });
      t.equal((await there.client(apiKey).get(id)).id, id, 'a read after a write');
      const made = await here.client(apiKey).createKey('short-lived');
      const status = async (service: Service): Promise<Answer['status']> => {
        const headers = { 'X-API-Key': made.key };
        const answer = await fetch(`${service.url}${BASE}/account/`, { headers });
        await answer.body?.cancel();
        return answer.status;
      };
      t.equal(await status(there), 200, 'a new key');
      await here.client(apiKey).revokeKey(made.id);
      t.equal(await status(there), 401, 'a revoked key');
    }
  }
}
