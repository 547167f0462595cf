/** An account follows its conversions over real HTTP: live, after a cut, and no longer than its credential holds. */
import { test } from 'tap';
import { BASE, PASSWORD, refusal } from '../support/api.ts';
import { countListeners, PDF, startWithConversion } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { accept, bearerOf, invite, joined } from '../support/every-people-answer.ts';
import { openEventStream, type StreamEvent } from '../support/event-stream.ts';

const PATH = `${BASE}/conversions/stream/`;

const ended = (id: string) => (event: StreamEvent) =>
  event.data['id'] === id && ['completed', 'failed'].includes(String(event.data['status']));

void test('changes as they happen, and those of no other account', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const stranger = await api.newAccount();
  const stream = await openEventStream(t, api.origin + PATH, { 'X-API-Key': key });
  t.equal(stream.response.status, 200);
  t.match(Object.fromEntries(stream.response.headers), {
    'content-type': /^text\/event-stream/,
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  const body = { html: '<p>x</p>' };
  const foreign = await api.call('POST', `${BASE}/pdf/`, { key: stranger.key, body });
  const id = await api.create();
  t.match(await stream.next(), { event: 'conversion', data: { id, status: 'pending' } });
  await api.complete(stranger.id, String(foreign.body['id']), PDF);
  await api.complete(accountId, id, PDF);
  const [completed] = await stream.until(ended(id));
  const { file_url: link, ...record } = (await api.get(id)).body;
  t.match(completed?.data, record);
  t.match(completed?.data['file_url'], String(link).split('?')[0]);
  const failing = await api.create();
  await api.fail(accountId, failing, 'The page took too long.');
  const events = await stream.until(ended(failing));
  t.ok(
    events.every(({ data }) => data['id'] === failing),
    'nothing of the other account',
  );
  t.match(events.at(-1)?.data, { failure_code: 'timeout' });
});

void test('a stream that was cut goes on without a gap and without a repeat', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const open = (id?: string) =>
    openEventStream(t, api.origin + PATH, {
      'X-API-Key': key,
      ...(id !== undefined && { 'Last-Event-ID': id }),
    });
  const first = await open();
  const seen = await api.create();
  await first.until(({ data }) => data['id'] === seen);
  first.cut();
  const missed: string[] = [];
  for (let n = 0; n < 5; n += 1) missed.push(await api.create());
  await api.complete(accountId, missed[0] ?? '', PDF);
  const second = await open(first.lastId());
  const events = await second.until(ended(missed[0] ?? ''));
  t.strictSame(
    events.map(({ data }) => data['id']),
    [...missed.slice(1), missed[0]],
    'each conversion once, by its last change',
  );
  const positions = events.map(({ id }) => BigInt(id));
  t.ok(
    positions.every((each, n) => n === 0 || each > (positions[n - 1] ?? 0n)),
    'in the order of the log',
  );
  const third = await open(second.lastId());
  const later = await api.create();
  t.match(await third.next(), { data: { id: later } }, 'nothing is repeated');

  const quiet = await open();
  const idle = quiet.next();
  const next = await api.create();
  t.match(await idle, { data: { id: next } }, 'it begins with the next change');
  const beyond = await open('999999999999');
  t.match(await beyond.next(), { event: 'reset', data: {} }, 'a position of another log');
  const resumed = await open(beyond.lastId());
  const last = await api.create();
  t.match(await resumed.next(), { data: { id: last } });
});

void test('a stream ends when its credential does', async (t) => {
  const api = await startWithConversion(t);
  const { email, key, keyId } = api.account;
  const open = (headers: Readonly<Record<string, string>>) =>
    openEventStream(t, api.origin + PATH, headers);
  const signIn = async () => {
    const credentials = { body: { email, password: PASSWORD } };
    const { body } = await api.call('POST', `${BASE}/auth/jwt/create/`, credentials);
    return { access: String(body['access']), refresh: String(body['refresh']) };
  };
  const [out, late] = [await signIn(), await signIn()];
  const signedOut = await open({ Authorization: `Bearer ${out.access}` });
  const expiring = await open({ Authorization: `Bearer ${late.access}` });
  const byKey = await open({ 'X-API-Key': key });
  await api.call('POST', `${BASE}/auth/jwt/revoke/`, { body: { refresh: out.refresh } });
  t.equal(await signedOut.next(), undefined, 'sign-out');
  api.clock.time += 6 * 60 * 1000;
  const other = await api.newAccount();
  const foreign = await open({ 'X-API-Key': other.key });
  await api.call('DELETE', `${BASE}/api-keys/${keyId}/`, { key });
  t.equal(await byKey.next(), undefined, 'a revoked key');
  t.equal(await expiring.next(), undefined, 'an expired token');
  await eraseAccount(api, other.id, api.context());
  t.equal(await foreign.next(), undefined, 'an erased account');
});

void test('a stream shows no more than the role that its holder has now, and ends with the membership', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, email } = api.account;
  const owner = await bearerOf(api, email);
  const bob = await joined(api, owner, 'bob@example.com', 'member');
  const body = { name: 'of Bob' };
  const made = await api.call('POST', `${BASE}/api-keys/`, { headers: bob.headers, body });
  const opened = [bob.headers, { 'X-API-Key': String(made.body['key']) }].map((headers) =>
    openEventStream(t, api.origin + PATH, headers),
  );
  const streams = await Promise.all(opened);
  const linksOf = async (id: string) => {
    const found = await Promise.all(streams.map((stream) => stream.until(ended(id))));
    return found.map((events) => 'file_url' in (events.at(-1)?.data ?? {}));
  };
  const completed = async () => {
    const id = await api.create();
    await api.complete(accountId, id, PDF);
    return id;
  };
  t.strictSame(await linksOf(await completed()), [true, true]);
  const member = `${BASE}/account/members/${bob.id}/`;
  await api.call('PATCH', member, { headers: owner, body: { role: 'auditor' } });
  t.strictSame(await linksOf(await completed()), [false, false], 'an auditor has no links');
  await api.call('DELETE', member, { headers: owner });
  await api.create();
  const after = await Promise.all(streams.map((stream) => stream.next()));
  t.strictSame(after, [undefined, undefined], 'nothing after the removal');
});

void test('a stream in one account ends with a password that was changed in another', async (t) => {
  const api = await startWithConversion(t);
  const other = await api.newAccount();
  const owner = await bearerOf(api, api.account.email);
  const password = { name: 'Two', password: PASSWORD };
  await accept(api, await invite(api, owner, other.email, 'member'), password);
  const headers = await bearerOf(api, other.email, { account: api.account.id });
  const stream = await openEventStream(t, api.origin + PATH, headers);
  const body = { current_password: PASSWORD, new_password: 'another long password' };
  const home = await bearerOf(api, other.email);
  const changed = await api.call('POST', `${BASE}/account/password/`, { headers: home, body });
  t.equal(changed.status, 204);
  await api.create();
  t.equal(await stream.next(), undefined);
});

void test('streams are bounded, cost nothing when closed, and end with the server', async (t) => {
  const env = { MAX_ACCOUNT_STREAMS: '2', MAX_STREAMS: '3' };
  const api = await startWithConversion(t, { env });
  const listeners = countListeners(api.runner);
  const other = await api.newAccount();
  const open = (key = api.account.key) =>
    openEventStream(t, api.origin + PATH, { 'X-API-Key': key });
  const [first] = [await open(), await open()];
  const tooMany = await api.call('GET', PATH, { key: api.account.key });
  t.strictSame(refusal(tooMany), { status: 429, error: 'rate_limit_exceeded' });
  t.equal(tooMany.headers.get('retry-after'), '5');
  const third = await open(other.key);
  const full = await api.call('GET', PATH, { key: other.key });
  t.strictSame(refusal(full), { status: 503, error: 'service_unavailable' });
  const head = await api.call('HEAD', PATH, { key: other.key });
  t.equal(head.status, 200, 'a look at the headers is not a stream');
  await listeners.reached(1);
  const used = () => api.budgets.counts().find(({ name }) => name === 'maxStreams')?.used;
  t.equal(used(), 3);
  first.cut();
  await eventually('the end of the first', () => used() === 2 || undefined);
  const again = await open();
  t.equal(used(), 3);
  api.endWaiting();
  t.equal(await again.next(), undefined, 'the server closes');
  t.equal(await third.next(), undefined);
  await listeners.reached(0);
});

void test('a request for a stream that is not understood', async (t) => {
  const api = await startWithConversion(t);
  const { key } = api.account;
  const wrong = await api.call('GET', PATH, { key, headers: { 'Last-Event-ID': 'conv_1' } });
  const expected = { status: 400, error: 'validation_error' };
  t.strictSame(refusal(wrong), { ...expected, details: ['Last-Event-ID'] });
  const unknown = await api.call('GET', `${PATH}?status=failed`, { key });
  t.strictSame(refusal(unknown), { ...expected, details: ['status'] });
  t.strictSame(refusal(await api.call('GET', PATH)), { status: 401, error: 'unauthorized' });
});
