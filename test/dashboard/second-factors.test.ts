/** Two-step sign-in in a real Chrome: setting it up, signing in with it, and requiring it. */
import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { inspectPage, inspectState, signIn, startDashboard } from '../support/dashboard-browser.ts';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

void test('a person sets up two-step sign-in, and signs in with a code and a recovery code', async (t) => {
  const { page, account, complaints } = await startDashboard(t);
  await signIn(page, account, '/account');
  await page.getByRole('heading', { name: 'Two-step sign-in' }).waitFor();
  await button(page, 'Set it up').click();
  await page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
  t.strictSame(await inspectState(page, 'two-step-set-up'), []);
  const dialog = page.getByRole('dialog', { name: 'Set up two-step sign-in' });
  const secret = await dialog.locator('pre').innerText();
  await dialog.getByLabel('Code', { exact: true }).fill('000000');
  await dialog.getByLabel('Your password').fill(account.password);
  await button(page, 'Turn it on').click();
  await page.getByText('Is not the code of the authenticator').waitFor();
  await dialog.getByLabel('Code', { exact: true }).fill(new TOTP({ secret }).generate());
  await button(page, 'Turn it on').click();
  const shown = page.getByRole('dialog', { name: 'Your recovery codes' });
  const codes = (await shown.locator('pre').innerText()).split('\n');
  t.equal(codes.length, 10);
  t.strictSame(await inspectState(page, 'two-step-recovery-codes'), []);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Download').click(),
  ]);
  t.equal(download.suggestedFilename(), 'pressledger-recovery-codes.txt');
  await button(page, 'I have copied the codes').click();
  await page.getByText('Recovery codes left').waitFor();
  t.strictSame(await inspectPage(page, 'account-two-step'), []);

  await page.goto('/members');
  await page.getByRole('columnheader', { name: 'Second factor' }).waitFor();
  await button(page, /Required/).click();
  await page.getByRole('option', { name: 'A second factor' }).click();
  await page.getByText('It applies at once, to everybody.').waitFor();
  t.strictSame(await inspectPage(page, 'members-policy'), []);
  await button(page, 'Sign out').click();

  // The page Members has a field of this name, too.
  await page.waitForURL(({ pathname }) => pathname === '/sign-in');
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Password').fill(account.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('Code', { exact: true }).waitFor();
  t.strictSame(await inspectPage(page, 'sign-in-code'), []);
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await button(page, 'Check the code').click();
  await page.getByText('The code is wrong, or it was used already').waitFor();
  await page.getByLabel('Code', { exact: true }).fill(codes[0] ?? '');
  await button(page, 'Check the code').click();
  await page.waitForURL(({ pathname }) => pathname !== '/sign-in');
  await page.goto('/account');
  await page.getByText('Recovery codes left').waitFor();
  await button(page, 'Turn off').click();
  const off = page.getByRole('dialog', { name: 'Turn off two-step sign-in?' });
  await off.getByLabel('Your password').fill(account.password);
  await button(page, 'Turn it off').click();
  await button(page, 'Set it up').waitFor();

  // The account requires a second factor still, and this session has proved the password alone.
  await button(page, 'Sign out').click();
  await page.waitForURL(({ pathname }) => pathname === '/sign-in');
  await signIn(page, account);
  await page.getByRole('heading', { name: 'One more step' }).waitFor();
  const places = page.getByRole('navigation', { name: 'Pages' }).getByRole('listitem');
  t.strictSame(await places.allInnerTexts(), ['Verify', 'Account']);
  t.strictSame(await inspectPage(page, 'one-more-step'), []);
  t.equal(await page.getByText('Connection lost').count(), 0);
  await page.getByRole('link', { name: 'Set it up' }).click();
  await button(page, 'Set it up').waitFor();
  const parts = page.getByRole('heading', { level: 2 });
  t.strictSame(await parts.allInnerTexts(), ['Passkeys', 'Two-step sign-in']);
  t.strictSame(await inspectPage(page, 'account-one-more-step'), []);
  t.equal(await page.getByText('could not be loaded').count(), 0);
  await button(page, 'Set it up').click();
  await dialog.getByLabel('Your password').fill(account.password);
  const another = await dialog.locator('pre').innerText();
  await dialog.getByLabel('Code', { exact: true }).fill(new TOTP({ secret: another }).generate());
  await button(page, 'Turn it on').click();
  await shown.waitFor();
  // The rest of the page comes below the codes, which stay.
  await page.getByText('Recovery codes left').waitFor();
  await page.getByText('Mails that you get').waitFor();
  t.equal(await shown.isVisible(), true);
  await button(page, 'I have copied the codes').click();
  await page.getByRole('link', { name: 'Conversions' }).click();
  await page.getByRole('heading', { name: 'Conversions' }).waitFor();
  t.strictSame(complaints, []);
});
