/** Pages of other origins, in a real browser. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Test, test } from 'tap';
import { type Api, BASE, startApi } from '../support/api.ts';
import { openPage } from '../support/browser.ts';

/** A server of pages: the same under two names, which are two origins. */
async function servePage(t: Test) {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><p>a page of an app');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { app: `http://localhost:${port}`, other: `http://127.0.0.1:${port}` };
}

interface Asked {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly blocked?: boolean;
}

type Page = Awaited<ReturnType<typeof openPage>>['page'];

async function ask(page: Page, url: string, init: RequestInit): Promise<Asked> {
  return await page.evaluate(
    async (address, options) => {
      try {
        const answer = await fetch(address, options);
        return { status: answer.status, headers: Object.fromEntries(answer.headers) };
      } catch {
        return { blocked: true };
      }
    },
    url,
    init,
  );
}

const preflight = async (api: Api, origin: string): Promise<Response> =>
  await fetch(`${api.origin}${BASE}/pdf/`, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type,x-api-key',
    },
  });

void test('pages of the named origins call the API, others read the document alone', async (t) => {
  const { app, other } = await servePage(t);
  const api = await startApi(t, { env: { CORS_ORIGINS: `https://app.example.com,${app}` } });
  const { key, keyId } = await api.newAccount();
  const { page } = await openPage(t);
  const json = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ html: '<p>from a page</p>' });
  const post = { method: 'POST', headers: { ...json, 'X-API-Key': key, Prefer: 'wait=1' }, body };
  const get = { headers: { 'X-API-Key': key, 'X-Request-Id': 'r-1' } };

  await page.goto(app);
  t.match(await ask(page, `${api.origin}${BASE}/pdf/`, post), {
    status: 202,
    headers: { 'x-ratelimit-limit': String },
  });
  t.match(await ask(page, `${api.origin}${BASE}/conversions/`, get), {
    status: 200,
    headers: { 'x-total-count': '1', 'x-request-id': 'r-1', link: /rel="first"/ },
  });
  const unknown = { headers: { Authorization: 'Bearer x.y.z' } };
  t.match(await ask(page, `${api.origin}${BASE}/account/`, unknown), { status: 401 });
  const revoke = { ...get, method: 'DELETE' };
  t.match(await ask(page, `${api.origin}${BASE}/api-keys/${keyId}/`, revoke), { status: 204 });
  t.match(await ask(page, `${api.origin}/openapi.json`, {}), { status: 200 });

  await page.goto(other);
  t.match(await ask(page, `${api.origin}${BASE}/pdf/`, post), { blocked: true });
  t.match(await ask(page, `${api.origin}${BASE}/conversions/`, {}), { blocked: true });
  t.match(await ask(page, `${api.origin}/openapi.json`, {}), { status: 200 });
});

void test('a preflight request needs no credential and counts for nobody', async (t) => {
  const env = { CORS_ORIGINS: 'https://app.example.com', RATE_LIMIT_ANONYMOUS: '3' };
  const api = await startApi(t, { env });
  for (let n = 0; n < 5; n += 1) {
    const { status, headers } = await preflight(api, 'https://app.example.com');
    t.equal(status, 204);
    t.equal(headers.get('access-control-allow-origin'), 'https://app.example.com');
    t.equal(headers.get('vary'), 'Origin');
    t.equal(headers.get('x-ratelimit-remaining'), '3');
  }
  const refused = await preflight(api, 'https://app.example.com.evil.example');
  t.equal(refused.status, 405);
  t.equal(refused.headers.get('access-control-allow-origin'), null);
  const plain = await api.call('GET', '/healthz');
  t.equal(plain.headers.get('vary'), 'Origin', 'a cache must not mix them up');
});

void test('without CORS_ORIGINS no page may call the API; with * every page may', async (t) => {
  const closed = await startApi(t);
  t.equal((await preflight(closed, 'https://app.example.com')).status, 405);
  const open = await startApi(t, { env: { CORS_ORIGINS: '*' } });
  const { status, headers } = await preflight(open, 'https://app.example.com');
  t.equal(status, 204);
  t.equal(headers.get('access-control-allow-origin'), '*');
  t.equal(headers.get('access-control-allow-credentials'), null, 'cookies are never allowed');
});
