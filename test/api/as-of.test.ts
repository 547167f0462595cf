/** Each answer as of a moment is the answer that was given at that moment. */
import { test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { refundsDueQueries } from '../../projections/refunds-due.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import { type Answer, type Api, BASE, refusal, startApi } from '../support/api.ts';
import { type Random, seededRandom } from '../support/random.ts';

type Account = Awaited<ReturnType<Api['newAccount']>>;

const PDF = Buffer.from('%PDF-1.7 a file of this test');
const STEPS = 40;

/** An answer without what a repetition makes again: links, and `as_of` in the addresses of pages. */
function told({ status, headers, text }: Answer): object {
  return {
    status,
    body: JSON.parse(text.replaceAll(/(?<=token=)[^"]+/g, '')) as unknown,
    total: headers.get('x-total-count'),
    pages: headers
      .get('link')
      ?.replaceAll(/&?as_of=[^&>]*/g, '')
      .replaceAll('?&', '?'),
  };
}

/** One thing that may happen to an account. */
async function happen(api: Api, random: Random, account: Account, made: string[]) {
  const { id: accountId, key } = account;
  const integer = (min: number, max: number) => random.integer(min, max);
  const of = { renderer: 'test', delivery: `d${made.length}${integer(1, 1e9)}` };
  const conversionId = made[integer(0, made.length - 1)] ?? '';
  const send = (type: 'StartConversion' | 'RequeueConversion' | 'ExpireConversion') => {
    const command = { type, accountId, conversionId, at: api.clock.now(), ...of };
    return api.actors.send(conversionAggregate, conversionId, command, api.context());
  };
  const operate = (
    command:
      | { type: 'GrantCredits'; amount: number; now: number }
      | { type: 'ChangePlan'; plan: 'pro' | 'free' },
  ) => api.actors.send(accountAggregate, accountId, { accountId, ...command }, api.context());
  switch (made.length === 0 ? 0 : integer(0, 10)) {
    case 0:
    case 1:
    case 2: {
      const body = { html: '<p>x</p>' };
      const answer = await api.call('POST', `${BASE}/pdf/`, { key, body });
      made.push(String(answer.body['id']));
      return;
    }
    case 3:
      return void (await send('StartConversion'));
    case 4:
      return void (await send('ExpireConversion'));
    case 5:
      return await api.complete(accountId, conversionId, PDF, ['An image is missing.']);
    case 6:
      return await api.fail(accountId, conversionId, 'The page took too long.');
    case 7: {
      await api.runner.waitFor(await api.store.head());
      const [due] = api.readModel.query(refundsDueQueries).next(1);
      if (due === undefined) return;
      const { accountId: owner, conversionId: failed, failure, position: failedAt } = due;
      const refund = {
        type: 'RefundConversion',
        accountId: owner,
        conversionId: failed,
        failure,
        failedAt,
      } as const;
      return void (await api.actors.send(accountAggregate, owner, refund, api.context()));
    }
    case 8:
      return void (await operate({
        type: 'GrantCredits',
        amount: integer(1, 5),
        now: api.clock.now(),
      }));
    case 9:
      return void (await operate({
        type: 'ChangePlan',
        plan: integer(0, 1) === 0 ? 'pro' : 'free',
      }));
    default: {
      const answer = await api.call('POST', `${BASE}/api-keys/`, {
        key,
        body: { name: 'another' },
      });
      if (integer(0, 1) === 0) {
        await api.call('DELETE', `${BASE}/api-keys/${String(answer.body['id'])}/`, { key });
      }
    }
  }
}

const withMoment = (path: string, moment: string) =>
  `${path}${path.includes('?') ? '&' : '?'}as_of=${encodeURIComponent(moment)}`;

const MINUTE_MS = 60_000;

/** Waits until the use of the key is recorded, which the first answer of a minute does not wait for. */
async function useRecorded(api: Api, { key, keyId }: Account): Promise<void> {
  for (;;) {
    const { text } = await api.call('GET', `${BASE}/api-keys/?page_size=100`, { key });
    const keys = JSON.parse(text) as { id: string; last_used_at: string | null }[];
    const used = keys.find(({ id }) => id === keyId)?.last_used_at ?? '';
    if (api.clock.time - Date.parse(used) < MINUTE_MS) return;
  }
}

void test('at each position of a history, the answers are those that were given then', async (t) => {
  const random = seededRandom();
  t.comment(`TEST_SEED=${random.seed}`);
  const api = await startApi(t, { env: { RATE_LIMIT_FREE: '100000' } });
  const accounts = [await api.newAccount({ credits: 8 }), await api.newAccount({ credits: 8 })];
  const made: string[][] = [[], []];
  const kept: { key: string; path: string; head: string; time: string; answer: object }[] = [];

  for (let step = 0; step < STEPS; step += 1) {
    api.clock.time += random.integer(1, 40_000);
    const who = random.integer(0, 1);
    const [account, ids] = [accounts[who], made[who]];
    if (account === undefined || ids === undefined) throw new Error('There are two accounts.');
    await happen(api, random, account, ids);
    await useRecorded(api, account);
    const { key } = account;
    const [head, time] = [String(await api.store.head()), new Date(api.clock.time).toISOString()];
    const touched = ids[random.integer(0, ids.length - 1)];
    const paths = [
      '/account/',
      '/account/ledger/?page_size=3&page=2',
      '/account/events/?page_size=3&page=2',
      '/account/events/?type=ConversionRequested',
      '/api-keys/',
      '/conversions/?page_size=2',
      `/conversions/?status=${random.integer(0, 1) === 0 ? 'failed' : 'completed'}`,
      ...(touched === undefined ? [] : [`/conversions/${touched}/`]),
    ];
    for (const path of paths.map((each) => BASE + each)) {
      kept.push({ key, path, head, time, answer: told(await api.call('GET', path, { key })) });
    }
    t.equal(String(await api.store.head()), head, 'nothing happened while they were read');
  }

  api.clock.time += 1;
  for (const { key, path, head, time, answer } of kept) {
    for (const moment of [head, time]) {
      const again = await api.call('GET', withMoment(path, moment), { key });
      t.strictSame(told(again), answer, `${path} as of ${moment}`);
      const position = again.headers.get('pressledger-as-of') ?? '';
      t.ok(BigInt(position) <= BigInt(head));
      const repeated = await api.call('GET', withMoment(path, position), { key });
      t.strictSame(told(repeated), answer, `${path} as of ${position}, which ${moment} stands for`);
    }
  }

  for (const { type, data, position } of await api.store.readAll({ limit: 10_000 })) {
    if (type !== 'ConversionRequested') continue;
    const { conversionId } = data as { conversionId: string };
    const path = `${BASE}/conversions/${conversionId}/`;
    const [own, other] = made[0]?.includes(conversionId) ? accounts : accounts.toReversed();
    const statusOf = async (key: string, moment: bigint) =>
      (await api.call('GET', withMoment(path, String(moment)), { key })).status;
    t.equal(await statusOf(own?.key ?? '', position), 200);
    t.equal(await statusOf(own?.key ?? '', position - 1n), 404, 'it was requested later');
    t.equal(await statusOf(other?.key ?? '', position), 404, "it is another account's");
  }
});

void test('the client gives the moment as a time or a position', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount({ credits: 9 });
  const client = new PressledgerClient({ server: api.origin, apiKey: key });
  const { id } = await client.create({ html: '<p>x</p>' });
  const position = String(await api.store.head());
  const time = new Date(api.clock.time);
  api.clock.time += 1000;
  await client.create({ html: '<p>y</p>' });
  await client.createKey('later');
  t.equal((await client.account()).credits, 7);
  for (const asOf of [position, time, time.toISOString()]) {
    t.equal((await client.account({ asOf })).credits, 8);
    t.equal((await client.get(id, { asOf })).id, id);
    t.equal((await client.listLedger({ asOf, pageSize: 1 })).total, 2);
    const ids: string[] = [];
    for await (const record of client.conversions({ asOf, pageSize: 1 })) ids.push(record.id);
    t.strictSame(ids, [id]);
    t.equal((await client.listKeys({ asOf })).total, 1);
  }
});

void test('a moment that cannot be asked for is told', async (t) => {
  const api = await startApi(t);
  const before = new Date(api.clock.time - 1).toISOString();
  const { key } = await api.newAccount();
  const ask = (path: string, moment: string) =>
    api.call('GET', withMoment(BASE + path, moment), { key });
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const conversion = `/conversions/${String(created.body['id'])}/`;
  const lists = ['/account/ledger/', '/account/events/', '/api-keys/', '/conversions/'];

  const beyond = String((await api.store.head()) + 1n);
  const future = new Date(api.clock.time + 1).toISOString();
  const wrong: readonly (readonly [moment: string, problem: RegExp])[] = [
    ['', /^Must be an ISO 8601 time with its offset, such as .* or a position/],
    ['yesterday', /^Must be an ISO/],
    ['2026-11-21', /^Must be an ISO/],
    ['2026-11-21T08:15:30', /^Must be an ISO/],
    ['2026-13-40T08:15:30Z', /^Must be an ISO/],
    ['-1', /^Must be an ISO/],
    ['1.5', /^Must be an ISO/],
    ['9'.repeat(31), /^Must be an ISO/],
    ['9'.repeat(30), /^Lies beyond the end of the log: give a position up to \d+, or a time\.$/],
    [beyond, /^Lies beyond the end of the log/],
    [future, /^Lies in the future: give a time up to /],
    ['2999-01-01T00:00:00+01:00', /^Lies in the future/],
  ];
  for (const path of ['/account/', conversion, ...lists]) {
    for (const [moment, problem] of wrong) {
      const answer = await ask(path, moment);
      t.match(refusal(answer), { status: 400, error: 'validation_error', details: ['as_of'] });
      const { details } = answer.body as { details: { as_of: string[] } };
      t.match(details.as_of[0], problem, `${path} as of ${moment}`);
    }
    const twice = await api.call('GET', `${BASE}${path}?as_of=1&as_of=2`, { key });
    t.match(refusal(twice), { status: 400, details: ['as_of'] });
  }
  const all = await api.call('GET', `${BASE}/conversions/?as_of=x&page=0&status=x`, { key });
  t.match(refusal(all), { details: ['as_of', 'page', 'status'] }, 'with whatever else is wrong');

  for (const moment of ['0', before]) {
    t.match(refusal(await ask('/account/', moment)), { status: 404, error: 'not_found' });
    t.match(refusal(await ask(conversion, moment)), { status: 404, error: 'not_found' });
    for (const path of lists) {
      const answer = await ask(path, moment);
      t.match(answer, { status: 200, text: '[]' }, 'there was nothing yet');
      t.equal(answer.headers.get('pressledger-as-of'), '0');
    }
  }
  const now = new Date(api.clock.time).toISOString();
  t.equal((await ask('/account/', now)).status, 200, 'this very moment is not the future');
  t.equal(
    (await api.call('GET', `${BASE}${conversion}`, { key })).headers.get('pressledger-as-of'),
    null,
  );
  const waiting = { key, headers: { Prefer: 'wait=30' } };
  const past = await api.call('GET', withMoment(BASE + conversion, now), waiting);
  t.match(past, { status: 200, body: { status: 'pending' } });
  t.equal(past.headers.get('preference-applied'), null, 'the past waits for nothing');
});

void test('an answer from more events than the budget allows is refused, and says what to do', async (t) => {
  const api = await startApi(t, { env: { MAX_LOOK_BACK_EVENTS: '4' } });
  const { key } = await api.newAccount();
  const ids: string[] = [];
  for (let made = 0; made < 4; made += 1) {
    const answer = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
    ids.push(String(answer.body['id']));
  }
  const head = String(await api.store.head());
  const ask = (path: string) => api.call('GET', withMoment(BASE + path, head), { key });
  for (const path of ['/account/', '/account/ledger/']) {
    const answer = await ask(path);
    t.match(refusal(answer), { status: 400, error: 'validation_error', details: ['as_of'] });
    t.ok(
      String(answer.body['message']).endsWith(`pressledger state --as-of ${head} -o state.json`),
      'it names the way',
    );
  }
  t.equal((await ask('/conversions/')).headers.get('x-total-count'), '4', 'it counts what matters');
  t.equal((await ask(`/conversions/${ids[3]}/`)).status, 200);
  const counts = api.budgets.counts();
  t.match(
    counts.find(({ name }) => name === 'maxLookBackEvents'),
    { refused: 2 },
  );
});
