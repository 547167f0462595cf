/** The command line answers as of an earlier moment. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { startApi } from '../support/api.ts';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { createPlace, type Place } from '../support/place.ts';

const ANN = 'ann@example.com';
const BOB = 'bob@example.com';

type Entry = { readonly type: string; readonly position: string; readonly time: string };

/** Two accounts: one is given credits, a plan and two keys, one of them revoked; then the other is opened. */
async function past(place: Place): Promise<readonly Entry[]> {
  const run = (...args: string[]) => cliJson(place, args);
  await run('account', 'create', ANN, '--credits', '5');
  const key = (await run('key', 'create', ANN, '--name', 'first')) as { id: string };
  await run('credits', 'grant', ANN, '7');
  await run('key', 'create', ANN, '--name', 'second');
  await run('key', 'revoke', key.id);
  await run('plan', 'set', ANN, 'pro');
  await run('account', 'create', BOB);
  return (await run('history', ANN)) as readonly Entry[];
}

void test('accounts, keys and the whole state as they were, without a service', async (t) => {
  const place = createPlace(t);
  const before = process.umask(0o022);
  t.teardown(() => process.umask(before));
  const history = await past(place);
  const at = (type: string, nth = 0) => history.filter((each) => each.type === type)[nth];
  const [granted, made, revoked] = [at('CreditGranted', 1), at('KeyCreated', 1), at('KeyRevoked')];
  const asOf = async (moment = '', ...args: string[]) =>
    (await cliJson(place, [...args, '--as-of', moment])) as Record<string, unknown>[];
  const namesAt = async (moment?: string) =>
    (await asOf(moment, 'key', 'list', ANN)).map(({ name }) => name);

  const opened = at('CreditGranted');
  t.match(await asOf(opened?.position, 'account', 'show', ANN), { plan: 'free', credits: 5 });
  t.match(await asOf(granted?.time, 'account', 'show', ANN), {
    email: ANN,
    plan: 'free',
    credits: 12,
    stored_bytes: 0,
  });
  t.match(await cliJson(place, ['account', 'show', ANN]), { plan: 'pro', credits: 12 });
  t.strictSame(await namesAt(granted?.position), ['first']);
  t.strictSame(
    await namesAt(made?.time),
    ['second', 'first'],
    'what is revoked now was valid then',
  );
  t.strictSame(await namesAt(revoked?.position), ['second']);
  const listed = await asOf(revoked?.position, 'account', 'list');
  t.match(listed, [{ email: ANN, credits: 12 }]);
  t.equal(listed.length, 1, 'the other was opened later');

  const file = join(place.tmpDir, 'state.json');
  const told = await cliJson(place, ['state', '--as-of', made?.position ?? '', '-o', file]);
  t.strictSame(told, { as_of: made?.position, file });
  const printed = await runCli(place, ['state', '--as-of', made?.position ?? '']);
  t.equal(printed.stderr, '');
  t.equal(printed.stdout, readFileSync(file, 'utf8'));
  t.match(JSON.parse(printed.stdout), {
    as_of: made?.position,
    accounts: [
      {
        email: ANN,
        plan: 'free',
        credits: 12,
        api_keys: [{ name: 'second' }, { name: 'first', last_used_at: null }],
        conversions: [],
        ledger: [
          { type: 'grant', amount: 7, balance: 12 },
          { type: 'grant', amount: 5, balance: 5 },
        ],
      },
    ],
  });
  const lines = await runCli(place, ['state', '--as-of', made?.time ?? '', '-o', file]);
  t.match(lines, { code: 0, stdout: `The state as of ${made?.time} is in ${file}.\n` });
  t.strictSame(readdirSync(place.tmpDir), ['state.json'], 'nothing else is left');
  t.equal(statSync(file).mode & 0o077, 0, 'it is for its owner alone');

  writeFileSync(file, 'what was there');
  const beyond = ['--as-of', '1000000'];
  await refuses(t, place, ['state', ...beyond, '-o', file], 2, /--as-of: Lies beyond the end/);
  t.equal(readFileSync(file, 'utf8'), 'what was there');
  await refuses(t, place, ['account', 'show', ANN, ...beyond], 2, /give a position up to \d+,/);
  const early = ['account', 'show', BOB, '--as-of', made?.position ?? ''];
  await refuses(t, place, early, 1, /There is no account for bob@example\.com yet at this moment/);
  await refuses(t, place, ['state', '--as-of', '1', '-o', place.tmpDir], 1, /is not a file/);
});

void test('as a client of a service', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount({ credits: 9 });
  const place = createPlace(t, { PRESSLEDGER_SERVER: api.origin, PRESSLEDGER_API_KEY: key });
  const created = await api.call('POST', '/api/v1/pdf/', { key, body: { html: '<p>x</p>' } });
  const id = String(created.body['id']);
  const before = String(await api.store.head());
  await api.complete(accountId, id, Buffer.from('%PDF-1.7 a file'));
  await api.call('POST', '/api/v1/pdf/', { key, body: { html: '<p>y</p>' } });
  await api.call('POST', '/api/v1/api-keys/', { key, body: { name: 'later' } });
  const asOf = (...args: string[]) => cliJson(place, [...args, '--as-of', before]);

  t.strictSame(await asOf('conversions', 'get', id), created.body);
  t.strictSame(await asOf('conversions', 'list'), [{ ...created.body, name: id }]);
  t.strictSame(await asOf('conversions', 'list', '--status', 'completed'), []);
  t.match(await asOf('keys', 'list'), [{ name: 'test' }]);
  t.equal(((await asOf('keys', 'list')) as object[]).length, 1);
  const usage = (await asOf('usage')) as { ledger: object[] };
  t.match(usage, { account: { credits: 8 }, ledger: [{ balance: 8 }, { balance: 9 }] });
  t.equal(usage.ledger.length, 2);
  t.match(await cliJson(place, ['usage']), { account: { credits: 7 } });
  const wrong = ['conversions', 'get', id, '--as-of', 'then'];
  await refuses(t, place, wrong, 2, /^pressledger: --as-of: Must be an ISO 8601 time/);
});
