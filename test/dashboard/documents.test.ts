/** A person works on finished PDFs on the page Documents, in a real Chrome. */
import { execFile, spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import {
  dropFiles,
  inspectPage,
  inspectState,
  sample,
  signIn,
  startDashboard,
} from '../support/dashboard-browser.ts';
import { testDirectory } from '../support/directory.ts';
import { openPdf } from '../support/pdf.ts';
import { pdfOf } from '../support/written-pdf.ts';

const run = promisify(execFile);

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const listed = (page: Page) => page.getByRole('list', { name: 'PDFs in their order' });
const step = (page: Page, name: string) =>
  page.getByRole('listitem').getByRole('group', { name, exact: true });

const pdf = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/pdf', buffer });
const COVER = pdf('cover.pdf', pdfOf(['Cover']));
const REPORT = pdf('report.pdf', pdfOf(['First', 'Second']));

/** Chooses files as the browser's own dialog does. */
const choose = (page: Page, ...files: ReturnType<typeof pdf>[]) =>
  page.locator('input[type="file"]').first().setInputFiles(files);

/** The names of the PDFs in their order. */
const names = async (page: Page): Promise<readonly string[]> =>
  (await listed(page).getByRole('listitem').locator('bdi').allInnerTexts()).map((each) =>
    each.trim(),
  );

async function resultOf(page: Page) {
  const download = page.waitForEvent('download');
  await button(page, 'Download').click();
  return await openPdf(await readFile(await (await download).path()));
}

void test('finished PDFs are worked on', async (t) => {
  const dashboard = await startDashboard(t);
  const { page, account, service } = dashboard;
  const { apiKey } = service.firstStart;
  const folder = testDirectory(t);
  const client = service.client();
  for (const request of [
    { html: '<h1>Receipt</h1>', filename: 'Receipt 4711' },
    { html: '<h1>Seen</h1>', filename: 'Poster', format: 'png' },
  ] as const) {
    const { id } = await client.create(request);
    await client.wait(id);
  }
  await signIn(page, account, '/documents');
  await button(page, 'Make the PDF').waitFor();

  await t.test('files are added, and what is not a PDF is named', async (sub) => {
    const notes = { ...pdf('notes.txt', Buffer.from('text')), mimeType: 'text/plain' };
    await choose(page, COVER, notes);
    await page.getByText('“notes.txt” is not a PDF.').waitFor();
    const path = join(folder, REPORT.name);
    await writeFile(path, REPORT.buffer);
    await dropFiles(page, 'Drop PDFs here', [path]);
    await listed(page).getByText('report.pdf').waitFor();
    sub.strictSame(await names(page), ['cover.pdf', 'report.pdf']);
  });

  await t.test('a stored PDF is added from its own page, and by the search', async (sub) => {
    await page.getByRole('link', { name: 'Conversions', exact: true }).click();
    await page.getByRole('link', { name: 'Receipt 4711.pdf' }).click();
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('link', { name: 'Use in a new document' }).click();
    await page.getByText('“Receipt 4711.pdf” is added.').waitFor();
    sub.strictSame(await names(page), ['cover.pdf', 'report.pdf', 'Receipt 4711.pdf'], 'once');
    await button(page, 'Add one made here').click();
    await page.getByRole('searchbox', { name: 'Search' }).fill('poster');
    await page.getByText('The conversions of this page made pictures.').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('rece');
    await button(page, 'Add Receipt 4711.pdf').click();
    await page.getByText('4 PDFs so far.').waitFor();
    sub.strictSame(await inspectState(page, 'documents-search'), []);
    await button(page, 'Done').click();
  });

  await t.test('the keyboard changes the order, and keeps the focus', async (sub) => {
    await button(page, 'Move Receipt 4711.pdf up').first().focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('Receipt 4711.pdf is now number 1 of 4.').waitFor();
    const focused = page.locator(':focus');
    sub.equal(await focused.getAttribute('aria-label'), 'Move Receipt 4711.pdf down');
    await button(page, 'Remove Receipt 4711.pdf').last().press('Enter');
    sub.strictSame(await names(page), ['Receipt 4711.pdf', 'cover.pdf', 'report.pdf']);
    sub.equal(await focused.getAttribute('aria-label'), 'Remove report.pdf');
  });

  await t.test('a PDF is dragged to another place', async (sub) => {
    const handles = listed(page).locator('[draggable="true"]');
    await handles.nth(2).dragTo(listed(page).getByRole('listitem').nth(1));
    await page.getByText('report.pdf is now number 2 of 3.').waitFor();
    sub.strictSame(await names(page), ['Receipt 4711.pdf', 'report.pdf', 'cover.pdf']);
  });

  await t.test('what is wrong is shown at its step, and costs nothing', async (sub) => {
    await button(page, 'Encrypt with passwords').click();
    await button(page, 'Choose pages').press('Enter');
    const pages = field(page, 'Pages to keep');
    await pages.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('9-3');
    await page.keyboard.press('Control+Enter');
    await page.getByText('no credit was taken').waitFor();
    sub.equal(await pages.getAttribute('aria-invalid'), 'true');
    sub.match(await step(page, 'Encrypt with passwords').innerText(), 'Needs a user_password');
    sub.match(await page.getByRole('alert').last().innerText(), 'Choose pages: Pages to keep:');
    sub.strictSame(await inspectPage(page, 'documents'), []);
    await button(page, 'Remove Encrypt with passwords').click();
    // It is the first step now, of which the service said something else.
    await pages.and(page.locator(':not([aria-invalid])')).waitFor();
    await pages.fill('1, 4, 2');
  });

  await t.test('uploads and a stored PDF become one, with all steps', async (sub) => {
    await button(page, 'Stamp').click();
    const text = field(page, 'Text');
    sub.equal(await text.getAttribute('aria-invalid'), null);
    await button(page, 'Make the PDF').click();
    await page.getByText('Stamp: Text: Must not be empty.').waitFor();
    sub.equal(await text.getAttribute('aria-invalid'), 'true');
    await text.fill('Draft & <copy>');
    await button(page, 'Set title and author').click();
    await field(page, 'Title').fill('Together');
    await button(page, 'Name, reference and tags').click();
    await field(page, 'File name').fill('together');
    await button(page, 'Make the PDF').click();
    await page.getByText('The PDF is ready.').waitFor();
    const { text: printed, pages, info } = await resultOf(page);
    sub.equal(pages.length, 3);
    sub.match(printed, /Receipt[^]*Cover[^]*First/);
    sub.match(printed, 'Draft & <copy>');
    sub.match(JSON.stringify(info), 'Together');
  });

  await t.test('the sample of curl makes the same PDF', async (sub) => {
    await writeFile(join(folder, 'cover.pdf'), COVER.buffer);
    await writeFile(join(folder, 'sample.sh'), await sample(page, 'curl'));
    const env = { ...process.env, PRESSLEDGER_API_KEY: apiKey };
    await run('bash', ['sample.sh'], { cwd: folder, env });
    const { text } = await openPdf(join(folder, 'document.pdf'));
    sub.match(text, /Receipt[^]*Cover[^]*First/);
  });

  await t.test('a split makes a conversion of each part', async (sub) => {
    await button(page, 'Remove Choose pages').click();
    await button(page, 'Split into parts').click();
    await field(page, 'Pages of each part').fill('1\n2-4');
    await button(page, 'Make the parts').click();
    await page.getByText('2 of 2 have ended').waitFor();
    const parts = page.getByRole('table', { name: 'Parts', exact: true }).getByRole('row');
    sub.match(await parts.allInnerTexts(), [
      /Part/,
      /together 1\.pdf[^]*1 page,/,
      /2\.pdf[^]*3 pages,/,
    ]);
    const download = page.waitForEvent('download');
    await button(page, 'Download 2 PDFs as ZIP').click();
    sub.match((await download).suggestedFilename(), /^batch_.*\.zip$/);
    sub.strictSame(await inspectState(page, 'documents-split'), []);
  });

  await t.test('a file that was moved since is named', async () => {
    await button(page, 'Remove Split into parts').click();
    await rm(join(folder, REPORT.name));
    await button(page, 'Make the PDF').click();
    await page.getByText('The browser cannot read “report.pdf”.').waitFor();
  });

  await t.test('a damaged PDF fails with its reason', async (sub) => {
    const before = await names(page);
    await button(page, 'Reset').click();
    sub.strictSame(await names(page), []);
    await button(page, 'Bring back what was here before').click();
    sub.strictSame(await names(page), before);
    await button(page, 'Bring back what was here before').click();
    sub.strictSame(await names(page), []);
    await choose(page, pdf('broken.pdf', Buffer.from('%PDF-1.7\nbroken')));
    await listed(page).getByText('broken.pdf').waitFor();
    await button(page, 'Make the PDF').click();
    await page.getByText('The credit was given back.').waitFor();
    sub.match(await page.getByRole('alert').innerText(), /damaged/);
    await page.getByRole('link', { name: 'View details' }).click();
    await page.getByRole('link', { name: 'Try again in Documents' }).click();
    await listed(page).getByText('PDF 1.pdf').waitFor();
    sub.strictSame(await names(page), ['PDF 1.pdf'], 'its work is taken over');
  });

  await t.test(
    'for PDFs that were made here, samples in other languages do the same',
    async (sub) => {
      await button(page, 'Reset').click();
      await button(page, 'Add one made here').click();
      await page.getByRole('searchbox', { name: 'Search' }).fill('rece');
      await button(page, 'Add Receipt 4711.pdf').click();
      await button(page, 'Done').click();
      await button(page, 'Set title and author').click();
      await field(page, 'Title').fill('From "Python"');
      await writeFile(join(folder, 'sample.py'), await sample(page, 'Python'));
      const env = { ...process.env, PRESSLEDGER_API_KEY: apiKey };
      if (spawnSync('python3', ['--version']).status !== 0) {
        sub.pass('Python', { skip: 'python3 is missing' });
        return;
      }
      await writeFile(join(folder, 'document.pdf'), '');
      await run('python3', ['sample.py'], { cwd: folder, env });
      const { text, info } = await openPdf(join(folder, 'document.pdf'));
      sub.match(text, 'Receipt');
      sub.match(JSON.stringify(info), 'Python');
    },
  );

  await t.test('all fits on the narrowest screen', async (sub) => {
    for (const name of ['Turn pages', 'Stamp', 'Attach files', 'Encrypt with passwords']) {
      await button(page, name).click();
    }
    await page.setViewportSize({ width: 320, height: 700 });
    const overflow = 'document.documentElement.scrollWidth - innerWidth';
    sub.ok((await page.evaluate<number>(overflow)) <= 0);
  });

  await t.test('signing out forgets what was put together', async (sub) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await button(page, 'Sign out').click();
    await page.waitForURL('**/sign-in');
    await signIn(page, account, '/sign-in');
    await page.getByRole('link', { name: 'Documents', exact: true }).click();
    await button(page, 'Make the PDF').waitFor();
    sub.strictSame(await names(page), []);
  });

  t.strictSame(dashboard.complaints, []);
});
