/** The statement of a month: what it says, what it costs, and what the log has of it. */
import { test } from 'tap';
import { BASE, refusal, startApi } from '../support/api.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const HTML = { html: '<p>one</p>' };
const STATEMENTS = `${BASE}/usage/statements/`;

void test('a statement says what a month used, by whom, and which events prove it', async (t) => {
  const api = await startApi(t);
  const { id, key, email } = await api.newAccount({ credits: 10 });
  const headers = await bearerOf(api, email);
  const bob = await joined(api, headers, 'bob@example.com', 'member');
  const month = new Date(api.clock.time).toISOString().slice(0, 7);
  const ask = async (by: object) =>
    String((await api.call('POST', `${BASE}/pdf/`, { body: HTML, ...by })).body['id']);
  const [first, second, third] = [await ask({ key }), await ask({ key }), await ask(bob)];
  await api.complete(id, first ?? '', Buffer.from('%PDF-1.7 %%EOF'));
  await api.fail(id, second ?? '', 'x', 'timeout');
  await api.complete(id, third ?? '', Buffer.from('%PDF-1.7 %%EOF'));
  const last = await api.store.head();

  const post = (what: unknown, by: object = { key }) =>
    api.call('POST', STATEMENTS, { body: { month: what }, ...by });
  const invalid = { status: 400, error: 'validation_error', details: ['month'] };
  t.strictSame(refusal(await post(month)), invalid, 'it is not over');
  for (const wrong of ['2026-13', '2026', '9999-01', '1999-12', '../../a']) {
    t.strictSame(refusal(await post(wrong)), invalid, wrong);
  }
  api.clock.time += 40 * DAY_MS;
  // What comes later is not in it.
  await ask({ key });
  const credits = async () => (await api.call('GET', `${BASE}/account/`, { key })).body['credits'];
  const before = await credits();
  const made = await post(month);
  t.equal(made.status, 202);
  t.match(made.headers.get('location'), `${BASE}/conversions/${String(made.body['id'])}/`);
  t.equal(await credits(), before, 'it costs nothing');

  const requestOf = async (of: unknown) =>
    (await api.call('GET', `${BASE}/conversions/${String(of)}/request/`, { key })).text;
  const page = await requestOf(made.body['id']);
  const text = page.replace(/<\/t[dh]>/g, ' ').replace(/<[^>]*>/g, '');
  t.match(
    text,
    /Balance at the beginning 0 Granted \+10 Taken −3 Given back 0 Balance at the end 7/,
  );
  t.match(text, /Accepted 3 of these tests, which cost nothing 0 Completed 2/);
  t.match(text, /Failed or cancelled 1 by timeout 1/);
  t.match(text, /\(pk_live_[0-9A-Za-z]{4}…\) .* 2 Signed in Bob 1/);
  t.notMatch(text, 'Replaces');
  const places =
    /First position (\d+), .*Last position (\d+), number ([\d,]+) in.* (\d+) events, root/.exec(
      text,
    );
  t.equal(places?.[2], String(last), 'the last event of the month');
  t.ok(Number(places?.[4]) > Number(places?.[3]?.replace(',', '')), 'the checkpoint covers it');

  const again = await post(month);
  t.match(await requestOf(again.body['id']), `Replaces</th><td><code>${String(made.body['id'])}`);
  const events = await api.call('GET', `${BASE}/account/events/?type=StatementRequested`, { key });
  t.match(JSON.parse(events.text), [
    { data: { month, conversionId: again.body['id'], replaces: made.body['id'] } },
    {
      data: { month, conversionId: made.body['id'] },
      summary: `The statement of ${month} was requested.`,
    },
  ]);
  const found = await api.call('GET', `${BASE}/conversions/?tag=statement:${month}`, { key });
  t.equal(found.headers.get('x-total-count'), '2');
  const once = { key, headers: { 'Idempotency-Key': 'a statement' } };
  t.equal((await post(month, once)).text, (await post(month, once)).text, 'one for a key');
  const refused = await post(
    month,
    await joined(api, await bearerOf(api, email), 'c@example.com', 'auditor'),
  );
  t.strictSame(refusal(refused), { status: 403, error: 'forbidden', details: ['roles'] });
});

void test('the history is filtered by the person who acted, by a session or a key', async (t) => {
  const api = await startApi(t);
  const { key, email } = await api.newAccount();
  const bob = await joined(api, await bearerOf(api, email), 'bob@example.com', 'member');
  const made = await api.call('POST', `${BASE}/api-keys/`, { ...bob, body: { name: 'his' } });
  await api.call('POST', `${BASE}/pdf/`, { key: String(made.body['key']), body: HTML });
  await api.call('POST', `${BASE}/pdf/`, { key, body: HTML });
  const of = async (query: string) =>
    JSON.parse(
      (await api.call('GET', `${BASE}/account/events/?page_size=100&${query}`, { key })).text,
    ) as {
      readonly type: string;
      readonly actor: { readonly person?: string };
    }[];
  const his = await of(`person=${bob.id}`);
  t.strictSame(new Set(his.map(({ actor }) => actor.person)), new Set([bob.id]));
  const types = his.map(({ type }) => type);
  for (const type of ['MemberJoined', 'KeyCreated', 'ConversionRequested'])
    t.ok(types.includes(type), type);
  t.equal((await of(`person=${bob.id}&type=ConversionRequested`)).length, 1);
  const wrong = await api.call('GET', `${BASE}/account/events/?person=bob`, { key });
  t.strictSame(refusal(wrong), { status: 400, error: 'validation_error', details: ['person'] });
});
