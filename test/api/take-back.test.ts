/** Cancelling what waits or runs, and deleting the documents of what has ended. */
import { test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import { BlobNotFound, BlobStoreUnavailable } from '../../src/documents/port.ts';
import type { BlobRef } from '../../src/domain/events.ts';
import { startRefunds } from '../../src/process-managers/refunds.ts';
import { startRetention } from '../../src/process-managers/retention.ts';
import { type Api, BASE, refusal } from '../support/api.ts';
import { fileUrl, PDF, startWithConversion } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';
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
  const data = (await api.log()).map((event) => JSON.parse(event.data) as Record<string, unknown>);
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
    const cancelled = { status: 'failed', failure_code: 'cancelled' };
    t.match((await api.get(id)).body, { ...cancelled, error_message: 'Cancelled by test.' });
  }
  const headers = await signedIn(api, email);
  await api.call('DELETE', `${BASE}/conversions/${own}/`, { headers });
  t.equal((await api.get(own)).body['error_message'], `Cancelled by ${email}.`);
  const [event] = await eventsOf(api, waiting);
  t.match(JSON.parse(event?.metadata ?? ''), { actor: { kind: 'key', id: api.account.keyId } });
  t.notMatch(event?.data ?? '', /Cancelled by/, 'who it was is sealed');
  const history = await api.call('GET', `${BASE}/conversions/${waiting}/events/`, { key });
  t.match(history.text, /The conversion was cancelled\./);

  await api.complete(accountId, running, PDF);
  await api.complete(accountId, running, PDF);
  t.strictSame(await typesOf(api, running), [
    'ConversionStarted',
    'ConversionFailed',
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
    // Cancelled twice, or completed and then deleted: nothing is kept of it now.
    t.equal((await remove(api, id)).status, 204);
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
  const id = await api.create();
  await api.complete(accountId, id, PDF);
  const link = fileUrl(await api.get(id));
  t.equal((await remove(api, id)).status, 503);
  t.strictSame((await typesOf(api, id)).at(-1), 'ConversionDeleted');
  t.strictSame(refusal(await api.call('GET', link)), { status: 410, error: 'gone' });
  // It was asked for before there was one.
  await hold(api, 'PlaceHold');
  broken = false;
  const retention = startRetention({ ...api, retentionSeconds: 3600 });
  await eventually('the deletion', async () =>
    (await typesOf(api, id)).at(-1) === 'ConversionExpired' ? true : undefined,
  );
  await retention.stop();
  t.notOk((await areKept(api, await blobsOf(api, id))).includes(true));
  t.equal((await remove(api, id)).status, 204);
});
