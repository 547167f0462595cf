/** What ends, is lost or changes while a page of the dashboard is open, and names of any kind, in a real Chrome. */
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { createApiKey, revokeApiKey } from '../../src/accounts/api-keys.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { ownPage, SESSION } from '../support/dashboard.ts';
import { inspectPage, inspectState, openBrowser, signIn } from '../support/dashboard-browser.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { invitedToken } from '../support/every-people-answer.ts';
import { newOperator, signedIn } from '../support/operator.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** Presses it, if the page has not left by itself: the stream may have told it. */
const pressIfThere = (place: ReturnType<Page['getByRole']>) =>
  place.evaluateAll('(all) => all.forEach((each) => each.click())');

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
  await pressIfThere(button(page, 'Clear the filters'));
  await page.getByText('Your session has ended. Sign in to go on.').waitFor();
  t.strictSame(await inspectState(page, 'sign-in-ended'), []);
  await signIn(page, person, page.url());
  await page.waitForURL(/\/conversions/);
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
    await pressIfThere(link(page, 'Keys'));
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
  await page.getByText(`${id} could not be loaded.`).waitFor();
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
    await pressIfThere(link(first, 'Keys'));
    await first.getByText(/Another account has signed in in another tab/).waitFor();
    sub.strictSame(await inspectState(first, 'sign-in-other-account'), []);
    sub.strictSame(shown, [], 'nothing was asked for with the token of the other account');
    await first.goto('/conversions');
    await link(first, ofBob).waitFor();
    sub.equal(await link(first, ofAnn).count(), 0);
  });
  t.strictSame(complaints, []);
});

/** Right to left, with markup and a picture, and without a place to break it. */
const NAME = `مريم <b>x</b> 🦉 ${'W'.repeat(82)}`;

void test('a name of any kind, a lost network, another role and a suspension in the middle of a task', async (t) => {
  const { api, newPerson, page, context, complaints } = await start(t);
  const [operator, founder] = [await newOperator(api), await newPerson()];
  const headers = await signedIn(api, founder.email);
  const bob = { email: `${'b'.repeat(60)}@${'c'.repeat(60)}.example.com`, password: PASSWORD };
  const invitation = { body: { email: bob.email, role: 'owner' }, headers };
  const invited = await api.call('POST', `${BASE}/account/members/`, invitation);
  const { body: made } = invited;
  await page.goto(`/invitation#${await invitedToken(api, invited)}`);
  await page.getByLabel('Password').fill(bob.password);
  await page.getByLabel('Your name').fill('W'.repeat(300));
  await button(page, 'Join').click();
  await page.getByText(/^A name has 1 to 100 characters/).waitFor();
  await page.getByLabel('Your name').fill(NAME);
  await context.setOffline(true);
  await button(page, 'Join').click();
  await page.getByText('The service cannot be reached.').waitFor();
  t.strictSame(await inspectState(page, 'invitation-offline'), []);
  await context.setOffline(false);
  await button(page, 'Join').click();
  await link(page, 'Members').click();
  await page.getByRole('row', { name: /<b>x<\/b>.*You/ }).waitFor();
  t.strictSame(await inspectPage(page, 'members-any-name'), []);
  await page.goto('/account');
  await page.getByRole('definition').filter({ hasText: NAME }).waitFor();
  t.strictSame(await inspectState(page, 'account-any-name'), []);

  await t.test('an answer that is not of the service', async () => {
    await link(page, 'Members').click();
    await page.getByRole('heading', { name: 'Invite somebody' }).waitFor();
    const path = `**${BASE}/account/members/`;
    await page.route(path, async (route) => {
      if (route.request().method() !== 'POST') return await route.fallback();
      await route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });
    });
    await page.getByLabel('Email').fill('new@example.com');
    await button(page, 'Invite').click();
    await page.getByText('The service answered with status 502 and no reason.').waitFor();
    await page.unroute(path);
  });

  await t.test('another role', async () => {
    const change = { body: { role: 'auditor' }, headers };
    await api.call('PATCH', `${BASE}/account/members/${String(made['id'])}/`, change);
    await button(page, 'Invite').click();
    await page.getByText('Your role in this account is auditor now.').waitFor();
    await button(page, 'Invite').waitFor({ state: 'detached' });
  });

  await t.test('a suspension', async (sub) => {
    const reason = 'The bill of October is open.';
    await operator.call('POST', `/accounts/${founder.id}/suspend/`, { body: { reason } });
    await pressIfThere(link(page, 'Keys'));
    await heading(page, 'This account is closed for now').waitFor();
    await page.getByText(reason).waitFor();
    sub.strictSame(await inspectState(page, 'suspended'), []);
    sub.strictSame(complaints, []);
    // The router writes into the console why it shows no page.
    await page.reload();
    await heading(page, 'This account is closed for now').waitFor();
    sub.equal(await page.getByText('Connection lost').count(), 0);
    await button(page, 'Sign out').click();
    await heading(page, 'Sign in to Pressledger').waitFor();
  });
});
