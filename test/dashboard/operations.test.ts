/** An operator looks after the service and its accounts, in a real Chrome. */
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { BASE } from '../support/api.ts';
import { cliJson, runCli } from '../support/cli.ts';
import {
  type DashboardBrowser,
  inspectPage,
  inspectState,
  signIn,
  startDashboard,
  withNewPassword,
} from '../support/dashboard-browser.ts';

// Read as HTML it would be another text.
const CUSTOMER = "ada'&amp=x@example.com";
const UNTIL = '2100-06-30T12:00';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const toast = (page: Page, text: string | RegExp) =>
  page.getByRole('status').getByText(text).first();
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

async function setOperator({ service, account }: DashboardBrowser, option: '--grant' | '--revoke') {
  await cliJson(service.place, ['account', 'operator', account.email, option]);
}

/** Somebody else can act for the service, so that the account under test can be revoked. */
async function addOperator({ service }: DashboardBrowser) {
  await cliJson(service.place, ['account', 'create', 'other@example.com']);
  await cliJson(service.place, ['account', 'operator', 'other@example.com', '--grant']);
}

/** @returns the types of the events of an account, as the log has them */
async function eventsOf({ service }: DashboardBrowser, id: string): Promise<readonly string[]> {
  const { stdout } = await runCli(service.place, ['history', id, '--json']);
  return [...stdout.matchAll(/"type":\s*"(\w+)"/g)].map(([, type = '']) => type);
}

async function fail({ service }: DashboardBrowser): Promise<string> {
  const client = service.client();
  const { id } = await client.create({ html: '<h1>One page</h1>', page_ranges: '7' });
  await client.wait(id);
  return id;
}

async function serviceTests(t: Test, dashboard: DashboardBrowser): Promise<void> {
  const { page, context } = dashboard;

  await t.test('the state of the service, and what is not there yet', async (sub) => {
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByText('The service itself').waitFor();
    await page.getByText('0 of 1 in use').waitFor();
    await page.getByText('No conversion is unfinished.').waitFor();
    await page.getByText('Nothing has failed in this time.').waitFor();
    // It stands there until the list is loaded, and has none.
    await page.getByRole('heading', { name: 'Newest failures' }).waitFor({ state: 'detached' });
    await page.locator('canvas').nth(4).waitFor();
    sub.strictSame(await inspectState(page, 'operations-calm'), []);
  });

  const failed = await fail(dashboard);
  await t.test('a failure is counted at once, and listed when it is asked for', async (sub) => {
    await page.getByRole('row', { name: /^The page range has no pages HTML renderer-/ }).waitFor();
    await button(page, 'Show newer failures').waitFor();
    sub.equal(await page.getByText(failed).count(), 0);
    await button(page, 'Show newer failures').click();
    await page.getByRole('row', { name: failed }).waitFor();
    sub.strictSame(await inspectPage(page, 'operations'), []);
    await button(page, 'Show these: The page range has no pages').click();
    await page.getByRole('heading', { name: /^The page range has no pages: HTML, / }).waitFor();
    await page.getByRole('link', { name: failed }).waitFor();
    await button(page, 'Show all').click();
  });

  await t.test(
    'the numbers of a chart are in a table; a time in the past has its own',
    async (sub) => {
      const open = page.locator('summary', { hasText: /: Conversions in each minute$/ });
      await open.click();
      const table = page.getByRole('table', { name: 'Conversions in each minute' });
      await table
        .getByRole('row', { name: /CET|CEST|GMT.* 1 0 1 0$/ })
        .first()
        .waitFor();
      await page.getByLabel('Up to (empty: now)').fill('2020-02-01T12:00');
      await page.getByLabel('Up to (empty: now)').blur();
      await page.waitForURL(/until=2020-02-01T11/);
      await page.getByText('Nothing has failed in this time.').waitFor();
      await table.getByRole('row', { name: /^1 Feb, 11:59/ }).waitFor();
      sub.strictSame(await inspectState(page, 'operations-past'), []);
      await page.goBack();
      await page
        .getByRole('row', { name: /^The page range has no pages HTML renderer-/ })
        .waitFor();
    },
  );

  await t.test('a pause keeps what is shown', async (sub) => {
    const asOf = page.locator('time').first();
    await button(page, 'Pause').click();
    await page.getByText('Paused', { exact: true }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    // A page that asks again because of it does so before this.
    await page.evaluate("fetch('/healthz').then(({ ok }) => ok)");
    sub.notOk(asked.includes(`${BASE}/operator/status/`), asked.join(' '));
    const before = await asOf.getAttribute('datetime');
    await button(page, 'Continue').click();
    await page.locator(`time:not([datetime="${before}"])`).first().waitFor();
  });

  await t.test('a lost connection is said, with since when the data is', async (sub) => {
    await context.setOffline(true);
    const lost = page.getByText('Connection lost. Trying again.');
    await lost.waitFor();
    await page.getByText(/^As of /).waitFor();
    sub.strictSame(await inspectState(page, 'operations-lost'), []);
    await context.setOffline(false);
    await lost.waitFor({ state: 'detached' });
  });
}

async function logTests(t: Test, { page }: DashboardBrowser): Promise<void> {
  await t.test('checkpoints and projections, which are rebuilt after a question', async (sub) => {
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await page.getByRole('row', { name: /^accounts/ }).waitFor();
    await page.getByText(/^pressledger\/[0-9a-f]{16}$/).waitFor();
    sub.strictSame(await inspectPage(page, 'operations-log'), []);
    await button(page, 'Rebuild the projections').click();
    const dialog = page.getByRole('dialog');
    sub.match(await dialog.innerText(), /reads the whole log/);
    sub.strictSame(await inspectState(page, 'operations-rebuild'), []);
    await dialog.getByRole('button', { name: 'Rebuild the projections' }).click();
    await page.getByText(/The last rebuild ended well/).waitFor();
  });
}

/** @returns the id of the account that was opened */
async function openingTests(t: Test, { page, service }: DashboardBrowser): Promise<string> {
  let id = '';
  await t.test('an account is opened, with a password that is shown once', async (sub) => {
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.getByRole('table', { name: 'Accounts' }).waitFor();
    await button(page, 'Open an account').click();
    const dialog = page.getByRole('dialog', { name: 'Open an account' });
    await dialog.getByLabel('Email').fill('not an address');
    await button(page, 'Open the account').click();
    await dialog.getByText(/is not an email address/).waitFor();
    sub.strictSame(await inspectState(page, 'operations-open'), []);
    await dialog.getByLabel('Email').fill(CUSTOMER);
    await dialog.getByRole('textbox', { name: 'Credits to begin with' }).fill('20');
    await button(page, 'Open the account').click();
    const opened = page.getByRole('dialog', { name: 'The account is open' });
    const password = await opened.locator('pre').innerText();
    sub.match(password, /^\w{24}$/);
    sub.strictSame(await inspectState(page, 'operations-opened'), []);
    await button(page, 'I have copied the password').click();
    await title(page, CUSTOMER).waitFor();
    sub.notOk((await page.content()).includes(password));
    const body = JSON.stringify({ email: CUSTOMER, password });
    const headers = { 'Content-Type': 'application/json' };
    const signed = await fetch(`${service.url}${BASE}/auth/jwt/create/`, {
      method: 'POST',
      headers,
      body,
    });
    sub.equal(signed.status, 200, 'the password is that of the account');
    id = /acct_\w+$/.exec(page.url())?.[0] ?? '';
  });

  await t.test('the list finds an account by its address', async (sub) => {
    await page.getByRole('link', { name: 'All accounts' }).click();
    const search = page.getByLabel('Find', { exact: true });
    await page.getByRole('row', { name: /^admin@localhost Operator/ }).waitFor();
    await search.fill('ADA');
    await page
      .getByRole('row', { name: /^admin@localhost Operator/ })
      .waitFor({ state: 'detached' });
    await page.getByRole('link', { name: CUSTOMER }).waitFor();
    await search.fill('');
    sub.strictSame(await inspectPage(page, 'operations-accounts'), []);
    await search.fill('nobody@example.com');
    await search.press('Enter');
    await page.getByText('No account has nobody@example.com').waitFor();
    sub.strictSame(await inspectState(page, 'operations-accounts-none'), []);
    await button(page, 'Show all').click();
    await page.getByRole('row', { name: /^admin@localhost Operator/ }).waitFor();
    await search.fill('nowhere');
    await page.getByText('No account of this page has nowhere').waitFor();
    await page.getByLabel('Find', { exact: true }).fill(CUSTOMER.toUpperCase());
    await button(page, 'Find').click();
    await page.getByRole('link', { name: CUSTOMER }).click();
    await title(page, CUSTOMER).waitFor();
  });
  return id;
}

/** Opens the link in another tab, as the person who is given it does. */
async function setPasswordBy(t: Test, { context }: DashboardBrowser, link: string): Promise<void> {
  const other = await context.newPage();
  await other.goto(link);
  await other.getByLabel('New password').fill('staple battery horse');
  t.strictSame(await inspectState(other, 'reset-password'), []);
  await button(other, 'Set the password').click();
  await title(other, 'The password is set').waitFor();
  await other.goto('about:blank');
  await other.goto(link);
  await other.getByLabel('New password').fill('another one of them');
  await button(other, 'Set the password').click();
  await other.getByText(/does not set a password any more/).waitFor();
  await other.close();
}

async function accountTests(t: Test, dashboard: DashboardBrowser, id: string): Promise<void> {
  const { page, account } = dashboard;

  await t.test('plan, credits, hold and sessions are changed', async (sub) => {
    await page.getByLabel('Plan', { exact: true }).click();
    await page.getByRole('option', { name: 'Pro' }).click();
    await button(page, 'Change the plan').click();
    await toast(page, 'The account now has the plan Pro.').waitFor();
    await page.getByRole('textbox', { name: 'Credits to add' }).fill('500');
    await button(page, 'Grant the credits').click();
    await toast(page, '500 credits are granted. The account now has 520.').waitFor();

    const seconds = page.getByRole('textbox', { name: 'Seconds to keep new documents' });
    await seconds.fill('604801');
    await button(page, 'Set the retention').click();
    await page.getByText(/Must be at most 604800, which is RETENTION_SECONDS/).waitFor();
    await seconds.fill('7200');
    await button(page, 'Set the retention').click();
    await toast(page, 'New documents are kept for 2 hours at most.').waitFor();
    await page.getByText('At most 2 hours.').waitFor();
    sub.strictSame(await inspectState(page, 'operations-account-retention'), []);
    await button(page, 'Use the service’s retention').click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: 'Use the service’s retention' })
      .click();
    await page.getByText(/The account has no retention of its own/).waitFor();

    await page.getByLabel('End of the hold').fill('2001-01-01T00:00');
    await button(page, 'Place a hold').click();
    await page.getByText(/Must be an ISO 8601 time to come/).waitFor();
    await page.getByLabel('End of the hold').fill(UNTIL);
    await button(page, 'Place a hold').click();
    await page.getByText(/It ends by itself on 30 Jun 2100, 12:00:00 CEST/).waitFor();
    // What is waited for here would not come if another form had taken its place.
    await page.locator('button:focus', { hasText: 'Replace the hold' }).waitFor();
    sub.ok(await button(page, 'Erase the account').isDisabled());
    await page.getByText(/keeps the account from being erased/).waitFor();
    sub.strictSame(await inspectState(page, 'operations-account-held'), []);
    await button(page, 'Release the hold').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Release the hold' }).click();
    await page.getByText('The account is under no hold.').waitFor();

    const newKey = ['key', 'create', CUSTOMER, '--name', 'published'];
    sub.equal((await runCli(dashboard.service.place, newKey)).code, 0);
    await button(page, 'Look at its activity').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Look at it' }).click();
    await button(page, /^Revoke pk_live_/).click();
    await dialog.getByLabel('Reason').fill('It was published.');
    sub.strictSame(await inspectState(page, 'operations-revoke'), []);
    await dialog.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The account has no API key.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('No conversions in the last 30 days.').waitFor();
    await button(page, 'Make a reset link').click();
    await dialog.getByLabel('Reason').fill('She forgot it.');
    await dialog.getByLabel('Your own password').fill(account.password);
    sub.strictSame(await inspectState(page, 'operations-reset-link'), []);
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const made = page.getByRole('dialog', { name: 'The link is made' });
    const link = await made.locator('pre').innerText();
    await button(page, 'I have copied the link').click();
    await setPasswordBy(sub, dashboard, link);

    await button(page, 'Suspend the account').click();
    await dialog.getByLabel('Reason').fill('The invoice is not paid.');
    sub.strictSame(await inspectState(page, 'operations-suspend'), []);
    await dialog.getByRole('button', { name: 'Suspend the account' }).click();
    await page.getByText(/The account is suspended since .* The invoice is not paid\./).waitFor();
    await button(page, 'Resume the account').click();
    await dialog.getByRole('button', { name: 'Resume the account' }).click();
    await page.getByText('The account is not suspended.').waitFor();

    await button(page, 'End all sessions').click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('No session is open.').waitFor();
    sub.strictSame(await inspectPage(page, 'operations-account'), []);
  });

  await t.test('an erasure takes the address and the own password', async (sub) => {
    await button(page, 'Erase the account').click();
    const dialog = page.getByRole('dialog');
    sub.match(await dialog.innerText(), /data key of the account is destroyed/);
    const erase = dialog.getByRole('button', { name: 'Erase the account for good' });
    await dialog.getByLabel('Address of the account').fill(account.email);
    await dialog.getByLabel('Your own password').fill('not the password');
    await erase.click();
    await dialog.getByText('Is not the address of this account.').waitFor();
    await dialog.getByLabel('Address of the account').fill(CUSTOMER);
    await erase.click();
    await dialog.getByText('The password is wrong.').waitFor();
    sub.strictSame(await inspectState(page, 'operations-erase'), []);
    await dialog.getByLabel('Your own password').fill(account.password);
    await erase.click();
    await title(page, 'The account is erased').waitFor();
    sub.strictSame(await inspectState(page, 'operations-erased'), []);
    await page.reload();
    await page.getByText('There is no such account').waitFor();
    sub.strictSame(await inspectState(page, 'operations-account-missing'), []);
  });

  await t.test('the log has what was done', async (sub) => {
    const wanted = [
      'AccountOpened',
      'PlanChanged',
      'CreditGranted',
      'HoldPlaced',
      'HoldReleased',
      'AccountInspected',
      'KeyRevoked',
      'PasswordResetOffered',
      'PasswordChanged',
      'AccountSuspended',
      'AccountResumed',
      'SessionsEnded',
      'AccountErased',
    ];
    const types = await eventsOf(dashboard, id);
    sub.strictSame(
      wanted.filter((type) => !types.includes(type)),
      [],
    );
  });

  await t.test('nobody erases their own account', async (sub) => {
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.getByRole('link', { name: account.email }).click();
    await page.getByText(/This is your own account/).waitFor();
    sub.ok(await button(page, 'Erase the account').isDisabled());
  });
}

void test('the pages of operators', async (t) => {
  const dashboard = await withNewPassword(await startDashboard(t));
  const { page, account } = dashboard;
  const paths = ['/operations', '/operations/accounts', '/operations/log'];
  await addOperator(dashboard);
  await setOperator(dashboard, '--revoke');
  await signIn(page, account, '/operations');

  await t.test('a person who is not an operator reads which command changes that', async (sub) => {
    for (const path of [...paths, '/operations/accounts/acct_00000000000000000000000000']) {
      await page.goto(path);
      await title(page, 'For operators').waitFor();
      await page.getByText(`bin/pressledger account operator ${account.email} --grant`).waitFor();
    }
    sub.equal(await page.getByRole('link', { name: 'Operations' }).count(), 0);
    sub.strictSame(await inspectState(page, 'operations-not-operator'), []);
  });

  await setOperator(dashboard, '--grant');
  await page.goto('/');
  await serviceTests(t, dashboard);
  await logTests(t, dashboard);
  const id = await openingTests(t, dashboard);
  await accountTests(t, dashboard, id);

  await t.test('an operator who is one no more is told so, without an error', async () => {
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByText('Ready', { exact: true }).waitFor();
    await setOperator(dashboard, '--revoke');
    await title(page, 'For operators').waitFor();
    await toast(page, 'You are no longer an operator of this service.').waitFor();
  });
  t.strictSame(dashboard.complaints, []);
});
