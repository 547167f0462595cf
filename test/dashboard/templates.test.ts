/** A person writes a template in the playground, saves it in versions and makes a document of it, in a real Chrome. */
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { inspectPage, inspectState, signIn, startDashboard } from '../support/dashboard-browser.ts';

const MARKUP = '<script>window.ran=true</script> 🧾 חשבונית';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const region = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name }) });

async function writeHtml(page: Page, html: string): Promise<void> {
  await page.getByRole('textbox', { name: 'HTML', exact: true }).focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(html);
}

async function beginWith(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /Begin with/ }).click();
  await page.getByRole('option', { name, exact: true }).click();
}

void test('a template in the dashboard', { timeout: 300_000 }, async (whole) => {
  const { page, account, complaints } = await startDashboard(whole);
  await signIn(page, account, '/templates');

  await whole.test('it is written from a document to begin with, and tried', async (t) => {
    await page.getByText('There is no template yet').waitFor();
    t.strictSame(await inspectPage(page, 'templates-empty'), []);
    await page.getByRole('link', { name: 'Write a template' }).click();
    await page.getByRole('textbox', { name: 'Schema' }).waitFor();
    const font = await page.evaluate<string>(
      "getComputedStyle([...document.querySelectorAll('textarea')].at(-1)).fontFamily",
    );
    t.match(font, /monospace/, 'code is set in a font for code');
    await beginWith(page, 'Invoice');
    await page.getByRole('textbox', { name: 'Data' }).filter({ hasText: 'Rye bread' }).waitFor();
    await button(page, 'Show the filled HTML').click();
    await page.locator('pre').filter({ hasText: '€168.00' }).waitFor();
    t.strictSame(await inspectPage(page, 'playground-template'), []);
    await button(page, 'Convert').click();
    await page.getByRole('status').filter({ hasText: 'The PDF is ready' }).waitFor();
    t.strictSame(await inspectState(page, 'playground-template-pdf'), []);
  });

  await whole.test('what is wrong is said at its place', async (t) => {
    await page.getByRole('textbox', { name: 'Data' }).fill('{"number": 1');
    await page.getByText('Must be a JSON object').waitFor();
    await page.getByRole('textbox', { name: 'Data' }).fill('{"number": 1}');
    await button(page, 'Convert').click();
    await page.locator('.wrong').filter({ hasText: 'Must be a string' }).first().waitFor();
    t.strictSame(await inspectState(page, 'playground-template-wrong'), []);
    await beginWith(page, 'Letter');
    await page.getByRole('textbox', { name: 'Data' }).filter({ hasText: 'Babbage' }).waitFor();
  });

  await whole.test('it is saved, and another version of it', async (t) => {
    await button(page, 'Save as a template').click();
    await page.getByRole('dialog').getByLabel('Name').fill(MARKUP);
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Version 1 of').waitFor();
    await page
      .locator('pre')
      .filter({ hasText: /"template": "tmpl_/ })
      .first()
      .waitFor();
    await writeHtml(page, '<h1>{{ subject }}</h1>');
    await button(page, 'Save').click();
    await page.getByText('Version 2 of').waitFor();
    await page.getByRole('link', { name: MARKUP }).click();
    await page.getByRole('heading', { level: 1, name: MARKUP }).waitFor();
    await region(page, 'Versions').getByRole('row').nth(2).waitFor();
    t.strictSame(await inspectPage(page, 'template'), []);
  });

  await whole.test('an earlier version is restored and opened', async (t) => {
    await button(page, 'Restore').click();
    await page.getByText('as version 3').waitFor();
    await region(page, 'Versions').getByRole('row').nth(3).waitFor();
    await page.getByRole('link', { name: 'Edit in the playground' }).click();
    await page.getByText('Version 3 of').waitFor();
    await page.locator('.cm-content').filter({ hasText: 'Liberation Serif' }).waitFor();
    t.equal(new URL(page.url()).search, '', 'a reload shows what was edited since');
    await page.goBack();
  });

  await whole.test('it is listed, renamed and deleted', async (t) => {
    await page.goto('/templates');
    await page.getByRole('link', { name: MARKUP }).click();
    await button(page, 'Rename').click();
    await page.getByRole('dialog').getByLabel('Name').fill('Letter');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { level: 1, name: 'Letter' }).waitFor();
    await page.goto('/templates');
    await page.getByRole('row').filter({ hasText: 'Letter' }).waitFor();
    t.strictSame(await inspectPage(page, 'templates'), []);
    await page.getByRole('link', { name: 'Letter' }).click();
    await button(page, 'Delete').click();
    await button(page, 'Delete the template').click();
    await page.getByText('There is no template yet').waitFor();
    t.notOk(await page.evaluate(() => 'ran' in globalThis));
  });
  whole.strictSame(complaints, []);
});
