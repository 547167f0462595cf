import { gunzipSync } from 'node:zlib';
import type { Page } from 'puppeteer';
import { test } from 'tap';
import { BASE, startApi } from '../support/api.ts';
import { openPage } from '../support/browser.ts';

/** Not with the mouse: sections above are still being drawn, and move what it would hit. */
async function press(page: Page, selector: string): Promise<void> {
  const button = await page.waitForSelector(selector);
  await button?.evaluate((element) => 'click' in element && element.click());
}

void test('the reference page asks nobody but this service, and tries a request', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const { page, complaints, origins } = await openPage(t);
  // Sections are drawn when they are looked at.
  const address = `${api.origin}/docs#tag/conversions/POST${BASE}/pdf/`;
  const shown = await page.goto(address, { waitUntil: 'networkidle0' });
  const policy = shown?.headers()['content-security-policy'] ?? '';
  t.match(policy, "default-src 'none'");
  t.match(policy, "script-src 'self';");
  t.match(policy, "connect-src 'self'");

  // The page begins with one for the impatient, `hello.pdf`. This one is that of the operation.
  const selector = '::-p-xpath(//pre[contains(., "wait=30") and not(contains(., "hello.pdf"))])';
  const sample = await page.waitForSelector(selector);
  t.match(await sample?.evaluate(({ textContent }) => textContent), /Accept: application\/pdf/);

  t.equal(await page.$eval('nav a', (link) => link.textContent), 'Dashboard');
  await page.locator('input[placeholder]').fill(key);
  const answered = page.waitForResponse(
    (response) =>
      response.request().method() === 'POST' && new URL(response.url()).pathname === `${BASE}/pdf/`,
  );
  await press(page, 'button.show-api-client-button[method=post]');
  await press(page, '::-p-xpath(//div[@role="dialog"]//button[contains(., "Send")])');
  t.equal((await answered).status(), 202);
  const requested = (await api.log()).find(({ type }) => type === 'ConversionRequested');
  t.ok(requested);
  t.notMatch(requested?.data, '"isTest"', 'what is tried is no test, unless it is asked for');
  await page.waitForNetworkIdle();
  t.strictSame([...origins], [api.origin]);
  t.strictSame(complaints, []);
});

void test('what is the same for everybody is compressed, and revalidated by its ETag', async (t) => {
  const api = await startApi(t);
  for (const path of ['/docs', '/docs/reference.js', '/openapi.json']) {
    const get = async (encoding: string, etag = '') => {
      const headers = { 'Accept-Encoding': encoding, 'If-None-Match': etag };
      const response = await fetch(api.origin + path, { headers });
      const tag = response.headers.get('etag') ?? '';
      t.match(response.headers.get('vary'), /accept-encoding/i);
      t.match(response.headers.get('cache-control'), /^public, max-age=\d+$/);
      const coding = response.headers.get('content-encoding');
      return { coding, status: response.status, text: await response.text(), tag };
    };
    const browser = await get('gzip, deflate, br');
    const [gzipped, plain] = [await get('gzip'), await get('identity')];
    t.strictSame([browser.coding, gzipped.coding, plain.coding], ['br', 'gzip', null], path);
    t.ok(plain.text.length > 500);
    t.equal(browser.text, plain.text);
    t.equal(gzipped.text, plain.text);
    t.match(await get('br', browser.tag), { status: 304, text: '', tag: browser.tag });
    t.match(await get('br', '"other"'), { status: 200 });
  }
  const script = await (await fetch(`${api.origin}/docs/reference.js`)).text();
  t.match(script, /^\/\*! @scalar\/api-reference@[\d.]+\n\nMIT License\n\nCopyright/);
});

void test('the client is a package in the version of the service, for anybody', async (t) => {
  const api = await startApi(t);
  const get = async (init: RequestInit = {}) => {
    const answer = await fetch(`${api.origin}/client.tgz`, init);
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const { answer, bytes } = await get();
  t.equal(answer.status, 200);
  t.match(gunzipSync(bytes).toString('latin1'), '"name": "@pressledger/client"');
  const headers = Object.fromEntries(answer.headers);
  t.match(headers, {
    'content-type': 'application/gzip',
    'content-length': String(bytes.length),
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
  });
  t.notOk(headers['content-encoding'], 'it is compressed already');
  const head = await get({ method: 'HEAD' });
  t.equal(head.answer.headers.get('content-length'), headers['content-length']);
  t.equal(head.bytes.length, 0);
  const same = await get({ headers: { 'If-None-Match': headers['etag'] ?? '' } });
  t.equal(same.answer.status, 304);
});
