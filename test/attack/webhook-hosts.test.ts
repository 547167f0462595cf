/** One host that never answers, and many accounts that have endpoints there. */
import { setTimeout } from 'node:timers/promises';
import { test } from 'tap';
import { BASE, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { startReceiver } from '../support/receiver.ts';
import { PDF, startSender } from '../support/webhooks.ts';

/** More deliveries than the service has under way at once. */
const ACCOUNTS = 33;
const ENDPOINTS = 2;
const CONVERSIONS = 4;

void test('a host that hangs takes no place of others', async (t) => {
  const api = await startApi(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const silent = await startReceiver(t);
  const good = await startReceiver(t);
  silent.answerWith(() => {});
  const told = async (url: string, endpoints: number, conversions: number): Promise<string> => {
    const { id, key } = await api.newAccount();
    for (let n = 0; n < endpoints; n += 1) {
      const body = { url, types: ['conversion.completed'] };
      await api.call('POST', `${BASE}/webhooks/`, { key, body });
    }
    for (let n = 0; n < conversions; n += 1) {
      const { body } = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
      await api.complete(id, String(body['id']), PDF);
    }
    return key;
  };
  const listed = async (key: string) =>
    (await api.call('GET', `${BASE}/webhooks/deliveries/`, { key })).body;
  for (let n = 0; n < ACCOUNTS; n += 1) await told(silent.url, ENDPOINTS, CONVERSIONS);
  let opened = 0;
  const vault: typeof api.vault = {
    ...api.vault,
    unseal: (accountId, sealed) => {
      opened += 1;
      return api.vault.unseal(accountId, sealed);
    },
  };
  const sender = startSender({ ...api, vault });
  t.teardown(() => sender.stop());
  await eventually(
    'the silent host to be asked',
    async () => silent.received.length > 0 || undefined,
  );
  const late = await told(good.url, 1, 1);
  await eventually('the other host to be told', async () => good.received.length > 0 || undefined);
  await eventually('it to be done', async () => {
    const [first] = (await listed(late)) as unknown as [{ readonly status: string }];
    return first.status === 'delivered' || undefined;
  });
  t.equal(silent.received.length, 16, 'and the silent one has its part alone');
  const before = opened;
  for (let n = 0; n < 20; n += 1) {
    sender.wake();
    await setTimeout(1);
  }
  t.equal(opened, before, 'what waits for it is not looked at before it has a place');
});
