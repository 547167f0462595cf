/** Where commands find the API: at the service on their store, or inside themselves. */
import { mkdirSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { duplexPair } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Test, test } from 'tap';
import { readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observe/log.ts';
import { fetchOver, openOperatorAccess } from '../../src/service/operator-access.ts';
import { listenForCommands } from '../../src/service/operator-socket.ts';
import { createPlace } from '../support/place.ts';

const logger = createLogger('silent');
const ACCOUNTS = 'http://localhost/api/v1/operator/accounts/';

async function beside(t: Test, handle: RequestListener) {
  const { dataDir } = createPlace(t);
  mkdirSync(dataDir, { mode: 0o700 });
  const service = await listenForCommands(dataDir, handle, logger);
  const config = readConfig({ DATA_DIR: dataDir });
  const access = await openOperatorAccess(config, logger, { create: true });
  t.teardown(() => access.close());
  const ask = async (): Promise<unknown> => (await access.fetch(ACCOUNTS)).json();
  return { service, ask };
}

void test('the service is asked while it runs, and then the store', async (t) => {
  const { service, ask } = await beside(t, (_request, response) => response.end('"the service"'));
  t.equal(await ask(), 'the service');
  await service.stop();
  t.strictSame(await ask(), []);
});

void test('a service that does not answer keeps nobody from the store', async (t) => {
  const hanging = new AbortController();
  const { service, ask } = await beside(t, () => {});
  t.strictSame(await ask(), []);
  hanging.abort();
  await service.stop(hanging.signal);
});

void test('a limit of time holds while garbage is collected', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const silent = fetchOver(async () => duplexPair()[0]);
  const answer = silent(ACCOUNTS, { signal: AbortSignal.timeout(500) });
  const collecting = setInterval(collect, 20);
  await t.rejects(answer, { name: 'AbortError' });
  clearInterval(collecting);
});

void test('requests and answers come through whole', async (t) => {
  const { service, ask } = await beside(t, (request, response) => {
    if (request.url === '/healthz') return response.end();
    const { method, url, headers } = request;
    response.setHeader('Set-Cookie', ['a=1', 'b=2']);
    return response.end(JSON.stringify({ method, url, host: headers.host }));
  });
  t.strictSame(await ask(), {
    method: 'GET',
    url: '/api/v1/operator/accounts/',
    host: 'localhost',
  });
  await service.stop();
});
