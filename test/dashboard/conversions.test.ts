/** A person follows conversions in the list and opens one, in a real Chrome. */
import { readFile } from 'node:fs/promises';
import { unzipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import type { PressledgerClient } from '../../client/src/client.ts';
import { BASE } from '../support/api.ts';
import { runCli } from '../support/cli.ts';
import {
  type DashboardBrowser,
  inspectPage,
  inspectState,
  signIn,
  startDashboard,
} from '../support/dashboard-browser.ts';
import { freePort } from '../support/free-port.ts';
import { pdfOf } from '../support/written-pdf.ts';

const SCRIPT = '<img src=x onerror="window.ran = true">';
const BAD = {
  html: `<!doctype html><title>${SCRIPT}</title><h1>Invoice 4711</h1>
    <script>
      console.error('${SCRIPT}');
      requestAnimationFrame(function draw() { requestAnimationFrame(draw); });
      addEventListener('load', () => { throw new Error('${SCRIPT}'); });
    </script>
    <img src="${encodeURIComponent(SCRIPT)}.png">`,
  filename: '<b>Invoice 4711',
  metadata: { title: SCRIPT },
  wait_for: { budget_ms: 100 },
} as const;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const more = (page: Page) => page.getByText('More', { exact: true }).click();
const rowOf = (page: Page, id: string) => page.getByRole('row').filter({ hasText: id });
const region = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name }) });

async function convert(
  { service }: DashboardBrowser,
  request: Parameters<PressledgerClient['create']>[0],
): Promise<string> {
  const client = service.client();
  const { id } = await client.create(request);
  await client.wait(id);
  return id;
}

interface HistoryEntry {
  readonly type: string;
  readonly request_id?: string;
}

async function eventsOf(
  { service }: DashboardBrowser,
  id: string,
): Promise<readonly HistoryEntry[]> {
  const headers = { 'X-API-Key': service.firstStart.apiKey };
  const answer = await fetch(`${service.url}${BASE}/conversions/${id}/events/`, { headers });
  return (await answer.json()) as readonly HistoryEntry[];
}

/** Tells whether a script of a document ran in the pages. */
const hasRun = (page: Page): Promise<boolean> => page.evaluate('window.ran === true');

async function listTests(parent: Test, dashboard: DashboardBrowser): Promise<void> {
  const { page, service } = dashboard;

  await parent.test(
    'an empty list says how to begin, and the first conversion comes by itself',
    async (t) => {
      await page.goto('/conversions');
      await page.getByText('No conversions yet').waitFor();
      t.strictSame(await inspectState(page, 'conversions-empty'), []);
      const id = await convert(dashboard, { html: '<h1>First</h1>' });
      await rowOf(page, id).getByText('Completed').waitFor();
    },
  );

  const failed = await convert(dashboard, {
    html: `<h1>Lacking</h1><script>console.error('${SCRIPT}')</script>`,
    fail_on: ['console_error'],
  });

  await parent.test(
    'new conversions are offered, and move no row before they are asked for',
    async (t) => {
      await button(page, 'Show 1 new conversion').click();
      await rowOf(page, failed).getByText('Failed').waitFor();
      const before = await page.getByRole('row').allInnerTexts();
      const id = await convert(dashboard, { html: '<h1>One</h1>' });
      await convert(dashboard, { html: '<h1>Two</h1>' });
      await button(page, 'Show 2 new conversions').waitFor();
      t.equal((await page.getByRole('row').allInnerTexts()).length, before.length);
      t.equal(await rowOf(page, id).count(), 0);
      await button(page, 'Show 2 new conversions').click();
      await rowOf(page, id).getByText('Completed').waitFor();
    },
  );

  await parent.test('filters are in the address, and survive back and forward', async (t) => {
    await button(page, /Status/).click();
    await page.getByRole('option', { name: 'Failed' }).click();
    await page.waitForURL(/status=failed/);
    await page.getByText('1 conversion matches').waitFor();
    t.equal(await page.getByRole('row').count(), 2, 'the header and one conversion');
    await page.getByLabel('Search').fill(failed);
    await page.waitForURL(new RegExp(`q=${failed}`));
    t.strictSame(await inspectState(page, 'conversions-filtered'), []);
    await page.setViewportSize({ width: 375, height: 740 });
    const folded = button(page, 'Filters (1 in force)');
    await folded.waitFor();
    t.equal(await button(page, /Source/).count(), 0, 'folded on a narrow screen');
    await folded.click();
    await button(page, /Source/).waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goBack();
    await page.waitForURL(({ search }) => search === '?status=failed');
    await page.waitForFunction("document.querySelector('[type=search]').value === ''");
    await page.goForward();
    await page.waitForFunction(`document.querySelector('[type=search]').value === '${failed}'`);
    await button(page, 'Clear the filters').click();
    await button(page, /Created/).click();
    await page.getByRole('option', { name: 'Last 7 days' }).click();
    await page.waitForURL(/\?from=\d{4}-\d\d-\d\d$/);
    await rowOf(page, failed).waitFor();
    await button(page, /Created/).click();
    await page.getByRole('option', { name: 'Choose days' }).click();
    await page.getByLabel('From day').fill('2031-01-01');
    await page.getByText('No conversion matches').waitFor();
    t.strictSame(await inspectState(page, 'conversions-none'), []);
    await page.getByLabel('To day').fill('2030-01-01');
    await page.getByText('The last day is before the first.').waitFor();
    await button(page, 'Clear the filters').click();
    await page.getByLabel('From day').waitFor({ state: 'detached' });
    await rowOf(page, failed).waitFor();
    const oldest = await page.getByRole('row').last().getByRole('link').getAttribute('href');
    await button(page, /Order/).click();
    await page.getByRole('option', { name: 'Oldest first' }).click();
    await page.waitForURL(/\/conversions\?order=oldest$/);
    await page.locator(`tbody tr:first-child a[href="${oldest}"]`).waitFor();
    t.equal(await button(page, 'Clear the filters').count(), 0, 'an order is not a filter');
    await page.goto('/conversions?status=nonsense&warnings=false');
    await page.getByText(/^\d+ conversions$/).waitFor();
    t.notOk(await page.getByLabel('With warnings').isChecked(), 'the page does not know them');
    t.equal(await button(page, 'Clear the filters').count(), 0);
  });

  await parent.test('a name is found as it is typed, however it is written', async (t) => {
    const long = `فاتورة <b>Ünwieldy</b> ${'x'.repeat(120)} 🂡`.slice(0, 190);
    const reference = '../../4711 & "Söhne"';
    const id = await convert(dashboard, {
      html: '<p>x</p>',
      filename: long.replaceAll('/', ''),
      reference,
      tags: { customer: 'A:B & C' },
    });
    const search = page.getByLabel('Search');
    await search.pressSequentially('unwield');
    await page.waitForURL(/q=unwield$/);
    await page.getByText('1 conversion matches').waitFor();
    const row = await rowOf(page, id).innerText();
    t.ok(row.includes('<b>Ünwieldy') && row.includes(reference), row);
    await search.fill('sohne 47');
    await page.waitForURL(/q=sohne/);
    await rowOf(page, id).waitFor();
    t.strictSame(await inspectPage(page, 'conversions-found'), []);
    for (const width of [768, 360]) {
      await page.setViewportSize({ width, height: 740 });
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await search.fill('---');
    await page.waitForURL(({ search: asked }) => asked === '');
    await button(page, /Source/).click();
    await page.getByRole('option', { name: 'URL' }).click();
    await page.getByText('No conversion matches').waitFor();
    await page.goto('/conversions?id=conv_0&warnings=true');
    await page.getByText('No conversion matches').waitFor();
    t.ok(await page.getByLabel('With warnings').isChecked());
    t.equal(await page.getByLabel('Search').inputValue(), 'conv_0');
    await button(page, 'Clear the filters').click();
    await rowOf(page, id).waitFor();
  });

  await parent.test('a tag and a reference lead to all that have them', async (t) => {
    await page.getByLabel('Search').fill('ünwieldy');
    await page.getByRole('link', { name: /nwieldy/ }).click();
    for (const [text, name] of [
      ['A:B & C', 'tag'],
      ['../../4711 & "Söhne"', 'reference'],
    ] as const) {
      await page.getByRole('link', { name: text }).click();
      await page.getByText('1 conversion matches').waitFor();
      t.strictSame(await inspectState(page, `conversions-${name}`), []);
      await button(page, new RegExp(`^Remove the filter ${name}`)).click();
      await rowOf(page, failed).waitFor();
      await page.getByRole('link', { name: /nwieldy/ }).click();
    }
    await page.goto('/conversions');
  });

  await parent.test('pages are asked from the service one by one', async (t) => {
    const client = service.client();
    const made = Array.from({ length: 21 }, () => client.create({ html: '<p>page</p>' }));
    for (const { id } of await Promise.all(made)) await client.wait(id);
    await page.reload();
    await button(page, 'Older').click();
    await page.waitForURL(/page=2/);
    await rowOf(page, failed).waitFor();
    await page.goBack();
    await page.getByText(/^1 to 20 of/).waitFor();
    t.equal(await page.getByRole('row').count(), 21);
    t.strictSame(await inspectPage(page, 'conversions'), []);
    await button(page, '50 a page').click();
    await page.waitForURL(/\?size=50$/);
    await rowOf(page, failed).waitFor();
  });

  await parent.test('chosen rows come as one ZIP, and what the filters find as CSV', async (t) => {
    const saved = async (name: RegExp) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        button(page, name).press('Enter'),
      ]);
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
    };
    t.equal(await rowOf(page, failed).getByRole('checkbox').count(), 0, 'it has no PDF');
    for (const [n, box] of (await page.getByLabel(/^Choose /).all()).slice(0, 3).entries()) {
      await box.press('Space');
      await button(page, `Download ${n + 1} PDF`).waitFor();
    }
    await page
      .getByLabel(/^Choose /)
      .first()
      .press('Space');
    const zip = await saved(/^Download 2 PDFs as ZIP/);
    t.equal(zip.name, 'conversions.zip');
    t.equal(Object.keys(unzipSync(zip.bytes)).length, 2);
    await page.getByText('All PDFs on this page').click();
    t.strictSame(await inspectState(page, 'conversions-chosen'), []);
    await button(page, 'Choose none').click();
    await button(page, /as ZIP/).waitFor({ state: 'detached' });
    await page.goto('/conversions?status=failed');
    const csv = await saved(/^Export as CSV/);
    t.match(csv.bytes.toString(), new RegExp(`^id,name,status,.*\r\n${failed},[^\n]*\n$`));
  });

  await parent.test('a failed conversion says why, and what to do', async (t) => {
    await page.goto(`/conversions/${failed}`);
    await page.getByRole('heading', { name: 'What to do' }).waitFor();
    await page.getByRole('main').getByText(SCRIPT).first().waitFor();
    await region(page, 'Timeline').getByText('The page lacked something').waitFor();
    const request = region(page, 'Request');
    await request.getByText(/^The request was deleted on .* at the end of its time/).waitFor();
    await page.getByText('Its request is deleted, so send it again').waitFor();
    const events = await eventsOf(dashboard, failed);
    const asked = events.find(({ type }) => type === 'ConversionRequested');
    await request.getByText('None was set.').waitFor();
    t.match(await request.innerText(), asked?.request_id);
    t.match(await request.innerText(), /Idempotency key\s+none was sent[^]*None was set/);
    t.strictSame(await inspectPage(page, 'conversion-failed'), []);
    await page.setViewportSize({ width: 360, height: 740 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
    await page.setViewportSize({ width: 1280, height: 900 });
  });
}

async function oneTests(parent: Test, dashboard: DashboardBrowser): Promise<void> {
  const { page, context } = dashboard;
  const id = await convert(dashboard, BAD);

  await parent.test('a conversion shows its PDF, request, timeline and manifest', async (t) => {
    await page.goto(`/conversions/${id}`);
    await button(page, 'Download PDF').waitFor();
    t.equal(await button(page, /download/i).count(), 1);
    await page.getByText('The PDF was made, but the page lacked something').waitFor();
    await page.getByText('A script that does not end is stopped.').waitFor();
    await page.getByRole('img', { name: 'The first page of the PDF' }).waitFor();
    const moments = region(page, 'Timeline').getByRole('listitem');
    await moments.filter({ hasText: 'Made: 1 page' }).waitFor();
    t.match((await moments.allInnerTexts()).join(), /^Sent[^]*first key[^]*Made: 1 page/);
    await page.getByText('Technical details').click();
    await page.getByText('scripts and animations that still drew').waitFor();
    await moments.filter({ hasText: 'ConversionCompleted' }).waitFor();
    t.match((await moments.allInnerTexts()).join(), /Attempt 1 started[^]*The file was stored/);
    const source = region(page, 'Request').locator('pre');
    t.match(await source.innerText(), SCRIPT);
    const options = await region(page, 'Request').locator('dl').first().innerText();
    t.match(options, /^Wait for\s+Time for scripts\s+100\s+Properties\s+Title\s+<img/);
    await source.locator('span[style*="--accent"]').first().waitFor();
    await button(page, 'Verify').click();
    await region(page, 'Proof').getByText('Everything that was checked holds').waitFor();
    const steps = await region(page, 'Proof').locator('li[data-look]').all();
    const looks = await Promise.all(steps.map((step) => step.getAttribute('data-look')));
    t.strictSame(looks, ['noted', 'holds', 'noted', 'holds', 'holds'], 'at a first visit');
    await page.getByRole('tab', { name: /Resources/ }).click();
    await page.getByRole('tab', { name: /Fonts/ }).click();
    await page.getByRole('tab', { name: /Console/ }).click();
    t.match(await page.getByRole('tabpanel').innerText(), SCRIPT);
    t.strictSame(await inspectPage(page, 'conversion'), []);
    t.notOk(await hasRun(page), 'what comes from a document is text');
  });

  await parent.test(
    'the PDF and the evidence bundle are downloaded under their names',
    async (t) => {
      const [pdf] = await Promise.all([
        page.waitForEvent('download'),
        button(page, 'Download PDF').click(),
      ]);
      t.match(pdf.suggestedFilename(), /Invoice 4711\.pdf$/);
      const [bundle] = await Promise.all([
        page.waitForEvent('download'),
        button(page, 'Evidence bundle').click(),
      ]);
      t.equal(bundle.suggestedFilename(), `${id}.evidence.zip`);
    },
  );

  await parent.test('a link to share says its end, needs no sign-in and is revoked', async (t) => {
    await button(page, 'Share').click();
    const dialog = page.getByRole('dialog');
    const create = async (period: string) => {
      await dialog.getByLabel('Valid for').click();
      await page.getByRole('option', { name: period }).click();
      await dialog.getByRole('button', { name: 'Create link' }).click();
    };
    await create('An hour');
    await dialog.getByText(/until \d+ \w+ \d{4}, .* without signing in/).waitFor();
    const link = await dialog.locator('code').innerText();
    t.equal((await fetch(link)).headers.get('content-type'), 'application/pdf');
    // The documents of this service are kept for a week, which has begun: the link expires with the file.
    await create('A week');
    await dialog.getByText('Expires in 7 days').waitFor();
    t.not(await dialog.locator('code').innerText(), link);
    const items = dialog.getByRole('list', { name: 'Links' }).getByRole('listitem');
    t.equal(await items.count(), 2);
    t.match(await items.last().innerText(), /Expires in (1 hour|60 minutes|5\d minutes)/);
    // One download of a network is recorded in a minute, and the page has just shown the file.
    t.match(await items.last().innerText(), /Created .*, [01] downloads?$/m);
    t.strictSame(await inspectState(page, 'conversion-share'), []);
    await items.last().getByRole('button').click();
    await items.last().and(items.first()).waitFor();
    t.equal((await fetch(link)).status, 403);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  await parent.test('a phone unfolds the long parts', async (t) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.reload();
    await button(page, 'Timeline').and(page.locator('[aria-expanded="false"]')).waitFor();
    t.equal(await page.getByText('Made: 1 page').count(), 0);
    for (const part of ['Timeline', 'Request']) await button(page, part).press('Enter');
    await page.getByText('Made: 1 page').waitFor();
    t.equal(await page.locator('h2 > [aria-expanded="true"]').count(), 2);
    t.strictSame(await inspectState(page, 'conversion-unfolded'), []);
    await page.setViewportSize({ width: 360, height: 740 });
    await button(page, 'Timeline').click();
    await page.getByText('Made: 1 page').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByText('Made: 1 page').waitFor();
    t.equal(await page.locator('h2 > button').count(), 0, 'a wide screen shows everything');
  });

  await parent.test('where the browser shows PDFs, the page shows it when asked', async (t) => {
    const quiet = await convert(dashboard, {
      html: '<p>Seen</p>',
      filename: 'Invoice 4711',
      print_background: true,
    });
    const downloads = async () =>
      (await eventsOf(dashboard, quiet)).filter(({ type }) => type === 'DocumentDownloaded').length;
    const other = await context.newPage();
    // The Chrome of tests has no viewer: the frame is what the page is responsible for.
    await other.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'pdfViewerEnabled', { value: true })",
    );
    const asked: string[] = [];
    other.on('request', (request) => asked.push(request.url()));
    await other.goto(`/conversions/${quiet}`);
    await other.getByText('Showing it here is a download').waitFor();
    await other.getByText('Made: 1 page').waitFor();
    await other.getByRole('img', { name: 'The first page of the PDF' }).waitFor();
    t.strictSame(
      asked.filter((url) => url.endsWith('/file/')),
      [],
    );
    t.equal(await downloads(), 0, 'who opens the page has not downloaded the PDF');
    const option = region(other, 'Request').locator('dl > div', { hasText: 'Backgrounds' });
    t.match(
      await option.innerText(),
      /^Backgrounds\s+yes$/,
      'an option as the playground calls it',
    );
    t.strictSame(await inspectState(other, 'conversion-pdf'), []);
    await button(other, 'Show the PDF').click();
    const frame = other.locator('iframe');
    await frame.waitFor();
    t.match(await frame.getAttribute('title'), /^PDF: .*Invoice 4711\.pdf$/);
    const src = await frame.getAttribute('src');
    t.match(src, /^blob:/);
    const type = await other
      .evaluate<string>(`fetch('${src}').then((r) => r.blob()).then((b) => b.type)`)
      .catch(String);
    t.match(type, /application\/pdf|Failed to fetch/, 'the pages may frame it, and not fetch it');
    await region(other, 'Timeline').getByText('Downloaded').waitFor();
    t.equal(await downloads(), 1);
    await other.close();
  });

  await parent.test('without a viewer, the picture of the first page opens the PDF', async (t) => {
    const other = await context.newPage();
    await other.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'pdfViewerEnabled', { value: false })",
    );
    await other.goto(`/conversions/${id}`);
    await button(other, 'Show the PDF').click();
    const link = other.getByRole('link', { name: 'The first page of the PDF Open the PDF' });
    await link.getByRole('img').waitFor();
    t.equal(await other.locator('iframe').count(), 0);
    t.strictSame(await inspectState(other, 'conversion-no-viewer'), []);
    // What shows no PDF in a window either saves it.
    const [saved] = await Promise.all([other.waitForEvent('download'), link.click()]);
    t.equal((await readFile(await saved.path())).subarray(0, 5).toString(), '%PDF-');
    await other.close();
  });

  await parent.test('a picture is called one in the list, and is shown when asked', async (t) => {
    const picture = await convert(dashboard, { html: '<h1>Seen</h1>', format: 'webp' });
    await page.goto('/conversions');
    await page.getByRole('row').filter({ hasText: picture }).getByText('WebP picture').waitFor();
    await page.goto(`/conversions/${picture}`);
    await button(page, 'Download picture').waitFor();
    t.notMatch(await region(page, 'Summary').innerText(), 'Pages');
    await button(page, 'Show the picture').click();
    await page.getByRole('img', { name: /^Picture: .*\.webp$/ }).waitFor();
    await page.waitForFunction("document.querySelector('img[alt^=Picture]').naturalWidth > 0");
    t.strictSame(await inspectState(page, 'conversion-picture'), []);
  });

  await parent.test('passwords are dots until they are asked for', async (t) => {
    const pdf = { encrypt: { user_password: 'hush', owner_password: 'hush too' } };
    const locked = await convert(dashboard, { html: '<p>Locked</p>', pdf });
    await page.goto(`/conversions/${locked}`);
    const request = region(page, 'Request');
    const password = request
      .locator('dl dl dl > div')
      .filter({ hasText: 'Password that opens it' });
    await password.getByText(/^•+$/).waitFor();
    t.notMatch(await page.content(), 'hush');
    await button(page, 'Show passwords').click();
    await password.getByText('hush', { exact: true }).waitFor();
    await button(page, 'Hide passwords').click();
    await password.getByText(/^•+$/).waitFor();
    t.notMatch(await page.content(), 'hush');
    await page.goto(`/conversions/${id}`);
  });

  await parent.test('converting again says what it costs, and takes one credit', async (t) => {
    const client = dashboard.service.client();
    const { credits } = await client.account();
    await more(page);
    t.strictSame(await inspectState(page, 'conversion-more'), []);
    await button(page, 'Convert again').click();
    const dialog = page.getByRole('dialog');
    t.match(await dialog.innerText(), /costs one credit/);
    t.strictSame(await inspectState(page, 'conversion-again'), []);
    await button(page, 'Convert for one credit').click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await button(page, 'Download PDF').waitFor();
    t.equal((await client.account()).credits, Number(credits) - 1);
    await region(page, 'Summary').getByRole('link', { name: id }).waitFor();
  });

  await parent.test('a test is converted again without a word of credits', async (t) => {
    const client = dashboard.service.client();
    const tried = await client.create({ html: '<p>Tried</p>' }, { test: true });
    await client.wait(tried.id);
    const { credits } = await client.account();
    await page.goto(`/conversions/${tried.id}`);
    await more(page);
    await button(page, 'Convert again').click();
    const dialog = page.getByRole('dialog');
    t.notMatch(await dialog.innerText(), /credit/);
    await dialog.getByRole('button', { name: 'Convert again' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(tried.id));
    await button(page, 'Download PDF').waitFor();
    t.equal((await client.account()).credits, credits);
  });

  await parent.test('work on documents names what it was made from, with a link', async (t) => {
    const client = dashboard.service.client();
    const file = pdfOf(['One']).toString('base64');
    const made = await client.documents.create([{ conversion: id }, { file }]);
    await client.wait(made.id);
    await page.goto(`/conversions/${made.id}`);
    const summary = region(page, 'Summary');
    const link = summary.getByRole('link', { name: id });
    await link.waitFor();
    t.match(await summary.innerText(), /a file of .*, SHA-256/);
    await link.click();
    await page.waitForURL((url) => url.pathname.endsWith(id));
    await button(page, 'Download PDF').waitFor();
  });

  await parent.test('rendering again says how the PDFs compare', async (t) => {
    await page.goto(`/conversions/${id}`);
    await more(page);
    await button(page, 'Render again and compare').click();
    t.match(await page.getByRole('dialog').innerText(), /which pages differ/);
    await button(page, 'Render for one credit').click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    const summary = region(page, 'Summary');
    await summary.getByText(/^(Equal, byte for byte|Every page shows the same)/).waitFor();
    await summary.getByRole('link', { name: id }).waitFor();
  });

  await parent.test('home shows what needs attention, and the use of the last days', async (t) => {
    await page.goto('/');
    await page.getByText('1 conversion failed in the last 7 days').waitFor();
    await region(page, 'Last 14 days')
      .getByText(/ 1 failed /)
      .waitFor();
    await region(page, 'Last 14 days').locator('canvas').waitFor();
    t.strictSame(await inspectPage(page, 'home'), []);
    await page.getByRole('link', { name: 'See the failures' }).click();
    await page.getByText('1 conversion matches').waitFor();
  });

  await parent.test(
    'another account has its own first steps, and not this conversion',
    async (t) => {
      const account = { email: 'other@example.com', password: 'correct horse battery staple' };
      const args = ['account', 'create', account.email, '--password-stdin'];
      await runCli(dashboard.service.place, args, { input: account.password });
      await context.clearCookies();
      await signIn(page, account);
      await page.getByText('0 of 3 done.').waitFor();
      t.strictSame(await inspectState(page, 'home-new'), []);
      await page.goto(`/conversions/${id}`);
      await page.getByText('This account has no such conversion').waitFor();
      t.strictSame(await inspectState(page, 'conversion-unknown'), []);
      await context.clearCookies();
      await signIn(page, dashboard.account);
    },
  );
}

async function lossTests(parent: Test, dashboard: DashboardBrowser): Promise<void> {
  const { page, service, context } = dashboard;
  const lost = page.getByText('Connection lost; reconnecting…');
  await page.goto('/conversions');
  await page.getByRole('row').first().waitFor();

  await parent.test('a lost network is said, and the page comes back by itself', async () => {
    await context.setOffline(true);
    await lost.waitFor();
    await context.setOffline(false);
    await page.getByText('Connected again.').waitFor();
    await lost.waitFor({ state: 'detached' });
  });

  await parent.test('a service that was restarted is found again, with what changed', async (t) => {
    await service.stop();
    await lost.waitFor();
    t.strictSame(await inspectState(page, 'conversions-lost'), []);
    await service.start();
    await lost.waitFor({ state: 'detached' });
    await convert(dashboard, { html: '<h1>After</h1>' });
    await button(page, /Show \d+ new conversion/).waitFor();
  });
}

void test('conversions in the dashboard', { timeout: 300_000 }, async (t) => {
  const env = { PORT: String(await freePort()), FAILED_RETENTION_SECONDS: '0' };
  const dashboard = await startDashboard(t, env);
  await signIn(dashboard.page, dashboard.account);
  await listTests(t, dashboard);
  await oneTests(t, dashboard);
  await lossTests(t, dashboard);
  t.notOk(await hasRun(dashboard.page));
});
