/** A text that a node with another keyring has sealed: the records and lists that it is in are shown all the same. */
import { join } from 'node:path';
import { test } from 'tap';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { createVault, NOT_OPENED } from '../../src/documents/keys/vault.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import { BASE, MASTER_KEY } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';
import { makingKeys } from '../support/keyring.ts';

void test('texts that do not open are shown as such', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key } = api.account;
  const stray = createVault(makingKeys(fileKeyring(join(api.root, 'stray'), MASTER_KEY)));
  const failed = await api.create();
  const failure = {
    type: 'FailConversion',
    code: 'timeout',
    message: await stray.seal(accountId, 'The page took too long.'),
    retryable: false,
    accountId,
    conversionId: failed,
    renderer: 'stray',
    attempt: 1,
    at: api.clock.now(),
  } as const;
  await api.actors.send(conversionAggregate, failed, failure, api.context());
  await createApiKey({ ...api, vault: stray }, accountId, 'of a stray', api.context());
  const whole = await api.create();
  await api.complete(accountId, whole, PDF);

  const get = async (path: string) => await api.call('GET', `${BASE}${path}`, { key });
  t.match(await get(`/conversions/${failed}/`), {
    status: 200,
    body: { status: 'failed', error_message: NOT_OPENED },
  });
  const file = await get(`/conversions/${failed}/file/`);
  t.match(file, { status: 422, body: { message: NOT_OPENED } });
  t.match(await get('/conversions/'), { status: 200, body: [{ id: whole }, { id: failed }] });
  t.match(await get('/api-keys/'), { status: 200, body: [{ name: NOT_OPENED }, { name: 'test' }] });
  t.equal((await get('/account/events/')).status, 200);
  t.equal((await get(`/conversions/${failed}/events/`)).status, 200);
});
