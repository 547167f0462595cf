/** Sessions, keys and accounts that end while a page of the dashboard is open, in a real Chrome. */
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { createApiKey, revokeApiKey } from '../../src/accounts/api-keys.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { ownPage, SESSION } from '../support/dashboard.ts';
import { inspectState, openBrowser, signIn } from '../support/dashboard-browser.ts';
import { eraseAccount } from '../support/erase-account.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** A service whose clock a test turns, and a Chrome that reaches it as a browser reaches a local one. */
async function start(t: Test) {
  const api = await startApi(t);
  const browser = await openBrowser(t, api.origin.replace('127.0.0.1', 'localhost'));
  const newPerson = async () => ({ ...(await api.newAccount()), password: PASSWORD });
  return { api, newPerson, ...browser };
}

async function newConversion(api: Api, key: string): Promise<string> {
  const { body } = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>page</p>' } });
  return String(body['id']);
}

void test('a session that has ended leads to sign-in, and back to the same place', async (t) => {
  const { api, newPerson, page, complaints } = await start(t);
  const person = await newPerson();
  await signIn(page, person, '/conversions?status=failed');
  await page.getByText('No conversion matches').waitFor();
  api.clock.time += DAY_MS + 1000;
  await button(page, 'Clear the filters').click();
  await page.getByText('Your session has ended. Sign in to go on.').waitFor();
  t.strictSame(await inspectState(page, 'sign-in-ended'), []);
  await signIn(page, person, page.url());
  await page.waitForURL('**/conversions');
  await heading(page, 'Conversions').waitFor();

  await t.test('a page that is opened after the end asks for the password, too', async () => {
    api.clock.time += DAY_MS + 1000;
    await page.goto('/history?type=CreditGranted');
    await page.waitForURL(/\/sign-in\?from=/);
    await signIn(page, person, page.url());
    await page.waitForURL('**/history?type=CreditGranted');
    await page.getByRole('table', { name: 'Events of the account' }).waitFor();
  });

  await t.test('an erased account is told so in words', async (sub) => {
    await eraseAccount(api, person.id, api.context());
    await link(page, 'Keys').click();
    await page.getByText('Your session has ended. Sign in to go on.').waitFor();
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const alert = await page.getByRole('alert').innerText();
    sub.match(alert, /email address or the password is wrong/);
  });
  t.strictSame(complaints, []);
});

void test('what another account has, or what is gone, is named as such', async (t) => {
  const { api, newPerson, page, complaints } = await start(t);
  const [person, other] = [await newPerson(), await newPerson()];
  const id = await newConversion(api, other.key);
  await signIn(page, person, `/conversions/${id}`);
  await page.getByText('This account has no such conversion').waitFor();
  await page.goto(`/playground?from=${id}`);
  await heading(page, 'Playground').waitFor();
  t.notMatch(await page.locator('main').innerText(), '<p>page</p>');
  await page.goto(`/operations/accounts/${other.id}`);
  await page
    .getByText(/for operators/i)
    .last()
    .waitFor();
  t.notMatch(await page.locator('main').innerText(), other.email);

  await t.test('a key that was revoked elsewhere', async () => {
    const { id: keyId } = await createApiKey(api, person.id, 'the shop', api.context());
    await link(page, 'Keys').click();
    await button(page, 'Revoke the shop').click();
    await revokeApiKey(api, keyId, { accountId: person.id }, api.context());
    await button(page, 'Revoke the key').click();
    await page.getByRole('alert').getByText('There is no such API key').waitFor();
    await button(page, 'Cancel').click();
    await button(page, 'Revoke the shop').waitFor({ state: 'detached' });
  });
  t.strictSame(complaints, []);
});

void test('a tab never shows what belongs to the account of another tab', async (t) => {
  const { api, newPerson, page: first, context, complaints } = await start(t);
  const [ann, bob] = [await newPerson(), await newPerson()];
  const [ofAnn, ofBob] = [await newConversion(api, ann.key), await newConversion(api, bob.key)];
  await signIn(first, ann, '/conversions');
  await link(first, ofAnn).waitFor();
  const second = await context.newPage();
  await second.goto('/conversions');
  await link(second, ofAnn).waitFor();

  await t.test('signing out in one tab leaves nothing in the other', async (sub) => {
    await button(second, 'Sign out').click();
    await first.getByText('Your session has ended. Sign in to go on.').waitFor();
    await first.goBack();
    await first.waitForURL(/\/sign-in/);
    sub.equal(await link(first, ofAnn).count(), 0);
    await signIn(second, bob, '/conversions');
    await link(second, ofBob).waitFor();
    sub.equal(await link(second, ofAnn).count(), 0);
    await signIn(first, ann, '/sign-in?from=/conversions');
    await link(first, ofAnn).waitFor();
    sub.equal(await link(first, ofBob).count(), 0);
  });

  await t.test('signing in over the session of another account ends it in its tab', async (sub) => {
    const cookies = await context.cookies();
    const before = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    await signIn(second, bob, '/sign-in?from=/conversions');
    await link(second, ofBob).waitFor();
    // Its access token is good for five minutes more; then, as here at once, it must ask for another.
    await api.call('DELETE', SESSION, { headers: ownPage(before) });
    const shown: string[] = [];
    first.on('response', (response) => {
      const hasToken = 'authorization' in response.request().headers();
      if (hasToken && response.ok()) shown.push(response.url());
    });
    await link(first, 'Keys').click();
    await first.getByText(/Another account has signed in in another tab/).waitFor();
    sub.strictSame(await inspectState(first, 'sign-in-other-account'), []);
    sub.strictSame(shown, [], 'nothing was asked for with the token of the other account');
    await first.goto('/conversions');
    await link(first, ofBob).waitFor();
    sub.equal(await link(first, ofAnn).count(), 0);
  });
  t.strictSame(complaints, []);
});
