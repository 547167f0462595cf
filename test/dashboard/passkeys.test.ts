/** Passkeys through the real pages, with the authenticator that Chrome has for tests. */
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { inspectPage, inspectState, signIn, startDashboard } from '../support/dashboard-browser.ts';

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true });

/** Puts an authenticator into the browser, which answers at once and as the person it is of. */
async function plugIn(page: Page) {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable', { enableUI: false });
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function signOut(page: Page): Promise<void> {
  await button(page, 'Sign out').click();
  await page.waitForURL(({ pathname }) => pathname === '/sign-in');
}

/** With this authenticator, the browser's list at the field of the address chooses at once: it is shown when asked for. */
const LIST_WHEN_ASKED =
  "if (localStorage.getItem('list') === null) PublicKeyCredential.isConditionalMediationAvailable = async () => false";

void test('a person adds passkeys, signs in with one alone and from the list, renames and removes them', async (t) => {
  const { page, account, complaints } = await startDashboard(t);
  await plugIn(page);
  await page.addInitScript(LIST_WHEN_ASKED);
  await page.goto('/sign-in');
  await button(page, 'Sign in with a passkey').waitFor();
  t.strictSame(await inspectPage(page, 'sign-in-with-passkeys'), []);
  await signIn(page, account, '/account');
  await page.getByText('You have none yet.').waitFor();

  await button(page, 'Add a passkey').click();
  const dialog = page.getByRole('dialog');
  t.match(await dialog.getByLabel('Name').inputValue(), /^Chrome on Linux$/);
  t.strictSame(await inspectState(page, 'account-add-passkey'), []);
  await dialog.getByLabel('Your password').fill('a wrong guess');
  await button(page, 'Add the passkey').click();
  await dialog.getByText('Is not the password of your account.').waitFor();
  await dialog.getByLabel('Your password').fill(account.password);
  await button(page, 'Add the passkey').click();
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
  await row('Chrome on Linux.*Never').waitFor();
  const sessions = page.getByRole('table', { name: 'Sessions' });
  await sessions.getByText('password, passkey').waitFor();

  await button(page, 'Add a passkey').click();
  await dialog.getByLabel('Your password').fill(account.password);
  await button(page, 'Add the passkey').click();
  await dialog.getByText('This device has a passkey of yours already.').waitFor();
  await button(page, 'Cancel').click();
  await button(page, 'Rename Chrome on Linux').click();
  await dialog.getByLabel('Name').fill('Laptop of the office');
  await button(page, 'Rename').click();
  await row('Laptop of the office').waitFor();

  await signOut(page);
  await page.goto('/sign-in?from=%2Faccount');
  await button(page, 'Sign in with a passkey').click();
  await row('Laptop of the office').waitFor();
  t.notMatch(await row('Laptop of the office').innerText(), /Never/);
  t.strictSame(await inspectPage(page, 'account-passkeys'), []);

  await signOut(page);
  await page.evaluate("localStorage.setItem('list', 'on')");
  await page.goto('/sign-in?from=%2Faccount');
  await row('Laptop of the office').waitFor();
  await page.evaluate('localStorage.clear()');

  await button(page, 'Remove Laptop of the office').click();
  await dialog.getByText('Use a passkey in place of the password').click();
  t.strictSame(await inspectState(page, 'account-remove-passkey'), []);
  await button(page, 'Remove the passkey').click();
  await page.getByText('You have none yet.').waitFor();
  await signOut(page);
  await page.goto('/sign-in');
  await button(page, 'Sign in with a passkey').click();
  await page.getByText('The passkey is not known here, or was not accepted.').waitFor();
  t.strictSame(await inspectState(page, 'sign-in-passkey-refused'), []);
  t.strictSame(complaints, []);
});

void test('a browser without the functions for passkeys says so, and signs in with a password', async (t) => {
  const { page, account, complaints } = await startDashboard(t);
  await page.addInitScript('delete PublicKeyCredential.parseCreationOptionsFromJSON');
  await signIn(page, account, '/account');
  await page.getByText(/lacks PublicKeyCredential\.parseCreationOptionsFromJSON/).waitFor();
  t.equal(await button(page, 'Add a passkey').count(), 0);
  await signOut(page);
  await button(page, 'Sign in').waitFor();
  t.equal(await button(page, 'Sign in with a passkey').count(), 0);
  t.strictSame(complaints, []);
});
