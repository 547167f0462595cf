/** A person signs in with a real identity provider, in a real Chrome. */
import { test } from 'tap';
import { cliJson } from '../support/cli.ts';
import { inspectPage, signIn, startDashboard } from '../support/dashboard-browser.ts';
import { freePort } from '../support/free-port.ts';
import { startProvider } from '../support/oidc-provider.ts';

void test('signing in with the provider leads to the page that was asked for, or says why not', async (t) => {
  const provider = await startProvider(t);
  const port = String(await freePort());
  const { page, service, account, complaints } = await startDashboard(t, {
    ...provider.env,
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    OIDC_NAME: 'Example Login',
    OIDC_DOMAINS: 'example.com',
    SIGN_UP: 'invitation',
  });
  provider.serve(`http://127.0.0.1:${port}`);
  provider.people.set('eve', { email: 'eve@example.org', email_verified: true });
  provider.people.set('bob', { email: 'bob@example.com', email_verified: true, name: 'Bob' });
  const link = page.getByRole('link', { name: 'Sign in with Example Login' });

  await page.goto('/keys');
  provider.atBrowser = 'eve';
  await link.click();
  await page.getByRole('alert').getByText('You are not among the people who may come').waitFor();
  t.strictSame(await inspectPage(page, 'sign-in-provider'), []);

  // A browser that is signed in at the provider already is somebody else only after it forgot that.
  await page.context().clearCookies();
  await page.goto('/members');
  provider.atBrowser = 'bob';
  await link.click();
  await page.getByRole('row', { name: /Bob You/ }).waitFor();
  t.equal(new URL(page.url()).origin, service.url);

  await t.test('an invited person opens an account with a link', async (sub) => {
    const invite = ['account', 'invite', 'ann@example.com', '--plan', 'pro'];
    const made = (await cliJson(service.place, invite)) as { link: string };
    const wrong = ['account', 'invite', 'anne@example.com'];
    const { id } = (await cliJson(service.place, wrong)) as { id: string };
    const links = () => cliJson(service.place, ['account', 'invitations']);
    sub.match(await links(), [{ email: 'anne@example.com' }, { email: 'ann@example.com' }]);
    await cliJson(service.place, ['account', 'uninvite', id]);
    sub.match(await links(), [{ email: 'ann@example.com', plan: 'pro' }]);
    await page.context().clearCookies();
    await page.goto(made.link);
    await page.getByText('The link opens an account for ann@example.com').waitFor();
    sub.strictSame(await inspectPage(page, 'sign-up'), []);
    await page.getByLabel('Password').fill('battery staple horse');
    await page.getByRole('button', { name: 'Open the account' }).click();
    await page.getByRole('heading', { name: 'Your account is open' }).waitFor();
    await signIn(page, { email: 'ann@example.com', password: 'battery staple horse' }, '/account');
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  });

  await t.test(
    'who is signed in accepts an invitation with one click, as who they are',
    async (sub) => {
      const invite = ['members', 'invite', account.email, 'ann@example.com', '--role', 'auditor'];
      const made = (await cliJson(service.place, invite)) as {
        link: string;
      };
      await page.goto(made.link);
      await page.getByText('You are signed in with this address').waitFor();
      sub.strictSame(await inspectPage(page, 'invitation-signed-in'), []);
      await page.getByRole('button', { name: 'Join' }).click();
      await page.getByRole('link', { name: 'Your accounts' }).click();
      await page.getByRole('row', { name: /auditor/ }).waitFor();
    },
  );
  t.strictSame(complaints, []);
});
