/** The owner of a new service, from the first sign-in to the account of a customer, in a real Chrome. */
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { inspectPage, inspectState, signIn, startDashboard } from '../support/dashboard-browser.ts';

const PASSWORD = 'staple battery horse';
const CUSTOMER = 'ann@example.com';
const OPERATORS_WORDS = /first start|bin\/pressledger|operators/i;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const main = (page: Page) => page.locator('main').innerText();

void test('the first hour of an owner', async (t) => {
  const { page, account, service, complaints } = await startDashboard(t, { FREE_CREDITS: '3' });

  await t.test('the sign-in page says nothing to strangers', async (sub) => {
    await page.goto('/');
    await page.getByLabel('Email').waitFor();
    sub.notMatch(await page.locator('body').innerText(), OPERATORS_WORDS);
  });

  await t.test(
    'with the first password, every page for operators leads to changing it',
    async (sub) => {
      await signIn(page, account);
      await link(page, 'Change the first password').waitFor();
      sub.equal(await link(page, 'Operations').count(), 0);
      sub.strictSame(await inspectPage(page, 'first-hour-home'), []);
      for (const path of ['/operations', '/operations/accounts', '/operations/log']) {
        await page.goto(path);
        await page.getByText('Change the first password to open the pages for operators').waitFor();
      }
      sub.strictSame(await inspectState(page, 'first-hour-operations'), []);
      await link(page, 'Change the password').click();
      await title(page, 'Account').waitFor();
    },
  );

  await t.test('the same password is refused, another opens the pages at once', async (sub) => {
    await page.getByLabel('Current password').fill(account.password);
    await page.getByLabel('New password').fill(account.password);
    await button(page, 'Change the password').click();
    await page.getByText('The new password is the current one. Choose another.').waitFor();
    sub.strictSame(await inspectState(page, 'first-hour-password'), []);
    await page.getByLabel('New password').fill(PASSWORD);
    await button(page, 'Change the password').click();
    await link(page, 'Operations').click();
    await page.getByText('Ready', { exact: true }).waitFor();
  });

  await t.test('the first PDFs raise no false alarm', async (sub) => {
    await link(page, 'Home').click();
    await page.getByText(/You are an operator of this service/).waitFor();
    await page.getByText('No conversions yet').waitFor();
    const client = service.client();
    const { id } = await client.create({ html: '<h1>One page</h1>' });
    await client.wait(id);
    await link(page, 'All conversions').waitFor();
    await link(page, '2 credits left').waitFor();
    await page.getByText('1 completed · 0 failed · 1 page', { exact: true }).waitFor();
    sub.notMatch(await main(page), /credits last|1 conversions|1 pages/);
    sub.strictSame(await inspectState(page, 'first-hour-pdf'), []);
  });

  await t.test('an operator without credits adds them', async (sub) => {
    const client = service.client();
    for (const page_size of ['A4', 'A5'] as const) {
      const { id } = await client.create({ html: '<h1>Another</h1>', page_size });
      await client.wait(id);
    }
    await page.goto('/');
    await page.getByText('No credits are left').waitFor();
    sub.notMatch(await main(page), /Ask the operator/);
    await link(page, 'Add credits').click();
    await page.getByRole('textbox', { name: 'Credits to add' }).fill('500');
    await button(page, 'Grant the credits').click();
    await page.getByText('500 credits are granted.').first().waitFor();
  });

  await t.test('a customer gets an account, and reads nothing of operators', async (sub) => {
    await link(page, 'Accounts').click();
    await button(page, 'Open an account').click();
    const dialog = page.getByRole('dialog', { name: 'Open an account' });
    await dialog.getByLabel('Email').fill(CUSTOMER);
    await dialog.getByRole('textbox', { name: 'Credits to begin with' }).fill('0');
    await button(page, 'Open the account').click();
    const opened = page.getByRole('dialog', { name: 'The account is open' });
    const password = await opened.locator('pre').innerText();
    await button(page, 'I have copied the password').click();
    await button(page, 'Sign out').click();
    await page.waitForURL('**/sign-in');
    await signIn(page, { email: CUSTOMER, password });
    await page.getByText(/Ask the operator of the service for more/).waitFor();
    sub.notMatch(await main(page), OPERATORS_WORDS);
  });
  t.strictSame(complaints, []);
});
