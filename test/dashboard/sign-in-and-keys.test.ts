/** A person signs in, makes a key, revokes it and signs out, in a real Chrome. */
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { BASE } from '../support/api.ts';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { inspectPage, inspectState, signIn, startDashboard } from '../support/dashboard-browser.ts';

const PASSWORD = 'staple battery horse';
const OTHER = 'horse battery staple';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

async function createKey(t: Test, page: Page): Promise<string> {
  await button(page, 'Create a key').click();
  const dialog = page.getByRole('dialog', { name: 'Create a key' });
  await dialog.getByLabel('Name').fill('<b>build</b> server');
  t.strictSame(await inspectState(page, 'keys-create'), []);
  await dialog.getByRole('button', { name: 'Create a key' }).click();
  const shown = page.getByRole('dialog', { name: 'The key “<b>build</b> server”' });
  const key = await shown.locator('pre').innerText();
  t.match(key, /^pk_live_[0-9A-Za-z]{24}$/);
  t.strictSame(await inspectState(page, 'keys-created'), []);
  await button(page, 'I have copied the key').click();
  return key;
}

void test('signing in, a key made and revoked, and signing out', async (t) => {
  const dashboard = await startDashboard(t);
  const { page, service, account } = dashboard;
  const status = async (key: string): Promise<number> =>
    (await fetch(`${service.url}${BASE}/account/`, { headers: { 'X-API-Key': key } })).status;

  await page.goto('/keys');
  await page.waitForURL(/\/sign-in\?from=%2Fkeys$/);
  t.strictSame(await inspectPage(page, 'sign-in'), []);

  await t.test('another language is chosen, and kept', async (sub) => {
    await page.getByLabel('Language').selectOption('de');
    await button(page, 'Anmelden').first().waitFor();
    sub.equal(await page.locator('html').getAttribute('lang'), 'de');
    await page.reload();
    await page.getByRole('heading', { name: 'Bei Pressledger anmelden' }).waitFor();
    sub.strictSame(await inspectPage(page, 'sign-in-german'), []);
    await page.getByLabel('Sprache').selectOption('en');
    await button(page, 'Sign in').first().waitFor();
  });

  await t.test('a wrong password is refused in words', async (sub) => {
    await page.getByLabel('Email').fill(account.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const alert = page.getByRole('alert');
    sub.match(await alert.innerText(), /The email address or the password is wrong/);
    sub.strictSame(await inspectState(page, 'sign-in-refused'), []);
  });

  await t.test('signing in leads to the page that was asked for', async () => {
    await signIn(page, account, '/keys');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await page.waitForURL('**/keys');
  });

  const key = await createKey(t, page);
  await t.test('the key is listed, without its secret, and works', async (sub) => {
    const row = page.getByRole('row', { name: /<b>build<\/b> server/ });
    sub.match(await row.innerText(), new RegExp(`${key.slice(0, 12)}…`));
    sub.match(await row.innerText(), /Convert, Read, History, Webhooks/, 'all but keys');
    sub.notOk((await page.content()).includes(key), 'the key is shown only once');
    sub.equal(await status(key), 200);
    sub.strictSame(await inspectPage(page, 'keys'), []);
  });

  await t.test('a key is bounded by choices', async (sub) => {
    await button(page, 'Create a key').click();
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    await dialog.getByLabel('Name').fill('n'.repeat(101));
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    // It is refused, and not cut without a word.
    await dialog.getByText(/A name has 1 to 100 characters/).waitFor();
    await dialog.getByLabel('Name').fill('the shop');
    for (const label of [/^Read all/, /^Read the history/, /^Set up webhooks/]) {
      await dialog.locator('label').filter({ hasText: label }).click();
    }
    await dialog.getByText('Addresses, limits and tests').click();
    const addresses = dialog.getByLabel('Only from these addresses');
    await addresses.fill('127.0.0.1\n203.0.113.9/24');
    await dialog.getByRole('textbox', { name: 'Credits a month' }).fill('7');
    await dialog
      .locator('label')
      .filter({ hasText: /^For tests/ })
      .click();
    sub.strictSame(await inspectState(page, 'keys-bounds'), []);
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    await dialog
      .getByText(/Has bits beyond its prefix: the network is 203\.0\.113\.0\/24/)
      .waitFor();
    await addresses.fill('127.0.0.1, 203.0.113.0/24');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    const shown = page.getByRole('dialog', { name: 'The key “the shop”' });
    const shop = await shown.locator('pre').innerText();
    await button(page, 'I have copied the key').click();
    const text = await page.getByRole('row', { name: /the shop/ }).innerText();
    sub.match(shop, /^pk_test_/);
    sub.match(
      text,
      /Convert\s+For tests\s+From 127\.0\.0\.1\/32, 203\.0\.113\.0\/24\s+0 of 7 credits/,
    );
    const headers = { 'X-API-Key': shop };
    const listed = await fetch(`${service.url}${BASE}/conversions/`, { headers });
    sub.equal(listed.status, 403);
  });

  await t.test('revoking asks first, and says what happens', async (sub) => {
    await button(page, 'Revoke <b>build</b> server').click();
    const dialog = page.getByRole('dialog');
    sub.match(await dialog.innerText(), /refused at once/);
    sub.strictSame(await inspectState(page, 'keys-revoke'), []);
    await button(page, 'Cancel').click();
    sub.equal(await status(key), 200);
    await button(page, 'Revoke <b>build</b> server').click();
    const lists = '**/api/v1/api-keys/**';
    await page.route(lists, (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ status: 500, json: { error: 'internal_error', message: 'It broke.' } })
        : route.continue(),
    );
    await button(page, 'Revoke the key').click();
    await page.getByText('The key “<b>build</b> server” is revoked.').waitFor();
    sub.equal(await status(key), 401);
    await page.getByText('This could not be renewed and may be out of date.').waitFor();
    await page.getByRole('row', { name: /<b>build<\/b> server/ }).waitFor();
    sub.strictSame(await inspectState(page, 'keys-not-renewed'), []);
    await page.unroute(lists);
  });

  await t.test('a certificate is set, seen and removed', async (sub) => {
    await page.getByRole('link', { name: 'Account' }).click();
    const section = page.locator('section').filter({
      has: page.getByRole('heading', { level: 2, name: 'Certificate for signatures' }),
    });
    await section
      .getByText(/^None\. PDFs are signed with the certificate of the service/)
      .waitFor();
    const choose = async (content: Buffer, secret: string): Promise<void> => {
      const file = { name: 'ada.p12', mimeType: 'application/x-pkcs12', buffer: content };
      await section.getByLabel('PKCS#12 file').setInputFiles(file);
      await section.getByLabel('Password of the file').fill(secret);
      await button(page, 'Set the certificate').click();
    };
    const { p12 } = makeSigner(sub);
    await choose(Buffer.from('a picture'), P12_PASSWORD);
    await section.getByText('This is not a PKCS#12 file (.p12 or .pfx).').waitFor();
    sub.strictSame(await inspectState(page, 'account-certificate-refused'), []);
    await choose(Buffer.alloc(50_000), P12_PASSWORD);
    await section.getByText('“ada.p12” is too large for a PKCS#12 file').waitFor();
    await choose(p12, 'not the password');
    await section.getByText('The password does not open the file.').waitFor();
    await choose(p12, P12_PASSWORD);
    await section.getByText('CN=Ada Lovelace, O=Müller GmbH, C=DE').waitFor();
    await section.getByText('CN=Test CA').waitFor();
    sub.match(await section.innerText(), /Expires\s+\d+ \w+ \d{4}, .*\s+in (29|30) days/);
    sub.equal(await section.getByLabel('Password of the file').inputValue(), '');
    sub.strictSame(await inspectState(page, 'account-certificate'), []);
    await button(page, 'Remove the certificate').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the certificate' }).click();
    await section.getByText(/^None\./).waitFor();
    await page.getByRole('link', { name: 'Keys' }).click();
  });

  await t.test('a changed password ends all other sessions, and this page stays', async (sub) => {
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('row', { name: /Chrome on Linux.*This one/ }).waitFor();
    await page.locator('h1:focus', { hasText: 'Account' }).waitFor();
    sub.strictSame(await inspectPage(page, 'account'), []);
    const before = await dashboard.context.cookies();
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill(PASSWORD);
    await button(page, 'Change the password').click();
    await page.getByText(/current password is wrong/i).waitFor();
    await page.getByLabel('Current password').fill(account.password);
    await button(page, 'Change the password').click();
    await page.getByText('The password is changed. All other sessions have ended.').waitFor();
    sub.equal(await page.getByLabel('New password').inputValue(), '');
    const [old] = before;
    const headers = { Cookie: `${old?.name}=${old?.value}`, 'Sec-Fetch-Site': 'same-origin' };
    sub.equal((await fetch(`${service.url}/dashboard/session`, { headers })).status, 401);
    await page.getByRole('row', { name: /This one/ }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  });

  await t.test('a new password that cannot sign in at once is asked for', async (sub) => {
    const session = '**/dashboard/session';
    await page.route(session, (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByLabel('New password').fill(OTHER);
    await button(page, 'Change the password').click();
    await page.getByText(/Sign in with the new one/).waitFor();
    sub.strictSame(await inspectState(page, 'sign-in-again'), []);
    await page.unroute(session);
    await signIn(page, { email: account.email, password: OTHER }, page.url());
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  });

  await t.test('without mail only an operator changes an address', async (sub) => {
    const section = page.locator('section', { hasText: 'Another address that you sign in with.' });
    await section.getByLabel('New address').fill('ada@new.example.com');
    await section.getByLabel('Your password').fill(OTHER);
    await section.getByRole('button', { name: 'Change the address' }).click();
    await page.getByText('An operator of the service can change it').waitFor();
    sub.equal((await page.getByText(account.email).count()) > 0, true);
  });

  await t.test('after signing out the cookie is gone, and worth nothing', async (sub) => {
    const [cookie] = await dashboard.context.cookies();
    sub.match(cookie, { name: '__Host-pressledger', httpOnly: true, secure: true });
    await button(page, 'Sign out').click();
    await page.waitForURL('**/sign-in');
    sub.strictSame(await dashboard.context.cookies(), []);
    const headers = { Cookie: `${cookie?.name}=${cookie?.value}`, 'Sec-Fetch-Site': 'same-origin' };
    sub.equal((await fetch(`${service.url}/dashboard/session`, { headers })).status, 401);
    await page.goBack();
    await page.waitForURL(/\/sign-in/);
  });
  t.strictSame(dashboard.complaints, []);
});
