import { test } from 'tap';
import { BASE, startApi } from '../support/api.ts';
import { openPage } from '../support/browser.ts';

void test('the reference page asks nobody but this service, and tries a request', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const { page, complaints, origins } = await openPage(t);
  const shown = await page.goto(`${api.origin}/docs`, { waitUntil: 'networkidle0' });
  const policy = shown?.headers()['content-security-policy'] ?? '';
  t.match(policy, "default-src 'none'");
  t.match(policy, "script-src 'self';");
  t.match(policy, "connect-src 'self'");

  await page.locator('input[placeholder]').fill(key);
  const answered = page.waitForResponse(
    (response) => response.request().method() === 'POST' && response.url().endsWith(`${BASE}/pdf/`),
  );
  await page.locator('button.show-api-client-button[method=post]').click();
  await page.locator('::-p-xpath(//div[@role="dialog"]//button[contains(., "Send")])').click();
  t.equal((await answered).status(), 202);
  t.ok((await api.log()).some(({ type }) => type === 'ConversionRequested'));
  await page.waitForNetworkIdle();
  t.strictSame([...origins], [api.origin]);
  t.strictSame(complaints, []);
});

void test('the script of the page comes compressed to those who understand it', async (t) => {
  const api = await startApi(t);
  const get = async (encoding: string) => {
    const headers = { 'Accept-Encoding': encoding };
    const response = await fetch(`${api.origin}/docs/reference.js`, { headers });
    t.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8');
    t.match(response.headers.get('vary'), /accept-encoding/i);
    return { coding: response.headers.get('content-encoding'), text: await response.text() };
  };
  const [compressed, plain] = [await get('gzip'), await get('identity')];
  t.strictSame([compressed.coding, plain.coding], ['gzip', null]);
  t.equal(compressed.text, plain.text);
});
