/** A person goes the whole way in a real Chrome: from the first key to a PDF that is proved. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { BASE } from '../support/api.ts';
import { inspectState, startDashboard } from '../support/dashboard-browser.ts';
import { openPdf } from '../support/pdf.ts';

/** More than any page has: so that a walk that goes round in circles ends. */
const MOST_TABS = 60;
const HOLDS = 'Everything that was checked holds';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

/** Presses the tabulator until the focus is on what has the name. */
async function tabTo(page: Page, name: string): Promise<void> {
  const named = `(() => {
    const focused = document.activeElement;
    return focused?.getAttribute('aria-label') ?? focused?.textContent?.trim();
  })()`;
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(named)) === name) return;
  }
  throw new Error(`The keyboard does not lead to ${name}.`);
}

/** Waits for a page, and until its heading has the focus: where that is moved before, it is taken away. */
const arrive = (page: Page, name: string) =>
  page.locator('h1:focus').filter({ hasText: name }).waitFor();

/** Follows a link or presses a button as somebody without a mouse. */
async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

async function download(page: Page, name: string): Promise<{ name: string; content: Buffer }> {
  const [saved] = await Promise.all([page.waitForEvent('download'), button(page, name).click()]);
  return { name: saved.suggestedFilename(), content: await readFile(await saved.path()) };
}

async function verify(page: Page, name: string, content: Buffer): Promise<void> {
  const mimeType = name.endsWith('.pdf') ? 'application/pdf' : 'application/zip';
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType, buffer: content });
  await page.getByRole('heading', { level: 2, name }).waitFor();
  await page.getByText(HOLDS).waitFor();
}

void test('from signing in to a PDF that is proved', async (t) => {
  const { page, context, account, service, complaints } = await startDashboard(t);
  const convert = (key: string) =>
    fetch(`${service.url}${BASE}/pdf/`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ html: '<h1>Receipt 4711</h1>', filename: 'Receipt 4711' }),
    });
  let key = '';
  let id = '';
  let pdf: Buffer = Buffer.alloc(0);

  await t.test('the keyboard alone signs in and makes a key', async (sub) => {
    await page.goto('/');
    await page.getByLabel('Email').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(account.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(account.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    await press(page, 'Keys');
    await arrive(page, 'Keys');
    await button(page, 'Create a key').waitFor();
    await press(page, 'Create a key');
    await page.getByLabel('Name').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('the shop');
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog', { name: 'The key “the shop”' });
    key = await shown.locator('pre').innerText();
    await press(page, 'I have copied the key');
    await shown.waitFor({ state: 'detached' });
    sub.match(key, /^pk_live_/);
  });

  await t.test('a conversion with the key appears, and is opened', async () => {
    await press(page, 'Conversions');
    await page.getByText('No conversions yet').waitFor();
    const answer = await convert(key);
    ({ id } = (await answer.json()) as { id: string });
    await page.getByRole('row').filter({ hasText: id }).getByText('Completed').waitFor();
    await page
      .getByRole('row')
      .getByRole('link', { name: /Receipt 4711/ })
      .click();
    await page.getByText('Made: 1 page').waitFor();
  });

  await t.test('its PDF is downloaded, its proof checked in the browser', async (sub) => {
    const saved = await download(page, 'Download PDF');
    sub.match(saved.name, /Receipt 4711\.pdf$/);
    pdf = saved.content;
    sub.match((await openPdf(pdf)).text, /Receipt 4711/);
    await button(page, 'Check the proof in this browser').click();
    await page.getByText(HOLDS).waitFor();
  });

  const bundle = await download(page, 'Evidence bundle');

  await t.test('the history names it, and leads to it', async () => {
    await link(page, 'History').click();
    const table = page.getByRole('table', { name: 'Events of the account' });
    await table.getByRole('link', { name: /Receipt 4711/ }).click();
    await page.waitForURL(`**/conversions/${id}`);
  });

  await t.test('PDF and bundle are verified, as an auditor does', async () => {
    await link(page, 'Verify').click();
    await verify(page, 'receipt.pdf', pdf);
    await link(page, id).waitFor();
    await verify(page, bundle.name, bundle.content);
  });

  await t.test(
    'Ctrl+K leads to a page and to a document; the list of keys gives the focus back',
    async (sub) => {
      const field = page.getByRole('combobox', { name: 'A page, or words of a document' });
      const marked = page.getByRole('option', { selected: true });
      await page.keyboard.press('Control+k');
      await field.and(page.locator(':focus')).waitFor();
      await page.keyboard.type('web');
      await marked.filter({ hasText: 'Webhooks' }).waitFor();
      sub.strictSame(await inspectState(page, 'go-to'), []);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/webhooks');
      await arrive(page, 'Webhooks');
      await link(page, 'History').focus();
      await page.keyboard.press('Control+k');
      await field.fill('4711 receipt');
      await marked.filter({ hasText: 'Receipt 4711' }).waitFor();
      await field.fill('the');
      await marked.filter({ hasText: 'the shop' }).waitFor();
      await field.fill('nothing is called so');
      await page.getByText('Nothing has this name.').waitFor();
      await page.keyboard.press('Escape');
      await link(page, 'History').and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Control+k');
      await field.fill('4711 receipt');
      await marked.filter({ hasText: 'Receipt 4711' }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/conversions/${id}`);
      await arrive(page, 'Receipt 4711');
      await link(page, 'History').focus();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      sub.strictSame(await inspectState(page, 'keys-list'), []);
      await page.keyboard.press('Escape');
      await link(page, 'History').and(page.locator(':focus')).waitFor();
    },
  );

  await t.test('dark is chosen, and stays after a reload', async (sub) => {
    const shown = () => page.evaluate<string>('getComputedStyle(document.body).color');
    const light = await shown();
    await page.getByLabel('Appearance').selectOption('Dark');
    const dark = await shown();
    sub.not(dark, light);
    await page.reload();
    await page.getByLabel('Appearance').waitFor();
    sub.equal(await shown(), dark);
    await page.getByLabel('Appearance').selectOption('As the system');
    sub.equal(await shown(), light);
  });

  await t.test('the keyboard alone revokes the key and signs out', async (sub) => {
    await press(page, 'Keys');
    await arrive(page, 'Keys');
    await button(page, 'Revoke the shop').waitFor();
    await press(page, 'Revoke the shop');
    await page.getByRole('dialog').waitFor();
    await press(page, 'Revoke the key');
    await page.getByText('The key “the shop” is revoked.').waitFor();
    sub.equal((await convert(key)).status, 401);
    await press(page, 'Sign out');
    await page.waitForURL('**/sign-in');
    sub.strictSame(await context.cookies(), []);
  });
  t.strictSame(complaints, []);
});
