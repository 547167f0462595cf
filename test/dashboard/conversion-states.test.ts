/** The pages of conversions before and after there is a PDF, and where the service refuses to follow them. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { expireConversion } from '../../src/conversions/expire-conversion.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import { startBatches } from '../../src/process-managers/batches.ts';
import { startRefunds } from '../../src/process-managers/refunds.ts';
import { BASE, PASSWORD } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';
import { inspectPage, inspectState, openBrowser, signIn } from '../support/dashboard-browser.ts';
import { eventually } from '../support/deadline.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { openEventStream } from '../support/event-stream.ts';

const SCRIPT = '<script>window.ran=true</script>';
const RETENTION_SECONDS = '3600';
const STREAMS = 2;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const more = (page: Page) => page.getByText('More', { exact: true }).click();
const region = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name }) });

/** A service whose conversions a test ends itself, and a Chrome in which its account is signed in. */
async function start(t: Test, path: string) {
  const env = { RETENTION_SECONDS, MAX_ACCOUNT_STREAMS: String(STREAMS) };
  const api = await startWithConversion(t, { env });
  const browser = await openBrowser(t, api.origin.replace('127.0.0.1', 'localhost'));
  await signIn(browser.page, { email: api.account.email, password: PASSWORD }, path);
  return { api, ...browser };
}

void test('a conversion from its request to the end of its retention', async (whole) => {
  const { api, page, complaints } = await start(whole, '/conversions');
  const { id: accountId, key } = api.account;
  const url = `https://example.com/report?q=${SCRIPT}`;
  const answer = await api.call('POST', `${BASE}/pdf/`, { key, body: { url } });
  whole.equal(answer.status, 202, answer.text);
  const id = String(answer.body['id']);
  const at = () => api.clock.now();

  await whole.test('it waits, and its URL is text and no link', async (t) => {
    await page.goto(`/conversions/${id}`);
    await page.getByText('Waiting for a renderer').waitFor();
    const shown = await region(page, 'Request').locator('pre').innerText();
    t.equal(decodeURIComponent(shown), url);
    t.equal(await page.locator('a[href*="example.com"]').count(), 0);
    t.equal(await button(page, 'Download PDF').count(), 0);
    t.equal(await region(page, 'Proof').count(), 0, 'its last event is still to come');
    t.strictSame(await inspectState(page, 'conversion-pending'), []);
    const files = "performance.getEntriesByType('resource').map(({ name }) => name).join()";
    t.notMatch(await page.evaluate(files), /highlight-/, 'there is no HTML to colour');
  });

  await whole.test('it is being rendered', async (t) => {
    const delivery = { renderer: 'test', delivery: 'd1', at: at() };
    const command = { type: 'StartConversion', accountId, conversionId: id, ...delivery } as const;
    await api.actors.send(conversionAggregate, id, command, api.context());
    await page.getByText('A renderer makes the file').waitFor();
    await page.getByText('Technical details').click();
    await region(page, 'Timeline').getByText('Attempt 1 started').waitFor();
    await page.getByText('Technical details').click();
    await region(page, 'Timeline').getByText('Attempt 1 started').waitFor({ state: 'detached' });
    t.strictSame(await inspectState(page, 'conversion-processing'), []);
  });

  await whole.test('its PDF appears by itself', async (t) => {
    await api.complete(accountId, id, PDF);
    await button(page, 'Download PDF').waitFor();
    await region(page, 'Timeline').getByText('Made: 1 page').waitFor();
    await page.getByText('Technical details').click();
    await region(page, 'Manifest').getByText('Unfinished at print time').waitFor();
    const manifest = await region(page, 'Manifest').innerText();
    t.notMatch(manifest, 'Sandbox', 'it is for operators');
    await page.getByText('Technical details').click();
  });

  await whole.test('after its retention there is no file, and still a proof', async (t) => {
    api.clock.time += (Number(RETENTION_SECONDS) + 1) * 1000;
    const due = {
      conversionId: id,
      accountId,
      endedEventId: 'evt_test',
      isAskedFor: false,
      named: [],
    };
    await expireConversion(api, due);
    await page.reload();
    await page.getByText('The PDF is not stored any more').waitFor();
    await region(page, 'Timeline').getByText('What was stored of it is deleted').waitFor();
    t.equal(await page.getByText('More', { exact: true }).count(), 0);
    await page.getByText('Technical details').click();
    await page.getByText(/^The request was deleted on .* at the end of its time/).waitFor();
    await page.getByText('The manifest is not stored any more').waitFor();
    t.equal(await button(page, 'Convert again').count(), 0);
    t.equal(await button(page, 'Download PDF').count(), 0);
    await button(page, 'Check the proof in this browser').click();
    await page.getByText('Everything that was checked holds').waitFor();
    t.strictSame(await inspectState(page, 'conversion-expired'), []);
  });
  whole.notOk(await page.evaluate('window.ran === true'));
  whole.strictSame(complaints, []);
});

/** Right to left, an emoji, markup, and as long as a name may be. */
const NAME = `<b onclick=1>מסמך 🧾 ${'n'.repeat(170)}.pdf`;

void test('a conversion is cancelled, another deleted, under their names', async (whole) => {
  const { api, page, complaints } = await start(whole, '/conversions');
  const { id: accountId, key } = api.account;
  const names = { filename: NAME, reference: SCRIPT, tags: { customer: SCRIPT } };
  const convert = async () => {
    const body = { html: '<p>x</p>', ...names };
    const answer = await api.call('POST', `${BASE}/pdf/`, { key, body });
    whole.equal(answer.status, 202, answer.text);
    return String(answer.body['id']);
  };
  const hold = (type: 'PlaceHold' | 'ReleaseHold') =>
    sendToAccount(api, { type, accountId, now: api.clock.now() }, api.context());

  await whole.test('what waits is cancelled, and its credit comes back', async (t) => {
    await page.goto(`/conversions/${await convert()}`);
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor();
    await region(page, 'Summary').getByText(`customer: ${SCRIPT}`).waitFor();
    await button(page, 'Cancel').click();
    t.strictSame(await inspectState(page, 'conversion-cancel'), []);
    await button(page, 'Cancel the conversion').click();
    await page.getByRole('heading', { name: 'It was cancelled' }).waitFor();
    await page.getByText(`Cancelled by ${api.account.email}.`).first().waitFor();
    t.equal(await button(page, 'Cancel').count(), 0);
    t.strictSame(await inspectState(page, 'conversion-cancelled'), []);
    await page.getByText(/^The request was deleted on .*, because .* was cancelled/).waitFor();
    t.equal(await button(page, 'Convert again').count(), 0);
    t.equal(await button(page, 'Delete').count(), 0);
    t.equal(await page.getByRole('link', { name: 'Try again in the playground' }).count(), 0);
  });

  await whole.test('what has ended is deleted, unless a hold keeps it', async (t) => {
    const id = await convert();
    await api.complete(accountId, id, PDF);
    await hold('PlaceHold');
    await page.goto(`/conversions/${id}`);
    await more(page);
    await button(page, 'Delete').click();
    await button(page, 'Delete them').click();
    await page.getByText('The account is under a hold').waitFor();
    t.strictSame(await inspectState(page, 'conversion-held'), []);
    await hold('ReleaseHold');
    await button(page, 'Delete them').click();
    await page.getByText(/^It was deleted on .*, as this account asked/).waitFor();
    await page.getByText(/^The request was deleted on .*, as this account asked/).waitFor();
    t.equal(await button(page, 'Delete').count(), 0);
    t.equal(await button(page, 'Convert again').count(), 0);
    t.equal(await button(page, 'Download PDF').count(), 0);
    t.strictSame(await inspectState(page, 'conversion-deleted'), []);
  });
  whole.notOk(await page.evaluate('window.ran === true'));
  whole.strictSame(complaints, []);
});

void test('a batch is followed, downloaded and cancelled', async (t) => {
  const { api, page, complaints } = await start(t, '/batches');
  const { id: accountId, key } = api.account;
  await page.getByText('No batches yet').waitFor();
  t.strictSame(await inspectState(page, 'batches-empty'), []);
  const requests = [1, 2, 3].map((n) => ({ html: '<p>x</p>', filename: `Letter ${n}.pdf` }));
  const reference = `${SCRIPT} 🧾 שלום ${'r'.repeat(200)}`;
  const body = { requests, reference, tags: { month: '2026-11' } };
  const made = await api.call('POST', `${BASE}/batches/`, { key, body });
  t.equal(made.status, 202, made.text);
  const [first = '', second = ''] = made.body['conversions'] as readonly string[];
  await api.complete(accountId, first, PDF);
  await api.fail(accountId, second, 'It lacked something.');
  await page.reload();
  await page.getByRole('link', { name: reference }).click();
  await page.getByText('2 of 3 have ended').waitFor();
  const conversions = region(page, 'Conversions');
  await conversions.getByRole('link', { name: 'Letter 1.pdf' }).waitFor();
  const events = region(page, 'History');
  await events.getByText(`The batch ${String(made.body['id'])} of 3 PDFs was requested.`).waitFor();
  await events.getByText('Requested, failed').waitFor();
  t.strictSame(await inspectPage(page, 'batch'), []);
  const [zip] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Download what is ready').click(),
  ]);
  t.equal((await readFile(await zip.path())).subarray(0, 2).toString(), 'PK');

  const managers = [startBatches(api), startRefunds(api)];
  t.teardown(() => Promise.all(managers.map((each) => each.stop())));
  await button(page, 'Cancel the rest').click();
  t.strictSame(await inspectState(page, 'batch-cancel'), []);
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the rest' }).click();
  await page.getByText('3 of 3 have ended').waitFor();
  await button(page, 'Download 1 PDF as ZIP').waitFor();
  await events.getByText('Requested, cancelled, ended').click();
  await events.getByText('ended: 1 completed, 2 failed.').waitFor();
  await conversions.getByRole('link', { name: 'Letter 3.pdf' }).click();
  await region(page, 'Summary')
    .getByRole('link', { name: String(made.body['id']) })
    .click();
  await page.getByRole('heading', { level: 1, name: reference }).waitFor();
  await page.goto('/batches');
  await page.getByRole('row').filter({ hasText: reference }).getByText('3 of 3').waitFor();
  t.strictSame(await inspectPage(page, 'batches'), []);
  t.notOk(await page.evaluate('window.ran === true'));
  t.strictSame(complaints, []);
});

void test('a page that may not follow the conversions says so, and tries again', async (t) => {
  const { api, page, complaints } = await start(t, '/account');
  await page.goto('about:blank');
  const headers = { 'X-API-Key': api.account.key };
  const follow = () => openEventStream(t, `${api.origin}${BASE}/conversions/stream/`, headers);
  const others = [];
  while (others.length < STREAMS) {
    // That of the page that was left counts until the service hears of its end.
    const one = await eventually('a stream', async () => {
      const stream = await follow();
      return stream.response.ok ? stream : undefined;
    });
    others.push(one);
  }
  const first = await api.create();
  await page.goto('/conversions');
  const refused = page.getByText('Too many pages are open for live updates.');
  await refused.waitFor();
  await page.getByRole('link', { name: first }).waitFor();
  t.strictSame(await inspectState(page, 'conversions-refused'), []);
  for (const other of others) other.cut();
  await refused.waitFor({ state: 'detached' });
  await api.complete(api.account.id, first, PDF);
  await page.getByRole('row').filter({ hasText: first }).getByText('Completed').waitFor();
  t.strictSame(complaints, []);
});

void test('an account that is erased leaves nothing on a page that is open', async (t) => {
  const { api, page, complaints } = await start(t, '/conversions');
  const id = await api.create();
  await page.goto(`/conversions/${id}`);
  await region(page, 'Request').getByText('<p>x</p>').waitFor();
  await eraseAccount(api, api.account.id, api.context());
  await page.getByText('Your session has ended. Sign in to go on.').waitFor();
  t.equal(await page.getByText(id).count(), 0);
  await page.goBack();
  await page.waitForURL(/\/sign-in/);
  t.equal(await page.getByText(id).count(), 0);
  t.strictSame(complaints, []);
});
