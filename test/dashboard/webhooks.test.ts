/** The pages of webhooks and deliveries, with a real receiver on a clock that the test moves. */
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { PASSWORD } from '../support/api.ts';
import { inspectPage, inspectState, openBrowser, signIn } from '../support/dashboard-browser.ts';
import { eventually } from '../support/deadline.ts';
import { startReceiver } from '../support/receiver.ts';
import { startWebhookApi } from '../support/webhooks.ts';

const MARKUP = '<script>window.ran=true</script>';
/** As long as a note may be, right to left, and with an emoji. */
const NOTE = `${MARKUP} 🧾 הנהלת חשבונות ${'n'.repeat(140)}`;

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const region = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name }) });

async function start(t: Parameters<typeof startWebhookApi>[0]) {
  const w = await startWebhookApi(t);
  const browser = await openBrowser(t, w.origin.replace('127.0.0.1', 'localhost'));
  await signIn(browser.page, { email: w.account.email, password: PASSWORD });
  return { w, ...browser };
}

async function copySecret(page: Page): Promise<string> {
  const secret = await page.getByRole('dialog').locator('pre').innerText();
  await button(page, 'I have copied the secret').click();
  return secret;
}

void test('webhooks in the dashboard', { timeout: 300_000 }, async (whole) => {
  const { w, page, complaints } = await start(whole);
  const receiver = await startReceiver(whole);

  await whole.test('an endpoint is added, its secret shown once', async (t) => {
    await page.goto('/webhooks');
    await page.getByText('There is no endpoint yet').waitFor();
    t.strictSame(await inspectPage(page, 'webhooks-empty'), []);
    await button(page, 'Add an endpoint').click();
    await page.getByLabel('URL').fill('ftp://example.com');
    await button(page, 'Add the endpoint').click();
    await page
      .getByText(/https?/)
      .and(page.locator('.wrong'))
      .waitFor();
    t.strictSame(await inspectState(page, 'webhooks-add'), []);
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('Note').fill(NOTE);
    await page.getByText('Credits are running low').click();
    await button(page, 'Add the endpoint').click();
    await page.getByRole('dialog', { name: 'The signing secret' }).waitFor();
    t.strictSame(await inspectState(page, 'webhooks-secret'), []);
    const secret = await copySecret(page);
    t.match(secret, /^whsec_/);
    await link(page, NOTE).waitFor();
    t.notOk((await page.content()).includes(secret), 'it is shown only once');
    t.strictSame(await inspectPage(page, 'webhooks'), []);
  });

  await whole.test('a test is sent, and its delivery shows the answer as text', async (t) => {
    receiver.answerWith((response) => response.writeHead(200).end(MARKUP));
    await link(page, NOTE).click();
    await page.locator('h1:focus').waitFor();
    await button(page, 'Send a test').click();
    const [sent] = await receiver.count(1);
    t.equal(sent?.body.type, 'webhook.test');
    await page.getByRole('row').filter({ hasText: 'Status 200' }).getByText('Delivered').waitFor();
    t.strictSame(await inspectPage(page, 'webhook'), []);
    await link(page, 'Test').click();
    await region(page, 'Tries').getByText(MARKUP).waitFor();
    t.strictSame(await inspectPage(page, 'delivery'), []);
    receiver.answerWith((response) => response.writeHead(204).end());
    await button(page, 'Send again').click();
    await region(page, 'Tries').getByText('Status 204').waitFor();
    await page.goBack();
  });

  await whole.test('what failed is sent again, once the receiver is back', async (t) => {
    receiver.answerWith((response) => response.writeHead(410).end());
    await w.end(await w.request());
    await eventually('the endpoint to be off', async () => {
      const { body } = await w.callAs('GET', '/webhooks/');
      return JSON.stringify(body).includes('"enabled":false') || undefined;
    });
    await page.reload();
    await page.getByText(/switched off because it answered with status 410/).waitFor();
    t.strictSame(await inspectState(page, 'webhook-off'), []);
    receiver.answerWith((response) => response.writeHead(204).end());
    await link(page, 'Home').click();
    await page.getByText(`The endpoint ${NOTE} is switched off`).waitFor();
    t.strictSame(await inspectState(page, 'home-endpoint-off'), []);
    await link(page, 'See the endpoint').click();
    const before = receiver.received.length;
    await button(page, 'Switch on').click();
    await button(page, 'Send failed ones again').click();
    t.strictSame(await inspectState(page, 'webhook-redeliver'), []);
    await button(page, 'Send them again').click();
    await page.getByText('1 delivery will be sent again.').waitFor();
    await receiver.count(before + 1);
    await page.goto('/webhooks/deliveries');
    await button(page, /Status/).click();
    await page.getByRole('option', { name: 'Failed' }).click();
    await page.waitForURL(/status=failed/);
    await page.getByText('No delivery matches the filters.').waitFor();
    await button(page, /Status/).click();
    await page.getByRole('option', { name: 'Delivered' }).click();
    await link(page, 'A PDF is ready').waitFor();
    t.strictSame(await inspectPage(page, 'deliveries'), []);
  });

  await whole.test('it is edited, gets another secret, and is deleted', async (t) => {
    await link(page, 'Webhooks').click();
    await link(page, NOTE).click();
    await button(page, 'Edit').click();
    await page.getByLabel('Note').fill('Accounting');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'Accounting' }).waitFor();
    await button(page, 'New secret').click();
    await page.getByText(/For 24 hours each delivery carries two signatures/).waitFor();
    await button(page, 'Replace the secret').click();
    t.match(await copySecret(page), /^whsec_/);
    await button(page, 'Switch off').click();
    await button(page, 'Switch it off').click();
    await page.getByText('It was switched off by hand').waitFor();
    await button(page, 'Delete').click();
    await button(page, 'Delete the endpoint').click();
    await page.getByText('There is no endpoint yet').waitFor();
    t.strictSame((await w.callAs('GET', '/webhooks/')).body, []);
  });

  await whole.test('the secret of single requests is made, then replaced', async (t) => {
    await button(page, 'Make a secret').click();
    await button(page, 'Make the secret').click();
    const first = await copySecret(page);
    await button(page, 'Replace the secret').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click();
    t.not(await copySecret(page), first);
    await page.getByText(/^It begins with whsec_/).waitFor();
  });

  whole.notOk(await page.evaluate('window.ran === true'));
  whole.strictSame(complaints, []);
});
