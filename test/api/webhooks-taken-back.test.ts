/** What is due to webhook receivers when their account is held, or erased. */
import { once } from 'node:events';
import { test } from 'tap';
import { webhookQueries } from '../../projections/webhook-queries.ts';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { KeyErased } from '../../src/documents/keys/port.ts';
import { BASE } from '../support/api.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { startReceiver } from '../support/receiver.ts';
import { DAY_MS } from '../support/samples.ts';
import { startWebhookApi } from '../support/webhooks.ts';

const ENDED = { types: ['conversion.completed'] };

void test('under a hold deliveries are sent, and listed for longer', async (t) => {
  const w = await startWebhookApi(t);
  const receiver = await startReceiver(t);
  receiver.answerWith((response) => response.writeHead(500).end());
  await w.create(receiver.url, ENDED);
  await w.end(await w.request());
  const [first] = await receiver.count(1);
  const id = first?.id ?? '';
  await w.inState(id, { tries: 1 });
  const hold = (type: 'PlaceHold' | 'ReleaseHold') => {
    const command = { type, accountId: w.account.id, now: w.clock.now() } as const;
    return sendToAccount(w, command, w.context());
  };
  await hold('PlaceHold');
  receiver.answerWith((response) => response.writeHead(204).end());
  w.pass(8 * DAY_MS);
  await receiver.count(2);
  t.match(await w.inState(id, { status: 'delivered' }), { tries: 2 }, 'it is still listed');
  await hold('ReleaseHold');
  t.equal((await w.callAs('GET', `/webhooks/deliveries/${id}/`)).status, 404);
});

void test('an erasure ends what is under way, and drops what is due', async (t) => {
  const w = await startWebhookApi(t);
  const [silent, failing, other] = [
    await startReceiver(t),
    await startReceiver(t),
    await startReceiver(t),
  ];
  const asked = Promise.withResolvers<void>();
  let closed: Promise<unknown> = Promise.resolve();
  silent.answerWith((response) => {
    closed = once(response, 'close');
    asked.resolve();
  });
  failing.answerWith((response) => response.writeHead(500).end('a word of theirs'));
  await w.create(silent.url, ENDED);
  await w.create(failing.url, { ...ENDED, description: 'a note of ours' });
  await w.end(await w.request({ filename: 'their-name.pdf' }));
  await asked.promise;
  const [tried] = await failing.count(1);
  await w.inState(tried?.id ?? '', { tries: 1 });
  const { url } = w.readModel.query(webhookQueries).page(w.account.id, { offset: 0, limit: 1 })
    .rows[0] ?? { url: '' };

  await eraseAccount(w, w.account.id, w.context());
  await closed;
  w.pass(DAY_MS);
  // The sender has looked at all that is due when it has told another account.
  const { key, id } = await w.newAccount();
  const body = { url: other.url, types: ENDED.types };
  await w.call('POST', `${BASE}/webhooks/`, { key, body });
  const made = await w.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  await w.fail(id, String(made.body['id']), 'a reason');
  const second = await w.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  await w.api.complete(id, String(second.body['id']), Buffer.from('%PDF-1.7\n%%EOF\n'));
  await other.count(1);
  t.strictSame([silent.received.length, failing.received.length], [1, 1], 'nothing more is sent');

  const queries = w.readModel.query(webhookQueries);
  const all = { since: 0, offset: 0, limit: 10 };
  t.strictSame(queries.deliveries(w.account.id, all), { rows: [], total: 0 });
  t.equal(queries.page(w.account.id, all).total, 0);
  await t.rejects(w.vault.unseal(w.account.id, url), KeyErased);
  const events = await w.store.readAll({ limit: 1000 });
  const log = JSON.stringify(events, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  for (const text of [silent.url, failing.url, 'a word of theirs', 'a note of ours', 'their-name'])
    t.notOk(log.includes(text), text);
  t.ok(log.includes('DeliveryAttempted'), 'the try is still in the log');
});
