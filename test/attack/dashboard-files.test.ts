/** Somebody keeps the service from reading the dashboard's files for a moment. */
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Koa from 'koa';
import { test } from 'tap';
import type { RequestState } from '../../src/http/context.ts';
import { BuiltFiles } from '../../src/http/fixed-answer.ts';
import { createDashboard } from '../../src/http/middleware/dashboard.ts';
import { clientAddress } from '../../src/http/middleware/request.ts';
import { startApi } from '../support/api.ts';
import { testDirectory } from '../support/directory.ts';

void test('a file that could not be read once is read the next time', async (t) => {
  const folder = testDirectory(t, { 'index.html': '<title>it</title>', assets: { 'a.js': '1;' } });
  const api = await startApi(t);
  const app = new Koa<RequestState>();
  app.silent = true;
  app.use(clientAddress(api.config));
  app.use(createDashboard(api, new BuiltFiles(folder)).serve);
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  t.teardown(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  t.equal((await get('/assets/none.js')).status, 404, 'the names are known');
  for (const [path, file] of [
    ['/keys', 'index.html'],
    ['/assets/a.js', 'assets/a.js'],
  ] as const) {
    await rename(join(folder, file), join(folder, 'away'));
    t.equal((await get(path)).status, 500, path);
    await rename(join(folder, 'away'), join(folder, file));
    t.equal((await get(path)).status, 200, path);
    await rename(join(folder, file), join(folder, 'away'));
    t.equal((await get(path)).status, 200, 'what was read is kept');
    await rename(join(folder, 'away'), join(folder, file));
  }
});
