/** A person looks at credits, usage and the history of the account, in a real Chrome. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { BASE } from '../support/api.ts';
import { inspectPage, inspectState, signIn, startDashboard } from '../support/dashboard-browser.ts';
import { eventually } from '../support/deadline.ts';
import type { Service } from '../support/service.ts';

/** Converts documents; the last one fails, and its credit has come back. */
async function convertSome(service: Service): Promise<void> {
  const client = service.client();
  const wrong = { html: '<p>Never</p>', page_ranges: '9' };
  for (const request of [{ html: '<p>One</p>' }, { html: '<p>Two</p>' }, wrong]) {
    const { id } = await client.create(request);
    await client.wait(id);
  }
  await eventually('the credit', async () => {
    const { credits } = await client.account();
    return credits === 98 || undefined;
  });
}

async function csvOf(page: Page, name: string): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name }).click();
  return await readFile(await (await download).path(), 'utf8');
}

void test('credits, usage and history', async (t) => {
  const dashboard = await startDashboard(t);
  const { page, account, service } = dashboard;
  await signIn(page, account, '/usage');
  await page.getByText('No conversions in these days').waitFor();
  t.strictSame(await inspectState(page, 'usage-empty'), []);
  await convertSome(service);

  await t.test('the balance, the plan, and the days in numbers', async (sub) => {
    await page.reload();
    await page.getByText('Conversions that ended, by result').waitFor();
    const balance = page.locator('section', { hasText: 'Credits left' }).first();
    sub.match(await balance.innerText(), /Credits left\s+98\s+Plan\s+Pro\s+.*\s+100$/);
    sub.strictSame(await inspectPage(page, 'usage'), []);
    await page.locator('summary', { hasText: 'View as table' }).click();
    const today = page.getByRole('table', { name: 'Conversions by day' }).getByRole('row').nth(1);
    sub.match(await today.innerText(), /^\d{4}-\d\d-\d\d\s+3\s+2\s+1\s+0\s+2\s/);
    sub.strictSame(await inspectState(page, 'usage-table'), []);
    const day = await today.getByRole('link').innerText();
    const asked = page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url());
      const isDay = searchParams.get('from') === `${day}T00:00:00.000Z`;
      return pathname === `${BASE}/conversions/` && isDay;
    });
    await today.getByRole('link').click();
    const next = new Date(Date.parse(day) + 24 * 60 * 60 * 1000).toISOString();
    sub.equal(new URL((await asked).url()).searchParams.get('to'), next, 'the day in UTC');
    await page.getByText('3 conversions match').waitFor();
    await page.getByRole('button', { name: `${day} in UTC` }).click();
    await page.getByRole('option', { name: 'Last 7 days' }).click();
    await page.waitForURL(/\/conversions\?from=[\d-]+$/);
    await page.goto('/usage');
    await page.locator('summary', { hasText: 'View as table' }).click();
  });

  await t.test('other days are chosen, and stay in the address', async (sub) => {
    await page.getByRole('button', { name: /Days/ }).click();
    await page.getByRole('option', { name: 'Last 90 days' }).click();
    await page.waitForURL('**/usage?days=90');
    const rows = page.getByRole('table', { name: 'Conversions by day' }).getByRole('row');
    await rows.nth(90).waitFor({ state: 'attached' });
    sub.equal(await rows.count(), 91);
  });

  await t.test('both lists are exported as CSV', async (sub) => {
    const ledger = await csvOf(page, 'Export as CSV: the ledger');
    sub.equal(ledger.trim().split('\n').length, 1 + 5, 'a grant, three debits and a refund');
    sub.match(await csvOf(page, 'Export as CSV: the usage'), /accepted/);
  });

  await t.test('the events are filtered, and the filters stay in the address', async (sub) => {
    await page.goto('/history');
    await page.getByRole('table', { name: 'Events of the account' }).waitFor();
    const failure = page.getByRole('row').filter({ hasText: 'failed, refunded' });
    await failure.getByText('Requested, failed, refunded').click();
    await failure.getByText('The conversion failed (page_range)').waitFor();
    sub.equal(await page.getByText('Attempt 1 started on').count(), 0);
    await page.getByText('Automatic steps', { exact: true }).click();
    await failure.getByText('Attempt 1 started on').waitFor();
    await page.getByText('Automatic steps', { exact: true }).click();
    sub.strictSame(await inspectPage(page, 'history'), []);
    await page.getByRole('button', { name: /Event/ }).first().click();
    await page.getByRole('option', { name: 'Conversion failed' }).click();
    await page.waitForURL('**/history?type=ConversionFailed');
    const rows = page.getByRole('table', { name: 'Events of the account' }).getByRole('row');
    await rows.nth(2).waitFor({ state: 'detached' });
    const failed = await rows.nth(1).innerText();
    const time = await rows.nth(1).locator('time').getAttribute('title');
    sub.match(time, /\d{4}, \d\d:\d\d:\d\d (CET|CEST|GMT[+]\d)/, 'a time with its zone');
    sub.match(failed, /The conversion failed/);
    await rows
      .nth(1)
      .getByRole('link', { name: /^conv_/ })
      .click();
    await page.waitForURL('**/conversions/conv_*');
    await page.goBack();
    await page.getByRole('textbox', { name: 'Conversion' }).fill('nonsense');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The filters cannot be applied.').waitFor();
    sub.equal(await page.getByText('conversion_id').count(), 0);
    sub.strictSame(await inspectState(page, 'history-wrong'), []);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL('**/history');
  });

  await t.test('the account is shown as it was after an event', async (sub) => {
    await page.goto('/history?type=CreditGranted');
    await page.getByRole('link', { name: /^After event/ }).click();
    const past = page.locator('section', { hasText: 'This is the past' });
    await past.getByText('This is the past').waitFor();
    sub.match(await past.innerText(), /Credits\s+100\s+Plan\s+Pro/);
    sub.match(page.url(), /asOf=\d+$/, 'no quotes in the address');
    await page.goto(page.url().replace('type=CreditGranted&', ''));
    await page.getByText('100 credits were granted.').waitFor();
    sub.equal(await page.getByRole('link', { name: /^conv_/ }).count(), 0, 'what came later');
    sub.strictSame(await inspectState(page, 'history-past'), []);
    await page.getByLabel('Time', { exact: true }).fill('2001-01-01T00:00');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('The account was opened after this moment').waitFor();
    sub.strictSame(await inspectState(page, 'history-too-early'), []);
    await page.getByLabel('Time', { exact: true }).fill('2099-01-01T00:00');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('This time is in the future. Choose one that has passed.').waitFor();
    sub.equal(await page.getByText('as_of').count(), 0);
    sub.strictSame(await inspectState(page, 'history-future'), []);
    await page.goto('/history?asOf=999999');
    await page.getByText('The log has no event of this number yet.').waitFor();
    await page.getByRole('button', { name: 'Back to the present' }).click();
    await page.getByText('This is the past').waitFor({ state: 'detached' });
  });

  t.strictSame(dashboard.complaints, []);
});
