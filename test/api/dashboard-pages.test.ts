/** The files of the dashboard, as the API serves them. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { PAGE_PATHS } from '../../src/http/middleware/dashboard.ts';
import { refusal, startApi } from '../support/api.ts';

const ROUTER = new URL('../../dashboard/src/router.tsx', import.meta.url);
const BUILT = existsSync(new URL('../../dashboard/dist/index.html', import.meta.url));
/** What a first visit may load, compressed. */
const MOST_BYTES = 200_000;

void test('the service knows the paths of all pages, and no other', (t) => {
  const router = readFileSync(ROUTER, 'utf8');
  const paths = Array.from(router.matchAll(/(?:\bpath: |\bat\()'([^']+)'/g), ([, path]) => path);
  t.strictSame(new Set(paths), new Set(PAGE_PATHS));
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
    for (const path of PAGE_PATHS) {
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
});
