/** Cancelling what waits or runs, deleting the documents of what has ended, and asking for it once more. */
import { test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { BlobNotFound, BlobStoreUnavailable } from '../../src/documents/port.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import type { BlobRef } from '../../src/domain/event-fields.ts';
import { decodeEvent } from '../../src/event-store/codec.ts';
import { startRefunds } from '../../src/process-managers/refunds.ts';
import { startRetention } from '../../src/process-managers/retention.ts';
import { type Api, BASE, refusal } from '../support/api.ts';
import { fileUrl, PDF, startWithConversion } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { violations } from '../support/invariants.ts';
import { signedIn } from '../support/operator.ts';

type Started = Awaited<ReturnType<typeof startWithConversion>>;

const remove = (api: Started, id: string, key = api.account.key) =>
  api.call('DELETE', `${BASE}/conversions/${id}/`, { key });

/** Starts it as a renderer does. */
async function begin(api: Started, conversionId: string): Promise<void> {
  const { id: accountId } = api.account;
  const by = { renderer: 'test', delivery: 'one', at: api.clock.now() };
  const command = { type: 'StartConversion', accountId, conversionId, ...by } as const;
  await api.actors.send(conversionAggregate, conversionId, command, api.context());
}

async function eventsOf(api: Api, id: string) {
  const log = await api.log();
  return log.filter(({ stream }) => stream === `conversion-${id}`);
}
const typesOf = async (api: Api, id: string) => (await eventsOf(api, id)).map(({ type }) => type);

/** The blobs of a conversion, by the events that name them. */
async function blobsOf(api: Api, id: string): Promise<BlobRef[]> {
  const events = (await api.store.readAll()).map((event) => decodeEvent(event));
  const data = events.map((event) => event.data as Readonly<Record<string, unknown>>);
  const own = data.filter(({ conversionId }) => conversionId === id);
  const refs = own.flatMap(({ request, document, manifest, picture }) => [
    request,
    document,
    manifest,
    picture,
  ]);
  return refs.filter((ref): ref is BlobRef => typeof ref === 'object');
}

async function areKept(api: Api, refs: readonly BlobRef[]): Promise<boolean[]> {
  return await Promise.all(
    refs.map((ref) =>
      api.blobs.read(ref).then(
        () => true,
        (error: unknown) => {
          if (error instanceof BlobNotFound) return false;
          throw error;
        },
      ),
    ),
  );
}

const hold = (api: Started, type: 'PlaceHold' | 'ReleaseHold') => {
  const command = { type, accountId: api.account.id, now: api.clock.now() } as const;
  return sendToAccount(api, command, api.context());
};

void test('what waits or runs is cancelled by its account, and its credit comes back once', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key, email } = api.account;
  const [waiting, running, own] = [await api.create(), await api.create(), await api.create()];
  await begin(api, running);
  const stranger = await api.newAccount();
  for (const id of [waiting, 'conv_00000000000000000000000000', 'x']) {
    const answer = await remove(api, id, stranger.key);
    t.strictSame(refusal(answer), { status: 404, error: 'not_found' }, 'others’ and unknown');
  }
  for (const id of [waiting, running]) {
    const answer = await remove(api, id);
    t.match({ status: answer.status, text: answer.text }, { status: 204, text: '' });
    t.strictSame(await areKept(api, await blobsOf(api, id)), [false], 'its request is gone');
    const cancelled = { status: 'failed', failure_code: 'cancelled' };
    t.match((await api.get(id)).body, {
      ...cancelled,
      error_message: 'Cancelled by the key test.',
    });
  }
  for (const [method, path, message] of [
    ['GET', 'request', 'The request was deleted when the conversion was cancelled.'],
    ['POST', 'retry', /^The request was deleted when .* cancelled\. Send it again with POST /],
  ] as const) {
    const answer = await api.call(method, `${BASE}/conversions/${waiting}/${path}/`, { key });
    t.match({ ...answer.body, status: answer.status }, { status: 410, error: 'gone', message });
  }
  const headers = await signedIn(api, email);
  await api.call('DELETE', `${BASE}/conversions/${own}/`, { headers });
  t.equal((await api.get(own)).body['error_message'], `Cancelled by ${email}.`);
  const [event, expired] = await eventsOf(api, waiting);
  t.match(JSON.parse(expired?.metadata ?? ''), { causationId: event?.id });
  t.match(JSON.parse(event?.metadata ?? ''), { actor: { kind: 'key', id: api.account.keyId } });
  t.notMatch(event?.data ?? '', /Cancelled by/, 'who it was is sealed');
  const history = await api.call('GET', `${BASE}/conversions/${waiting}/events/`, { key });
  t.match(history.text, /The conversion was cancelled\./);

  await api.complete(accountId, running, PDF);
  await api.complete(accountId, running, PDF);
  t.strictSame(await typesOf(api, running), [
    'ConversionStarted',
    'ConversionFailed',
    'ConversionExpired',
    'ConversionOutcomeIgnored',
  ]);
  t.match((await api.get(running)).body, { status: 'failed', file_url: undefined });
  const refunds = startRefunds(api);
  await eventually('the refunds', async () => {
    const { credits } = (await api.call('GET', `${BASE}/account/`, { key })).body;
    return credits === 100 || undefined;
  });
  await refunds.stop();
  t.strictSame(violations(await api.log(), { settled: true }), []);
});

void test('of many that cancel while it completes, one end is recorded', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId } = api.account;
  const ids = await Promise.all(Array.from({ length: 8 }, () => api.create()));
  await Promise.all(
    ids.map(async (id, n) => {
      await begin(api, id);
      const completing = () => api.complete(accountId, id, PDF);
      const cancelling = async () => t.equal((await remove(api, id)).status, 204);
      const [first, second] = n % 2 === 0 ? [completing, cancelling] : [cancelling, completing];
      await Promise.all([first(), second(), cancelling()]);
    }),
  );
  for (const id of ids) {
    const types = await typesOf(api, id);
    const ends = types.filter((type) => /^Conversion(Completed|Failed)$/.test(type));
    t.equal(ends.length, 1, types.join());
    // Cancelled, or completed and then deleted by the other: nothing is kept of it now.
    t.strictSame((await areKept(api, await blobsOf(api, id))).includes(true), false);
  }
  t.strictSame(violations(await api.log(), { settled: false }), []);
});

void test('the documents of what has ended are deleted before the answer, and its record stays', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key } = api.account;
  const [completed, failed] = [await api.create(), await api.create()];
  await api.complete(accountId, completed, PDF);
  await api.fail(accountId, failed, 'It took too long.');
  const before = (await api.get(completed)).body;
  const link = fileUrl(await api.get(completed));
  for (const id of [completed, failed]) {
    const blobs = await blobsOf(api, id);
    t.strictSame(await areKept(api, blobs), id === failed ? [true] : [true, true, true]);
    t.equal((await remove(api, id)).status, 204);
    t.notOk((await areKept(api, blobs)).includes(true), 'nothing is left');
    t.equal((await remove(api, id)).status, 204, 'again');
    t.strictSame((await typesOf(api, id)).slice(-2), ['ConversionDeleted', 'ConversionExpired']);
    const [deleted, expired] = (await eventsOf(api, id)).slice(-2);
    t.match(JSON.parse(deleted?.metadata ?? ''), { actor: { id: api.account.keyId } });
    t.match(JSON.parse(expired?.metadata ?? ''), { causationId: deleted?.id });
    const request = await api.call('GET', `${BASE}/conversions/${id}/request/`, { key });
    t.strictSame(refusal(request), { status: 410, error: 'gone' });
  }
  const { file_url: _before, ...record } = before;
  const { file_url: _after, ...after } = (await api.get(completed)).body;
  t.strictSame(after, record);
  t.strictSame(refusal(await api.call('GET', link)), { status: 410, error: 'gone' });
  const own = await api.call('GET', `${BASE}/conversions/${completed}/file/`, { key });
  t.strictSame(refusal(own), { status: 410, error: 'gone' });
  const evidence = await api.call('GET', `${BASE}/conversions/${completed}/evidence/`, { key });
  t.equal(evidence.status, 200);
  t.match(evidence.text, /It was deleted, as its account asked/);
  t.strictSame(violations(await api.log(), { settled: false }), []);
});

void test('under a hold nothing is deleted, and what waits can be cancelled', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId } = api.account;
  const [completed, waiting, gone] = [await api.create(), await api.create(), await api.create()];
  for (const id of [completed, gone]) await api.complete(accountId, id, PDF);
  t.equal((await remove(api, gone)).status, 204);
  await hold(api, 'PlaceHold');
  t.equal((await remove(api, waiting)).status, 204);
  t.match((await api.get(waiting)).body, { failure_code: 'cancelled' });
  for (const id of [completed, waiting]) {
    t.strictSame(refusal(await remove(api, id)), { status: 409, error: 'on_hold' });
    t.notOk((await areKept(api, await blobsOf(api, id))).includes(false));
  }
  t.equal((await remove(api, gone)).status, 204, 'deleted before');
  await hold(api, 'ReleaseHold');
  t.equal((await remove(api, completed)).status, 204);
  t.notOk((await areKept(api, await blobsOf(api, completed))).includes(true));
  const retention = startRetention({ ...api, retentionSeconds: 3600, failedRetentionSeconds: 60 });
  await eventually('the deletion of what was cancelled', async () =>
    (await typesOf(api, waiting)).at(-1) === 'ConversionExpired' ? true : undefined,
  );
  await retention.stop();
  t.notOk((await areKept(api, await blobsOf(api, waiting))).includes(true));
});

void test('what could not be deleted at once is gone for clients, and retention deletes it', async (t) => {
  const api = await startWithConversion(t);
  let broken = true;
  const deleteAll = api.blobs.deleteAll.bind(api.blobs);
  t.intercept(api.blobs, 'deleteAll', {
    value: async (...args: Parameters<typeof deleteAll>) => {
      if (broken) throw new BlobStoreUnavailable('The disk is away.');
      await deleteAll(...args);
    },
  });
  const { id: accountId } = api.account;
  const [id, waiting] = [await api.create(), await api.create()];
  await api.complete(accountId, id, PDF);
  const link = fileUrl(await api.get(id));
  t.equal((await remove(api, id)).status, 503);
  t.strictSame((await typesOf(api, id)).at(-1), 'ConversionDeleted');
  t.equal((await remove(api, waiting)).status, 503);
  t.match((await api.get(waiting)).body, { failure_code: 'cancelled' });
  const request = await api.call('GET', `${BASE}/conversions/${waiting}/request/`, {
    key: api.account.key,
  });
  t.strictSame(refusal(request), { status: 410, error: 'gone' });
  t.equal((await remove(api, waiting)).status, 503, 'asked for once more');
  t.strictSame(refusal(await api.call('GET', link)), { status: 410, error: 'gone' });
  // It was asked for before there was one.
  await hold(api, 'PlaceHold');
  broken = false;
  const retention = startRetention({ ...api, retentionSeconds: 3600, failedRetentionSeconds: 0 });
  await eventually('the deletion', async () =>
    (await typesOf(api, id)).at(-1) === 'ConversionExpired' ? true : undefined,
  );
  await retention.stop();
  t.notOk((await areKept(api, await blobsOf(api, id))).includes(true));
  t.equal((await remove(api, id)).status, 204);
});

void test('a request is converted once more, whether it completed or failed', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key, email } = api.account;
  const body = {
    url: 'https://example.com/?q=1',
    headers: { Authorization: 'Bearer secret' },
    landscape: true,
    scale: 0.5,
    filename: 'Invoice',
    reference: '4711',
    tags: { a: 'b' },
  };
  const first = String((await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id']);
  const retry = (id: string, headers: Readonly<Record<string, string>> = {}, by = key) =>
    api.call('POST', `${BASE}/conversions/${id}/retry/`, { key: by, headers });
  t.strictSame(refusal(await retry(first)), { status: 409, error: 'not_ready' });
  await api.complete(accountId, first, PDF);
  const answer = await retry(first, { 'Idempotency-Key': 'again' });
  t.equal(answer.status, 202);
  const second = String(answer.body['id']);
  t.strictSame(Object.keys(answer.body), ['id', 'status', 'created_at']);
  t.equal(answer.headers.get('location'), `${api.origin}${BASE}/conversions/${second}/`);
  const expected = { retry_of: first, reference: '4711', tags: { a: 'b' } };
  t.match((await api.get(second)).body, { ...expected, filename: 'Invoice.pdf' });
  t.notOk('retry_of' in (await api.get(first)).body);
  const list = await api.call('GET', `${BASE}/conversions/`, { key });
  t.match(list.body, [{ id: second, retry_of: first }, { id: first }]);
  const history = await api.call('GET', `${BASE}/conversions/${second}/events/`, { key });
  t.match(history.text, `a reference and tags, once more for ${first}.`);

  const headers = await signedIn(api, email);
  const requests = await Promise.all(
    [first, second].map((id) => api.call('GET', `${BASE}/conversions/${id}/request/`, { headers })),
  );
  t.strictSame(requests[1]?.body, requests[0]?.body, 'it is the same request');
  t.match(requests[0]?.body, { options: { headers: body.headers } });
  const [one, other] = await Promise.all([first, second].map((id) => blobsOf(api, id)));
  t.not(other?.[0]?.sha256, one?.[0]?.sha256, 'encrypted anew');

  await api.fail(accountId, second, 'It took too long.');
  const again = { Prefer: 'wait=0', 'Idempotency-Key': 'again' };
  const third = String((await retry(second, again)).body['id']);
  t.not(third, second, 'a key of one retry is not that of another');
  await api.complete(accountId, third, PDF);
  t.match((await api.get(third)).body, { retry_of: second, status: 'completed' });
  for (const id of [first, second]) await remove(api, id);
  t.strictSame(refusal(await retry(first)), { status: 410, error: 'gone' });
  const replayed = await retry(first, { 'Idempotency-Key': 'again' });
  t.equal(replayed.text, answer.text, 'the key answers, whatever has become of the request');
  t.equal(replayed.headers.get('idempotent-replayed'), 'true');
  const stranger = await api.newAccount();
  for (const id of [third, 'conv_00000000000000000000000000']) {
    t.strictSame(refusal(await retry(id, {}, stranger.key)), { status: 404, error: 'not_found' });
  }
  const wrong = await retry(third, { 'Idempotency-Key': ' '.repeat(256) });
  t.match(refusal(wrong), { status: 400, error: 'validation_error' });
});

void test('the request of a completed conversion is rendered again, to be compared', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key } = api.account;
  const create = async (): Promise<string> => {
    const body = { html: '<p>x</p>', reference: '4711' };
    return String((await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id']);
  };
  const rerender = (id: string, headers: Readonly<Record<string, string>> = {}, by = key) =>
    api.call('POST', `${BASE}/conversions/${id}/rerender/`, { key: by, headers });
  const [first, failed] = [await create(), await create()];
  t.strictSame(refusal(await rerender(first)), { status: 409, error: 'not_ready' });
  await api.complete(accountId, first, PDF);
  await api.fail(accountId, failed, 'It took too long.');
  const nothing = await rerender(failed);
  t.match(nothing, {
    status: 422,
    body: { error: 'conversion_failed', message: /no PDF to compare/ },
  });

  const { credits } = (await api.call('GET', `${BASE}/account/`, { key })).body;
  const answer = await rerender(first, { 'Idempotency-Key': 'again' });
  t.equal(answer.status, 202);
  t.strictSame(Object.keys(answer.body), ['id', 'status', 'created_at']);
  const second = String(answer.body['id']);
  t.match((await api.get(second)).body, {
    rerender_of: first,
    reference: '4711',
    status: 'pending',
  });
  t.equal(
    (await api.call('GET', `${BASE}/account/`, { key })).body['credits'],
    Number(credits) - 1,
  );
  t.equal((await rerender(first, { 'Idempotency-Key': 'again' })).text, answer.text);
  const retried = await api.call('POST', `${BASE}/conversions/${first}/retry/`, {
    key,
    headers: { 'Idempotency-Key': 'again' },
  });
  t.not(retried.body['id'], second, 'a key of a retry is not that of this');
  const summary = async (): Promise<string> =>
    (await api.call('GET', `${BASE}/conversions/${second}/events/`, { key })).text;
  t.match(await summary(), `to be compared with ${first}.`);
  await api.complete(accountId, second, PDF, undefined, undefined, {
    rerender: { equal: false, pages: [2, 7] },
  });
  t.match((await api.get(second)).body, {
    rerender_of: first,
    rerender: { equal: false, pages: [2, 7] },
  });
  t.match(await summary(), 'It differs from the first one: pages 2, 7 differ.');
  const list = await api.call('GET', `${BASE}/conversions/?reference=4711&status=completed`, {
    key,
  });
  t.match(list.body, [{ id: second, rerender: { equal: false } }, { id: first }]);
  t.notOk('rerender' in (await api.get(first)).body);
  await remove(api, first);
  t.strictSame(refusal(await rerender(first)), { status: 410, error: 'gone' });
  const stranger = await api.newAccount();
  t.strictSame(refusal(await rerender(second, {}, stranger.key)), {
    status: 404,
    error: 'not_found',
  });
});

void test('a retry costs as much and is bounded as the first request is', async (t) => {
  const api = await startWithConversion(t, {
    env: { RATE_LIMIT_FREE: '5', MAX_ACCOUNT_STORED_BYTES: '2000' },
  });
  const poor = await api.newAccount({ credits: 1, plan: 'free' });
  const call = (method: string, path: string, body?: object) =>
    api.call(method, BASE + path, { key: poor.key, ...(body && { body }) });
  const first = await call('POST', '/pdf/', { html: `<p>${'x'.repeat(900)}</p>` });
  const id = String(first.body['id']);
  await api.fail(poor.id, id, 'x');
  const retry = () => call('POST', `/conversions/${id}/retry/`);
  t.strictSame(refusal(await retry()), { status: 402, error: 'insufficient_credits' });
  const grant = { type: 'GrantCredits', accountId: poor.id, amount: 9, now: api.clock.now() };
  await sendToAccount(api, grant as never, api.context());
  const again = await retry();
  t.equal(again.status, 202);
  await api.complete(poor.id, String(again.body['id']), Buffer.alloc(3000));
  await api.runner.waitFor(await api.store.head());
  t.match((await retry()).body, { error: 'rate_limit_exceeded', message: /bytes that it may/ });
  await call('GET', '/account/');
  t.match((await retry()).body, { error: 'rate_limit_exceeded', message: /Only 5 requests/ });
  await eraseAccount(api, poor.id, api.context());
  t.strictSame(refusal(await retry()), { status: 401, error: 'unauthorized' });
});
