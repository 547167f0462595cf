/** The files of the dashboard, as the API serves them. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { PATHS } from '../../dashboard/src/paths.ts';
import { refusal, startApi } from '../support/api.ts';

const ROUTER = new URL('../../dashboard/src/router.tsx', import.meta.url);
const BUILT = existsSync(new URL('../../dashboard/dist/index.html', import.meta.url));
/** What a first visit may load, compressed. */
const MOST_BYTES = 200_000;

void test('the service knows the paths of all pages, and no other', (t) => {
  const [router = ''] = readFileSync(ROUTER, 'utf8').split('export const router');
  const names = Array.from(router.matchAll(/\bPATHS\.(\w+)/g), ([, name]) => name);
  t.strictSame(new Set(names), new Set(Object.keys(PATHS)));
  t.equal(names.length, Object.keys(PATHS).length, 'each once');
  t.notMatch(router, /(\bpath: |\bat\()'/, 'none beside the table');
  t.end();
});

void test('pages and their files', { skip: !BUILT && 'the dashboard is not built' }, async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_ANONYMOUS: '7' } });
  const get = async (path: string, headers: Record<string, string> = {}) =>
    await fetch(api.origin + path, { headers });
  const page = await get('/');
  const html = await page.text();

  await t.test('every page is the same document, with its policy', async (sub) => {
    sub.match(page.headers.get('content-type'), 'text/html');
    sub.equal(page.headers.get('cache-control'), 'no-cache');
    sub.equal(page.headers.get('x-ratelimit-remaining'), '7', 'nothing is counted');
    const policy = page.headers.get('content-security-policy') ?? '';
    sub.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    sub.match(policy, "frame-ancestors 'none'");
    sub.notMatch(policy, 'unsafe');
    sub.notMatch(html, /<style|style=|<script(?![^>]* src=)| on\w+=|https?:/, 'nothing inline');
    for (const path of Object.values(PATHS)) {
      sub.equal(await (await get(path.replace('$id', 'some-id'))).text(), html, path);
    }
    const etag = page.headers.get('etag') ?? '';
    sub.equal((await get('/keys', { 'If-None-Match': etag })).status, 304);
  });

  await t.test('the first page is small, and its files stay', async (sub) => {
    const files = Array.from(
      html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g),
      ([, file]) => file,
    );
    sub.ok(files.length >= 2);
    const sizes = await Promise.all(
      files.map(async (file = '') => {
        for (const coding of ['br', 'gzip']) {
          const answer = await get(file, { 'Accept-Encoding': coding });
          sub.equal(answer.headers.get('content-encoding'), coding, file);
          sub.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
        }
        const built = new URL(`../../dashboard/dist${file}`, import.meta.url);
        const plain = await get(file, { 'Accept-Encoding': 'identity' });
        sub.equal(plain.headers.get('content-encoding'), null);
        sub.equal(await plain.text(), readFileSync(built, 'utf8'));
        return readFileSync(`${fileURLToPath(built)}.br`).length;
      }),
    );
    sub.ok(sizes.reduce((sum, size) => sum + size, 0) < MOST_BYTES);
    sub.match((await get('/favicon.ico')).headers.get('content-type'), 'image/svg+xml');
  });

  await t.test('any other path is the API’s', async (sub) => {
    const paths = [
      '/nothing',
      '/keys/',
      '/assets/nothing.js',
      '/assets/..%2findex.html',
      '/assets/',
    ];
    for (const path of [...paths, '/conversions/a/b', '/index.html', '/.built-from']) {
      sub.match(refusal(await api.call('GET', path)), { status: 404, error: 'not_found' }, path);
    }
    sub.equal((await api.call('POST', '/keys')).status, 404);
  });

  await t.test('a person at an address that nothing has gets a page', async (sub) => {
    // As Chrome, Firefox and Safari send it.
    const headers = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(api.origin + path, { headers, redirect: 'manual', ...init });
    const policy = page.headers.get('content-security-policy');
    for (const path of ['/nothing', '/conversions/a/b', '/assets/nothing.js', '/tlog/none']) {
      const answer = await ask(path);
      sub.equal(answer.status, 404, path);
      sub.equal(await answer.text(), html);
      sub.equal(answer.headers.get('content-security-policy'), policy);
      sub.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin');
      sub.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      sub.equal(answer.headers.get('cache-control'), 'no-store');
      sub.ok(answer.headers.has('x-ratelimit-remaining'));
      sub.equal((await ask(path, { method: 'HEAD' })).status, 404);
    }
    const etag = page.headers.get('etag') ?? '';
    const again = await ask('/nothing', { headers: { ...headers, 'If-None-Match': etag } });
    sub.equal(again.status, 404);
    const led = await ask('/usage/?days=90');
    sub.equal(led.status, 302);
    sub.equal(
      new URL(led.headers.get('location') ?? '', api.origin).href,
      `${api.origin}/usage?days=90`,
    );
    const ofApi = ['/api', '/api/v1/nothing', `/api/v1/conversions/conv_none/`, '/files/none.pdf'];
    for (const path of ofApi) {
      sub.match((await ask(path)).headers.get('content-type'), 'application/json', path);
    }
    const sent = await ask('/nothing', { method: 'POST' });
    sub.match(sent.headers.get('content-type'), 'application/json');
    const json = await ask('/nothing', {
      headers: { Accept: 'application/json, text/html;q=0.9' },
    });
    sub.match(json.headers.get('content-type'), 'application/json');
  });
});
