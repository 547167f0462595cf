/** An owner invites an auditor, who joins by the link and sees what an auditor may, in a real Chrome. */
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { inspectPage, inspectState, signIn, startDashboard } from '../support/dashboard-browser.ts';

const AUDITOR = { email: 'bob@example.com', password: 'battery staple horse' };
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

void test('inviting, joining, another role, another account and leaving', async (t) => {
  const { page, account, service } = await startDashboard(t);
  const client = service.client();
  const { id } = await client.create({ html: '<h1>Letter</h1>' });
  await client.wait(id);
  await signIn(page, account, '/members');
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  await page.getByLabel('Email').fill(AUDITOR.email);
  await page.getByRole('button', { name: /Role/ }).click();
  await page.getByRole('option', { name: /^Auditor/ }).click();
  t.strictSame(await inspectState(page, 'members-invite'), []);
  await button(page, 'Invite').click();
  const dialog = page.getByRole('dialog', { name: 'The link is made' });
  const link = await dialog.locator('pre').innerText();
  await button(page, 'I have copied the link').click();
  await page.getByRole('row', { name: /bob@example\.com.*auditor.*Invited/ }).waitFor();
  t.strictSame(await inspectPage(page, 'members'), []);
  await button(page, 'Sign out').click();
  await page.waitForURL((url) => url.pathname === '/sign-in');

  const { pathname, hash } = new URL(link);
  await page.goto(pathname + hash);
  await page.getByText(/invites bob@example\.com as auditor/).waitFor();
  t.strictSame(await inspectPage(page, 'invitation'), []);
  await page.getByLabel('Your name').fill('Bob');
  await page.getByLabel('Password').fill(AUDITOR.password);
  await button(page, 'Join').click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await page.goto(pathname + hash);
  await page.getByText(/was used or revoked, or it has expired/).waitFor();

  await page.goto('/members');
  await page.getByRole('row', { name: /Bob You/ }).waitFor();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  // What a page offers is right as soon as it knows whose it is.
  const known = () => pages.getByText('Bob', { exact: true }).waitFor();
  const places = await pages.innerText();
  t.match(places, /Conversions/);
  t.notMatch(places, /Playground|Documents/);
  t.equal(await button(page, 'Invite').count(), 0);
  t.equal(await page.getByRole('button', { name: /^Change the role/ }).count(), 0);
  await page.goto(`/conversions/${id}`);
  await page.getByText('Auditors read documents only where an owner').waitFor();
  await button(page, 'Evidence bundle').waitFor();
  const ofDocuments = /^(Download PDF|Show the PDF|Convert again|Delete)$/;
  t.equal(await button(page, ofDocuments).count(), 0, 'nothing is offered that is refused');
  t.equal(await page.getByRole('heading', { name: /^(Request|Manifest)$/ }).count(), 0);
  t.strictSame(await inspectState(page, 'conversion-auditor'), []);
  for (const path of ['/playground', '/documents']) {
    await page.goto(path);
    await page.getByText('Auditors make no documents').waitFor();
    t.equal(await button(page, /^(Convert|Make the PDF)$/).count(), 0);
  }
  t.strictSame(await inspectState(page, 'not-for-auditors'), []);
  await page.goto('/keys');
  await page.getByRole('table', { name: 'API keys' }).waitFor();
  await known();
  t.equal(await button(page, /^(Create a key|Revoke)/).count(), 0);
  await page.goto('/webhooks');
  await page.getByText('There is no endpoint yet').waitFor();
  await known();
  t.equal(await button(page, /^(Add an endpoint|Make a secret)$/).count(), 0);
  await page.goto('/account');
  await page.getByRole('heading', { level: 2, name: 'You', exact: true }).waitFor();
  await known();
  t.equal(await page.getByRole('heading', { name: 'Public name' }).count(), 0);
  t.strictSame(await inspectState(page, 'account-auditor'), []);
  await page.goto('/members');
  await button(page, 'Leave the account').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL(/\/sign-in/);
});
