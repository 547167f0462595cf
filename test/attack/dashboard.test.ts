/** Pages of other origins, texts of strangers and a hostile PDF against the dashboard, in a real Chrome. */
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { BASE } from '../support/api.ts';
import { runCli } from '../support/cli.ts';
import { ownPage, SESSION } from '../support/dashboard.ts';
import {
  type DashboardBrowser,
  signIn,
  startDashboard,
  withNewPassword,
} from '../support/dashboard-browser.ts';
import { servePages } from '../support/pages.ts';

const MARK = 'window.pwned=1';
const SCRIPT = `<img src=x onerror=${MARK}><script>${MARK}</script>`;
/** Has none of what an address must not have, and would leave an attribute or become a tag if it was not escaped. */
const ADDRESS = `'autofocus/onfocus='${MARK}'&lt@example.com`;

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

/** Counts in every page what its policy refuses: a script that was refused would have run elsewhere. */
const WATCH = `
  window.refused = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    window.refused.push(violatedDirective + ' ' + blockedURI));`;

async function unharmed(t: Test, page: Page, name: string): Promise<void> {
  t.equal(await page.evaluate('window.pwned'), undefined, `${name}: no script ran`);
  t.strictSame(await page.evaluate('window.refused'), [], `${name}: none was there to refuse`);
}

/** Opens a page in the window that is there, and waits for a text of strangers on it. */
async function shows(page: Page, path: string, text: string): Promise<void> {
  await page.goto(path);
  await page.getByText(text).first().waitFor();
}

async function signInAs(dashboard: DashboardBrowser, userAgent: string): Promise<void> {
  const { email, password } = dashboard.account;
  const headers = { ...ownPage(), 'User-Agent': userAgent, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ email, password });
  const url = dashboard.service.url + SESSION;
  const { status } = await fetch(url, { method: 'POST', headers, body });
  if (status !== 200) throw new Error(`Signing in was answered ${status}.`);
}

async function textTests(t: Test, dashboard: DashboardBrowser): Promise<void> {
  const { page, service, account } = dashboard;
  const client = service.client();
  const html = `<!doctype html><title>${SCRIPT}</title><p>text</p>
    <img src="http://127.0.0.1:9/${encodeURIComponent(SCRIPT)}">
    <script>console.error(${JSON.stringify(SCRIPT).replaceAll('</', '<\\/')})</script>`;
  const titled = { html, filename: 'a<b onclick=x>.pdf', metadata: { title: SCRIPT } } as const;
  const failing = { html: '<p>', wait_for: { selector: `[title='${SCRIPT}'` } } as const;
  const { id } = await client.create(titled);
  await client.wait(id);
  const { id: failed } = await client.create(failing);
  await client.wait(failed);
  const byUrl = await client
    .create({ url: `http://127.0.0.1:9/?${SCRIPT}` })
    .catch(() => undefined);
  if (byUrl !== undefined) await client.wait(byUrl.id);
  const cli = async (...words: readonly string[]) => {
    const { code, stderr } = await runCli(service.place, words);
    t.equal(code, 0, stderr);
  };
  await cli('key', 'create', account.email, '--name', SCRIPT);
  await cli('account', 'create', ADDRESS);
  await signInAs(dashboard, SCRIPT);

  await t.test('a key’s name', async (sub) => {
    await shows(page, '/keys', SCRIPT);
    await unharmed(sub, page, 'keys');
    await page.getByRole('button', { name: `Revoke ${SCRIPT}` }).click();
    await page.getByRole('dialog').waitFor();
    await unharmed(sub, page, 'its dialog');
  });

  await t.test('what a document says of itself', async (sub) => {
    await shows(page, `/conversions/${id}`, 'Made: 1 page');
    await page.getByText('Technical details').click();
    for (const name of [/Resources/, /Fonts/, /Console/]) {
      await page.getByRole('tab', { name }).click();
    }
    sub.match(await page.getByRole('tabpanel').innerText(), SCRIPT);
    await unharmed(sub, page, 'conversion');
  });

  await t.test('the reason of a failure, and the address of a page', async (sub) => {
    for (const each of [failed, ...(byUrl === undefined ? [] : [byUrl.id])]) {
      await shows(page, `/conversions/${each}`, 'What to do');
      await unharmed(sub, page, 'failed conversion');
    }
    await shows(page, '/conversions', failed);
    await unharmed(sub, page, 'conversions');
    await shows(page, '/', account.email);
    await page.getByText('Failed').first().waitFor();
    await unharmed(sub, page, 'home');
  });

  await t.test('a client’s name in the list of sessions', async (sub) => {
    await shows(page, '/account', '<img');
    await unharmed(sub, page, 'account');
  });

  await t.test('another account’s address, as operators see it', async (sub) => {
    await shows(page, '/operations/accounts', ADDRESS);
    await unharmed(sub, page, 'accounts');
    await link(page, ADDRESS).click();
    await page.getByRole('heading', { level: 1, name: ADDRESS }).waitFor();
    await unharmed(sub, page, 'one account');
    await shows(page, '/operations', 'Failures');
    await unharmed(sub, page, 'operations');
  });

  await t.test('the events of the account', async (sub) => {
    await page.goto('/history');
    await link(page, failed).first().waitFor();
    await unharmed(sub, page, 'history');
  });

  await t.test('an answer that is no PDF is shown as nothing else', async (sub) => {
    const body = `<script>parent.${MARK}; top.${MARK}</script>`;
    await page.route('**/file/', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'pdfViewerEnabled', { value: true })",
    );
    await page.goto(`/conversions/${id}`);
    await page.getByRole('button', { name: 'Show the PDF' }).click();
    const frame = page.locator('iframe');
    sub.match(await frame.getAttribute('src'), /^blob:/);
    await page.getByText('Made: 1 page').waitFor();
    await unharmed(sub, page, 'its frame');
    await page.unroute('**/file/');
  });
}

const ATTACKER = (target: string): string => `<!doctype html>
  <iframe name=form></iframe><iframe src="${target}/" id=framed></iframe>
  <form method=post enctype=text/plain target=form action="${target}${SESSION}">
    <input name='{"email":"x@example.com","password":"' value='"}'></form>
  <script>
    document.forms[0].submit();
    const send = (path, init) => fetch(${JSON.stringify(target)} + path,
      { credentials: 'include', ...init }).then((r) => r.type + ' ' + r.status, () => 'blocked');
    const json = { method: 'POST', body: '{"html":"<p>", "name":"x"}' };
    window.results = Promise.all([
      send('${SESSION}', {}),
      send('${SESSION}', { method: 'DELETE' }),
      send('${SESSION}', { ...json, mode: 'no-cors' }),
      send('${BASE}/pdf/', { ...json, mode: 'no-cors' }),
      send('${BASE}/api-keys/', { ...json, mode: 'no-cors' }),
      send('${BASE}/account/', {}),
    ]);
  </script>`;

async function otherOriginTests(t: Test, dashboard: DashboardBrowser): Promise<void> {
  const { page, context, service } = dashboard;
  const client = service.client();
  const origin = await servePages(t, { '/': { body: ATTACKER(service.url) } });
  const before = await client.account();
  const [cookie] = await context.cookies();

  // Another port of the same host is another origin of the same site: it gets the cookie.
  for (const attacker of [origin, origin.replace('127.0.0.1', 'localhost')]) {
    await t.test(`a page of ${new URL(attacker).hostname}`, async (sub) => {
      const other = await context.newPage();
      await other.goto(attacker);
      const results = await other.evaluate<string[]>('results');
      const harmless = /^(blocked|opaque 0)$/;
      sub.strictSame(
        results.filter((result) => !harmless.test(result)),
        [],
        'it reads nothing',
      );
      const framed = await (await other.locator('#framed').elementHandle())?.contentFrame();
      await framed?.waitForLoadState();
      sub.match(framed?.url(), /^chrome-error:/, 'it frames nothing');
      await other.close();
      sub.strictSame(await client.account(), before, 'nothing was done');
      await page.goto('/keys');
      await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
      sub.ok(cookie && (await context.cookies()).some(({ name }) => name === cookie.name));
    });
  }
}

async function redirectTests(t: Test, dashboard: DashboardBrowser): Promise<void> {
  const { page, service, account } = dashboard;
  const elsewhere = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/\t/evil.example/',
    '\\\\evil.example',
    `javascript:${MARK}`,
    `data:text/html,<script>${MARK}</script>`,
  ];
  for (const from of elsewhere) {
    await signIn(page, account, `/sign-in?from=${encodeURIComponent(from)}`);
    await page.getByText(account.email).first().waitFor();
    t.equal(new URL(page.url()).origin, service.url, JSON.stringify(from));
    t.equal(await page.evaluate('window.pwned'), undefined);
  }
}

void test('the dashboard under attack', async (t) => {
  const dashboard = await withNewPassword(await startDashboard(t));
  await dashboard.context.addInitScript(WATCH);
  await t.test('a link to sign-in leads nowhere else', (sub) => redirectTests(sub, dashboard));
  await t.test('script in texts of strangers', (sub) => textTests(sub, dashboard));
  t.strictSame(dashboard.complaints, []);
  await t.test('pages of other origins', (sub) => otherOriginTests(sub, dashboard));
});
