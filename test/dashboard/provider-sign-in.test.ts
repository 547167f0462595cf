/** A person signs in with a real identity provider, in a real Chrome. */
import { test } from 'tap';
import { inspectPage, startDashboard } from '../support/dashboard-browser.ts';
import { freePort } from '../support/free-port.ts';
import { startProvider } from '../support/oidc-provider.ts';

void test('signing in with the provider leads to the page that was asked for, or says why not', async (t) => {
  const provider = await startProvider(t);
  const port = String(await freePort());
  const { page, service, complaints } = await startDashboard(t, {
    ...provider.env,
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    OIDC_NAME: 'Example Login',
    OIDC_DOMAINS: 'example.com',
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
  t.strictSame(complaints, []);
});
