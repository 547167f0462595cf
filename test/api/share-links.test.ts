/** Links by which anybody can download the file of a conversion, from their creation to their end. */
import { hash } from 'node:crypto';
import { test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { BASE, refusal } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';
import { violations } from '../support/invariants.ts';

const WEEK = 604_800;
const HOUR_MS = 3_600_000;
const WRONG = { status: 403, error: 'forbidden' };

type Options = Parameters<typeof startWithConversion>[1];

/** An API with a completed conversion. */
async function start(t: Parameters<typeof startWithConversion>[0], options?: Options) {
  const api = await startWithConversion(t, options);
  const { id: accountId, key: owner } = api.account;
  const ask = (method: string, path: string, body?: object, key = owner) =>
    api.call(method, BASE + path, { key, ...(body && { body }) });
  const convert = async (fields: object = {}, key = owner) => {
    const made = await ask('POST', '/pdf/', { html: '<p>x</p>', ...fields }, key);
    const id = String(made.body['id']);
    await api.complete(accountId, id, PDF);
    return id;
  };
  const share = (id: string, body: object = {}, key = owner) =>
    ask('POST', `/conversions/${id}/links/`, body, key);
  const shared = async (id: string, body: object = {}) => {
    const { id: linkId, url } = (await share(id, body)).body;
    return { linkId: String(linkId), url: String(url) };
  };
  const list = async (id: string, key = owner) =>
    JSON.parse((await ask('GET', `/conversions/${id}/links/`, undefined, key)).text) as object[];
  const keyWith = async (bounds: object) =>
    String((await ask('POST', '/api-keys/', { name: 'x', ...bounds })).body['key']);
  return { ...api, accountId, ask, convert, share, shared, list, keyWith };
}

void test('a link is created, used, listed and revoked', async (t) => {
  const api = await start(t);
  const { ask, call, clock, list } = api;
  const id = await api.convert({ filename: 'Rechnung für Ärzte.pdf' });
  const made = await api.share(id, { expires_in: 3600 });
  t.equal(made.status, 201);
  const { id: linkId, url, ...times } = made.body as Readonly<Record<string, string>>;
  t.match(linkId, /^link_[0-9a-z]{26}$/);
  t.match(url, new RegExp(`^${api.origin}/s/[0-9A-Za-z]{22}$`));
  t.strictSame(times, {
    created_at: new Date(clock.time).toISOString(),
    expires_at: new Date(clock.time + HOUR_MS).toISOString(),
  });
  const fresh = { id: linkId, ...times, downloads: 0, last_downloaded_at: null };
  t.strictSame(await list(id), [fresh], 'the link itself is shown only once');

  const link = String(url);
  const whole = await call('GET', link);
  t.equal(whole.status, 200);
  t.equal(whole.text, PDF.toString());
  t.match(Object.fromEntries(whole.headers), {
    'content-type': 'application/pdf',
    'content-disposition':
      'attachment; filename="Rechnung f_r _rzte.pdf"; filename*=UTF-8\'\'Rechnung%20f%C3%BCr%20%C3%84rzte.pdf',
    'cache-control': 'private, no-cache',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'x-content-type-options': 'nosniff',
  });
  t.match(
    (await call('GET', `${link}?disposition=inline`)).headers.get('content-disposition'),
    /^inline/,
  );
  t.equal((await call('GET', link, { headers: { Range: 'bytes=0-9' } })).status, 206);
  const etag = whole.headers.get('etag') ?? '';
  t.equal((await call('GET', link, { headers: { 'If-None-Match': etag } })).status, 304);
  const used = { ...fresh, downloads: 1, last_downloaded_at: new Date(clock.time).toISOString() };
  t.strictSame(await list(id), [used], 'once for a network and a minute');

  const events = JSON.parse((await ask('GET', `/conversions/${id}/events/`)).text) as {
    type: string;
    summary: string;
    actor: object;
    data: Readonly<Record<string, unknown>>;
  }[];
  const secret = link.split('/').at(-1) ?? '';
  const linkHash = hash('sha256', secret);
  t.match(events.slice(-2), [
    {
      type: 'LinkCreated',
      summary: `A link by which anybody can download the file was created, valid until ${times['expires_at']}.`,
      actor: { kind: 'key', id: api.account.keyId },
      data: { linkId, linkHash },
    },
    { type: 'DocumentDownloaded', actor: { kind: 'anonymous' }, data: { link: linkHash } },
  ]);
  t.notMatch(JSON.stringify(events, undefined, 1), secret);
  t.notMatch((await api.log()).map(({ data }) => data).join(), secret);

  const other = await api.shared(id);
  const revoke = (which: string, of = id) => ask('DELETE', `/conversions/${of}/links/${which}/`);
  t.equal((await revoke(other.linkId, await api.convert())).status, 404, 'of another conversion');
  t.equal((await revoke('link_x')).status, 404);
  t.equal((await call('GET', other.url)).status, 200);
  t.equal((await revoke(String(linkId))).status, 204);
  t.strictSame(refusal(await revoke(String(linkId))), { status: 404, error: 'not_found' });
  t.strictSame(refusal(await call('GET', link)), WRONG);
  t.equal((await call('GET', link, { headers: { 'If-None-Match': etag } })).status, 403);
  t.equal((await call('GET', other.url)).status, 200, 'each link for itself');
  t.match(await list(id), [{ id: other.linkId, downloads: 0 }]);
  t.strictSame(violations(await api.log(), { settled: false }), []);
});

void test('what is no link answers always the same, and counts', async (t) => {
  const api = await start(t, { env: { RATE_LIMIT_ANONYMOUS: '5' } });
  const id = await api.convert();
  const [expired, revoked] = [await api.shared(id, { expires_in: 1 }), await api.shared(id)];
  await api.ask('DELETE', `/conversions/${id}/links/${revoked.linkId}/`);
  api.clock.time += 1000;
  const answers = [];
  for (const path of [expired.url, revoked.url, '/s/x', `/s/${'x'.repeat(22)}`]) {
    const { status, text, headers } = await api.call('GET', path);
    answers.push([status, text, headers.get('cache-control'), headers.get('etag')]);
  }
  t.strictSame(new Set(answers.map((each) => JSON.stringify(each))).size, 1);
  t.match(answers[0], [403, /"forbidden".*Ask for a new one/, 'no-store', null]);
  t.equal((await api.call('GET', `${revoked.url}?disposition=x`)).status, 403, 'before all else');
  const limited = await api.call('GET', '/s/y');
  t.strictSame(refusal(limited), { status: 429, error: 'rate_limit_exceeded' });
  t.equal((await api.call('GET', (await api.shared(id)).url)).status, 200, 'a good one works');
});

void test('a link works no longer than the file is kept', async (t) => {
  const api = await start(t, { env: { RETENTION_SECONDS: String(WEEK) } });
  const id = await api.convert();
  const kept = new Date(api.clock.time + WEEK * 1000).toISOString();
  t.equal((await api.share(id, { expires_in: WEEK })).body['expires_at'], kept);
  api.clock.time += HOUR_MS;
  const long = await api.share(id, { expires_in: WEEK });
  t.match(refusal(long), { status: 400, error: 'validation_error' });
  const left = WEEK - 3600;
  const text = `The file is kept for another ${left} seconds: choose that or less.`;
  t.strictSame(long.body['details'], { expires_in: [text] });
  t.equal((await api.share(id, { expires_in: left })).body['expires_at'], kept);
  const rest = await api.share(id);
  t.equal(rest.body['expires_at'], kept, 'as long as the file is kept, unless it is said');
  for (const body of [
    { expires_in: 0 },
    { expires_in: 1.5 },
    { expires_in: '1' },
    { expires: 1 },
  ]) {
    t.equal((await api.share(id, body)).status, 400, JSON.stringify(body));
  }

  api.clock.time += left * 1000;
  t.strictSame(refusal(await api.call('GET', String(rest.body['url']))), WRONG);
  t.strictSame(refusal(await api.share(id)), { status: 410, error: 'gone' });
});

void test('deleted files, erased accounts and holds', async (t) => {
  const api = await start(t, { env: { RETENTION_SECONDS: '7200' } });
  const id = await api.convert();
  const { url } = await api.shared(id);
  await api.ask('DELETE', `/conversions/${id}/`);
  t.strictSame(refusal(await api.call('GET', url)), { status: 410, error: 'gone' });
  t.strictSame(refusal(await api.share(id)), { status: 410, error: 'gone' });

  const once = await api.convert({ retention_seconds: 0 });
  t.equal((await api.share(once, { expires_in: 3601 })).status, 400, 'an hour at most');
  const first = await api.shared(once);
  t.equal((await api.call('GET', first.url)).status, 200);
  await eventually('the deletion after the first download', async () =>
    (await api.call('HEAD', first.url)).status === 410 ? true : undefined,
  );

  const held = await api.convert();
  const link = await api.shared(held);
  await sendToAccount(
    api,
    { type: 'PlaceHold', accountId: api.accountId, now: api.clock.now() },
    api.context(),
  );
  api.clock.time += 7200_000;
  t.strictSame(refusal(await api.call('GET', link.url)), WRONG, 'as it was created');
  const refused = await api.share(held);
  t.strictSame(refusal(refused), { status: 410, error: 'gone' });
  t.match(refused.body['message'], /kept only because the account is under a hold/);

  const last = await api.convert();
  const ofErased = await api.shared(last);
  await api.keyring.erase(api.accountId);
  t.match((await api.call('GET', ofErased.url)).body, { error: 'gone', message: /erased/ });
});

void test('only what has completed is shared', async (t) => {
  const api = await start(t);
  const id = await api.create();
  t.strictSame(refusal(await api.share(id)), { status: 409, error: 'not_ready' });
  await api.fail(api.accountId, id, 'The page answered with status 404.');
  t.strictSame(refusal(await api.share(id)), { status: 422, error: 'conversion_failed' });
  const done = await api.convert();
  for (let n = 0; n < 20; n += 1) t.equal((await api.share(done)).status, 201);
  t.match((await api.share(done)).body, { error: 'validation_error', message: /at most 20 links/ });
});

void test('keys, tests and other accounts', async (t) => {
  const api = await start(t);
  const [own, reader] = [
    await api.keyWith({ scopes: ['convert'] }),
    await api.keyWith({ scopes: ['read'] }),
  ];
  const tester = await api.keyWith({ test: true });
  const stranger = (await api.newAccount()).key;
  const [live, mine, ofTest] = [
    await api.convert(),
    await api.convert({}, own),
    await api.convert({}, tester),
  ];
  const { linkId } = await api.shared(live);
  for (const [name, key, id, status] of [
    ['what it made', own, mine, 201],
    ['what another key made', own, live, 404],
    ['with read', reader, live, 201],
    ['of a test', tester, ofTest, 201],
    ['not of a test', tester, live, 404],
    ['of another account', stranger, live, 404],
  ] as const) {
    t.equal((await api.share(id, {}, key)).status, status, name);
    const listed = await api.ask('GET', `/conversions/${id}/links/`, undefined, key);
    t.equal(listed.status, status === 201 ? 200 : 404, name);
  }
  for (const key of [own, tester, stranger]) {
    const revoked = await api.ask(
      'DELETE',
      `/conversions/${live}/links/${linkId}/`,
      undefined,
      key,
    );
    t.equal(revoked.status, 404);
  }
  t.equal(
    (await api.ask('DELETE', `/conversions/${live}/links/${linkId}/`, undefined, reader)).status,
    204,
  );
});
