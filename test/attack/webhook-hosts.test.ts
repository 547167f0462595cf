/** One host that never answers, and many accounts that have endpoints there. */
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
  const told = async (url: string, endpoints: number, conversions: number): Promise<void> => {
    const { id, key } = await api.newAccount();
    for (let n = 0; n < endpoints; n += 1) {
      const body = { url, types: ['conversion.completed'] };
      await api.call('POST', `${BASE}/webhooks/`, { key, body });
    }
    for (let n = 0; n < conversions; n += 1) {
      const { body } = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
      await api.complete(id, String(body['id']), PDF);
    }
  };
  for (let n = 0; n < ACCOUNTS; n += 1) await told(silent.url, ENDPOINTS, CONVERSIONS);
  const sender = startSender(api);
  t.teardown(() => sender.stop());
  await eventually(
    'the silent host to be asked',
    async () => silent.received.length > 0 || undefined,
  );
  await told(good.url, 1, 1);
  await eventually('the other host to be told', async () => good.received.length > 0 || undefined);
  t.ok(silent.received.length <= 16, 'and the silent one has its part alone');
});
