/** Mails in the dashboard: which ones come, a forgotten password, and how each looks, in a real Chrome. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../support/deadline.ts';
import {
  inspectPage,
  inspectState,
  signIn,
  startDashboard,
  withNewPassword,
} from '../support/dashboard-browser.ts';
import { linkIn } from '../support/mail.ts';
import { startMailServer } from '../support/mail-server.ts';

const ARTIFACTS = join(process.env['TEST_ARTIFACTS'] ?? 'test-artifacts', 'dashboard');
const PASSWORD = 'quite another password';

void test('people choose their mails, and set a forgotten password and change their address by one', async (t) => {
  const server = await startMailServer(t);
  const env = { SMTP_URL: server.url, MAIL_FROM: 'pdf@example.com' };
  const started = await withNewPassword(await startDashboard(t, env));
  const { page, account, complaints } = started;
  await signIn(page, account, '/account');
  const low = page.getByRole('checkbox', { name: /^Credits of an account/ });
  await low.waitFor();
  t.equal(await low.isChecked(), true);
  await page.getByText(/^Credits of an account/).click();
  await page.getByText('Your mails are changed.').waitFor();
  await page.getByLabel('Credits', { exact: true }).fill('25');
  await page.getByRole('button', { name: 'Set the limit' }).click();
  await page.getByText('Fewer than 25 are left', { exact: true }).waitFor();
  t.strictSame(await inspectState(page, 'account-mails'), []);
  await page.reload();
  await page.getByText('Fewer than 25 are left', { exact: true }).waitFor();
  t.equal(await low.isChecked(), false);

  await page.goto('/operations');
  await page.getByText(/None sent yet, nothing waits, 0 not sent in all/).waitFor();
  await page.goto('/members');
  await page.getByLabel('Email').fill('bob@example.com');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByText('The service mails the link to bob@example.com.').waitFor();
  const invitation = await eventually('the invitation', () => server.received[0]);
  await page.getByRole('button', { name: 'Sign out' }).click();

  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  // The page that signs in has a field of this name, too.
  await page.getByRole('heading', { name: 'Set a password' }).waitFor();
  await page.getByLabel('Email').fill(account.email);
  t.strictSame(await inspectPage(page, 'forgot-password'), []);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText(/^If somebody signs in with this address/).waitFor();
  const reset = await eventually('the link', () => server.received[1]);
  const { pathname, hash } = new URL(linkIn(reset));
  await page.goto('/verify');
  await page.goto(pathname + hash);
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('heading', { name: 'The password is set' }).waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'What else signs you in' }).waitFor();
  t.strictSame(await inspectPage(page, 'other-ways-in'), []);
  await page.goto('/account');

  const section = page.locator('section', { hasText: 'Another address that you sign in with.' });
  await section.getByLabel('New address').fill('ada@new.example.com');
  await section.getByLabel('Your password').fill('not the password');
  await section.getByRole('button', { name: 'Change the address' }).click();
  await section.getByText('The password is wrong.').waitFor();
  await section.getByLabel('Your password').fill(PASSWORD);
  await section.getByRole('button', { name: 'Change the address' }).click();
  await page.getByText(/^Open the link in the mail to ada@new\.example\.com/).waitFor();
  const change = await eventually('the link to the address', () =>
    server.received.find(({ to }) => to.includes('ada@new.example.com')),
  );
  const confirmation = new URL(linkIn(change));
  await page.goto(confirmation.pathname + confirmation.hash);
  const use = page.getByRole('button', { name: 'Use this address' });
  await use.waitFor();
  t.strictSame(await inspectPage(page, 'confirm-email'), []);
  await use.click();
  await page.getByText('Your address is changed, and all sessions have ended.').waitFor();
  await signIn(page, { email: 'ada@new.example.com', password: PASSWORD }, '/account');
  await page.getByRole('definition').filter({ hasText: 'ada@new.example.com' }).first().waitFor();

  await mkdir(ARTIFACTS, { recursive: true });
  await page.goto('about:blank');
  for (const [name, { mail }] of Object.entries({ invitation, reset, change })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setContent(String(mail.html));
      await page.screenshot({
        path: join(ARTIFACTS, `mail-${name}-${colorScheme}.png`),
        fullPage: true,
      });
      const background = await page.evaluate<string>(
        "getComputedStyle(document.querySelector('.sheet')).backgroundColor",
      );
      t.equal(background, colorScheme === 'dark' ? 'rgb(34, 37, 44)' : 'rgb(255, 255, 255)');
      t.equal(
        await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
        true,
      );
    }
  }
  t.strictSame(complaints, []);
});
