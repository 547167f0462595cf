/** A person tries documents in the playground, and runs the samples that it gives, in a real Chrome. */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { strToU8, zipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { BASE } from '../support/api.ts';
import {
  dropFiles,
  inspectPage,
  inspectState,
  sample,
  signIn,
  startDashboard,
} from '../support/dashboard-browser.ts';
import { testDirectory } from '../support/directory.ts';

const run = promisify(execFile);

/** What shells and languages may take for something else than text. */
const HARD = [
  '<!DOCTYPE html><p class=\'a\' title="b">',
  '$HOME ${HOME} $(id) `id` !! %s {x} #{y}',
  '\\ \\n \\u0041 \\\' \\" """ \\',
  "''' ' \" ` é ü 漢字 👩‍👧 \u2028 \u200f \u00ad",
  'JSON\nEOF\n</p>',
].join('\n');

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const editor = (page: Page) => page.getByRole('textbox', { name: 'HTML', exact: true });

/** Replaces the text as a person does: `fill` inserts before the editor hears of the selection. */
async function writeHtml(page: Page, html: string): Promise<void> {
  await editor(page).focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(html);
}

/** A file that takes what a browser keeps of a page. */
function large(folder: string): string {
  const path = join(folder, 'large.bin');
  writeFileSync(path, Buffer.alloc(1_500_000));
  return path;
}

void test('a document is tried in the playground', async (t) => {
  const dashboard = await startDashboard(t, { ALLOW_PRIVATE_NETWORK: 'true' });
  const { page, account, service } = dashboard;
  const { apiKey } = service.firstStart;
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(service.url + BASE + path, { headers: { 'X-API-Key': apiKey } });
    return (await answer.json()) as T;
  };
  await signIn(page, account, '/playground');
  await editor(page).waitFor();
  t.strictSame(await inspectPage(page, 'playground'), []);

  await t.test('the editor indents with Tab, and Escape and Tab leave it', async (sub) => {
    await editor(page).focus();
    await page.keyboard.press('Tab');
    sub.ok(await editor(page).evaluate((element) => element.matches(':focus')));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    sub.notOk(await editor(page).evaluate((element) => element.matches(':focus')));
  });

  await t.test('the samples ask for what is made, and name their file after it', async (sub) => {
    await button(page, 'Page').click();
    await page.getByRole('button', { name: /^PDF What is made/ }).click();
    await page.getByRole('option', { name: 'WebP' }).click();
    const text = await sample(page, 'curl');
    sub.match(text, /--output picture\.webp .*\n[^]*'Accept: image\/webp'[^]*"format": "webp"/);
    for (const language of ['TypeScript', 'Python', 'C#', 'Go', 'PHP', 'Java', 'Ruby']) {
      const other = await sample(page, language);
      sub.match(other, 'picture.webp', language);
      sub.notMatch(other, /application\/pdf|document\.pdf/, language);
    }
    await page.setViewportSize({ width: 768, height: 900 });
    const [figure, code] = await Promise.all(
      ['figure', 'figure pre'].map((shown) => page.locator(shown).boundingBox()),
    );
    sub.ok((code?.width ?? 0) > (figure?.width ?? 0) - 4, 'the button takes nothing of its width');
    await page.setViewportSize({ width: 1280, height: 900 });
    await button(page, 'Convert').click();
    await page.getByRole('img', { name: 'The picture' }).waitFor();
    sub.equal(
      await page.getByRole('status').filter({ hasText: 'The picture is ready' }).count(),
      1,
    );
    await button(page, 'Reset').click();
  });

  await t.test(
    'what is done with the PDF has groups, switches and files of its own',
    async (sub) => {
      for (const group of [
        'Archiving and accessibility',
        'Electronic invoice',
        'Attachments',
        'Encryption',
        'Signature',
      ]) {
        await button(page, group).click();
      }
      const toggle = (name: string) => page.getByRole('switch', { name, exact: true });
      await page.getByRole('checkbox', { name: 'PDF/UA-1' }).waitFor();
      sub.ok(await toggle('Fail if it cannot conform').isChecked());
      await toggle('Print').press('Space');
      sub.notOk(await toggle('Print').isChecked());
      await page.getByRole('textbox', { name: 'Password that opens it' }).fill('hush');
      await toggle('Sign').press('Space');
      sub.match(await sample(page, 'curl'), '"sign": true');
      await page.getByRole('textbox', { name: 'Reason' }).fill('Approved');
      const place = { x: '20mm', y: '250mm', width: '70mm', height: '20mm' };
      const names = ['From the left', 'From the top', 'Width', 'Height'];
      for (const [at, length] of Object.values(place).entries()) {
        const name = names[at] ?? '';
        const box = page.getByRole('group', { name: 'On a page' }).getByRole('textbox', { name });
        await box.fill(length);
      }
      await button(page, 'Add to Files').click();
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('group', { name: 'File', exact: true }).getByRole('button').click(),
      ]);
      const buffer = Buffer.from('a;b');
      await chooser.setFiles({ name: 'hours.csv', mimeType: 'text/csv', buffer });
      await page.getByText('3\u00a0B').waitFor();
      const [, sent = ''] = /"pdf": (\{[^]*?\n {2}\})/.exec(await sample(page, 'curl')) ?? [];
      const attachment = { filename: 'hours.csv', content: 'YTti', type: 'text/csv' };
      sub.strictSame(JSON.parse(sent), {
        attachments: [attachment],
        encrypt: { user_password: 'hush', permissions: { print: false } },
        sign: { reason: 'Approved', field: place },
      });
      sub.strictSame(await inspectState(page, 'playground-pdf'), []);
      await button(page, 'Reset').click();
    },
  );

  await t.test('what is wrong is shown at its field', async (sub) => {
    await button(page, 'Scripts and waiting').click();
    const margin = page.getByRole('textbox', { name: 'Top', exact: true });
    await margin.fill('25');
    await page.getByRole('textbox', { name: 'Pages to print' }).fill('9-3');
    await button(page, 'Convert').click();
    await page.getByText('no credit was taken').waitFor();
    sub.equal(await margin.getAttribute('aria-invalid'), 'true');
    sub.match(await page.getByRole('alert').innerText(), /Margin top: .*unit px, cm, in or mm/);
    sub.equal(await page.getByText('Must be page numbers from 1').count(), 2);
    sub.strictSame(await inspectState(page, 'playground-wrong'), []);
    await button(page, 'Reset').click();
    sub.equal(await margin.inputValue(), '1cm');
    sub.equal(await page.locator('[aria-invalid]').or(page.getByRole('alert')).count(), 0);
  });

  await t.test('it is converted with the keys, with warnings, and costs a credit', async (sub) => {
    await writeHtml(page, '<h1>One</h1><img src="http://127.0.0.1:1/none.png">');
    await editor(page).press('Control+Enter');
    await page.getByText('The PDF was made, but the page lacked something').waitFor();
    await page.getByText('You have 98.').waitFor();
    sub.match(await page.getByText('127.0.0.1:1/none.png').last().innerText(), /none\.png/);
    const download = page.waitForEvent('download');
    await button(page, 'Download').click();
    const file = await readFile(await (await download).path());
    sub.equal(file.subarray(0, 5).toString(), '%PDF-');
    sub.strictSame(await inspectState(page, 'playground-converted'), []);
  });

  await t.test(
    'the PDF is shown as one types, free, and a failure covers no good one',
    async (sub) => {
      const toggle = page.getByRole('switch', { name: 'Preview as I type' });
      await toggle.press('Space');
      await page.getByText('Test', { exact: true }).waitFor();
      await writeHtml(page, '<h1>Two</h1><p style="break-before: page">pages');
      await page.getByText(/^2 pages · /).waitFor();
      sub.ok(await editor(page).evaluate((element) => element.matches(':focus')));
      sub.strictSame(await inspectState(page, 'playground-preview'), []);
      await writeHtml(page, 'no element');
      await page.getByText('Must be HTML with at least one element').first().waitFor();
      await page.getByText(/^2 pages · /).waitFor();
      sub.strictSame(await inspectState(page, 'playground-preview-wrong'), []);
      // Each takes the place of the one before, which is cancelled.
      const cancelled = page.waitForRequest((request) => request.method() === 'DELETE');
      const accepted = page.waitForResponse((answer) => answer.url().includes('test=true'));
      await writeHtml(page, '<script>for (;;);</script><p>slow');
      await accepted;
      await writeHtml(page, '<h1>One</h1><img src="http://127.0.0.1:1/none.png">');
      await cancelled;
      await page.getByText(/^1 page · /).waitFor();
      await toggle.press('Space');
      const { credits } = await get<{ credits: number }>('/account/');
      sub.equal(credits, 98);
    },
  );

  await t.test('one margin stands for four, until they differ', async (sub) => {
    const side = (name: string) => page.getByRole('textbox', { name, exact: true });
    await side('All sides').fill('15mm');
    sub.equal(await side('Left').inputValue(), '15mm');
    await side('Left').fill('20mm');
    sub.equal(await side('All sides').inputValue(), '');
    const text = await sample(page, 'curl');
    sub.match(text, /"margin_top": "15mm",[^]*"margin_left": "20mm"/);
    await button(page, 'Reset').click();
    sub.equal(await side('All sides').inputValue(), '1cm');
  });

  await t.test('rows change their places with what is in them', async (sub) => {
    // The group was opened above.
    for (const name of ['a.csv', 'b.csv']) {
      await button(page, 'Add to Files').click();
      await page.getByRole('textbox', { name: 'File name' }).last().fill(name);
    }
    await button(page, 'Move b.csv up').press('Enter');
    await button(page, 'Move b.csv down').and(page.locator(':focus')).waitFor();
    await page.getByText('b.csv is now number 1 of 2.').waitFor();
    sub.match(await sample(page, 'curl'), /"b\.csv"[^]*"a\.csv"/);
    await button(page, 'Reset').click();
  });

  await t.test('only what differs from the default is sent', async (sub) => {
    await page.getByRole('switch', { name: 'Landscape' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('textbox', { name: 'A delay' }).fill('10');
    await page.keyboard.press('Tab');
    const text = await sample(page, 'curl');
    sub.match(text, /"landscape": true,\n {2}"wait_for": \{\n {4}"delay_ms": 10\n/);
    sub.notMatch(text, /page_size|budget_ms|tagged/);
  });

  await t.test('a reload keeps what was edited', async (sub) => {
    await page.reload();
    await editor(page).waitFor();
    sub.match(await editor(page).innerText(), /<h1>One<\/h1>/);
    await page.getByRole('button', { name: 'Page 1 set' }).click();
    sub.ok(await page.getByRole('switch', { name: 'Landscape' }).isChecked());
  });

  await t.test('the request of a conversion is taken over', async (sub) => {
    await writeHtml(page, '<p>Another</p>');
    await button(page, 'Reset').click();
    const all = await get<{ id: string; test?: true }[]>('/conversions/');
    const { id } = all.find(({ test: isTest }) => isTest === undefined) ?? { id: 'none' };
    await page.goto(`/playground?from=conv_${'0'.repeat(26)}`);
    await page.getByText(/^conv_0+ could not be loaded\. /).waitFor();
    await page.goto(`/playground?from=${id}`);
    await page.getByText('This is the request of').waitFor();
    sub.match(await editor(page).innerText(), /<h1>One<\/h1>/);
    sub.strictSame(await inspectState(page, 'playground-from'), []);
  });

  await t.test('the samples send every text as it is', async (sub) => {
    await writeHtml(page, HARD);
    const folder = testDirectory(sub, { 'package.json': '{}' });
    const env = { ...process.env, PRESSLEDGER_API_KEY: apiKey };
    const [, install = ''] = /^\/\/ (npm install .*)/.exec(await sample(page, 'TypeScript')) ?? [];
    const [npm = '', ...words] = install.split(' ');
    await run(npm, words, { cwd: folder });
    const samples = [
      { language: 'curl', file: 'sample.sh', command: 'bash' },
      { language: 'TypeScript', file: 'sample.mts', command: process.execPath },
      { language: 'Python', file: 'sample.py', command: 'python3' },
      { language: 'PHP', file: 'sample.php', command: 'php' },
      { language: 'Java', file: 'Convert.java', command: 'java' },
      { language: 'Ruby', file: 'sample.rb', command: 'ruby' },
    ];
    const pdf = join(folder, 'document.pdf');
    for (const { language, file, command } of samples) {
      if (spawnSync(command, ['--version']).status !== 0) {
        sub.pass(language, { skip: `${command} is missing` });
        continue;
      }
      await writeFile(join(folder, file), await sample(page, language));
      await writeFile(pdf, '');
      await run(command, [file], { cwd: folder, env });
      sub.equal((await readFile(pdf)).subarray(0, 5).toString(), '%PDF-', language);
      const [{ id }] = await get<[{ id: string }]>('/conversions/?page_size=1');
      const { html } = await get<{ html: string }>(`/conversions/${id}/request/`);
      sub.equal(html, HARD, `${language} sent the text`);
    }
  });

  await t.test('a folder, a ZIP and a page are opened with what lies beside', async (sub) => {
    const folder = testDirectory(sub, {
      site: {
        'index.html': '<link rel="stylesheet" href="css/a.css"><h1>From a folder</h1>',
        'second.html': '<h1>Second</h1>',
        css: { 'a.css': 'h1 { color: teal }' },
        '.hidden': 'never sent',
      },
      'bad.zip': Buffer.from(zipSync({ '../out.html': strToU8('<p>') })),
      'one.zip': Buffer.from(
        zipSync({
          'kept/page.html': strToU8('<img src="../logo.svg"><h1>From a ZIP</h1>'),
          'logo.svg': strToU8('<svg xmlns="http://www.w3.org/2000/svg"/>'),
        }),
      ),
    });
    const drop = (name: string) =>
      dropFiles(page, 'or drop one on the editor', [join(folder, name)]);
    await drop('bad.zip');
    await page.getByRole('alert').filter({ hasText: 'leads out of it, ../out.html' }).waitFor();
    await drop('site');
    await page.getByText('2 HTML files were opened').waitFor();
    sub.strictSame(await inspectState(page, 'playground-pages'), []);
    await page.getByRole('button', { name: /Choose the page/ }).click();
    await page.getByRole('option', { name: 'site/index.html' }).click();
    await page.getByText('with 2 files beside it').waitFor();
    const sent = await sample(page, 'curl');
    sub.match(sent, /"css\/a\.css": "aDE/);
    sub.notMatch(sent, 'hidden');
    await drop('one.zip');
    await page.getByText('page.html is opened, with 1 file beside it').waitFor();
    sub.match(await editor(page).innerText(), 'From a ZIP');
    await button(page, 'Convert').click();
    await page
      .getByRole('status')
      .filter({ hasText: /The PDF is ready\.$/ })
      .waitFor();
    await page.evaluate(() => {
      // No room is left for the files.
      sessionStorage.setItem('other', 'x'.repeat(4_000_000));
    });
    await dropFiles(page, 'or drop one on the editor', [
      join(folder, 'site/second.html'),
      large(folder),
    ]);
    await page.getByText('second.html is opened, with 1 file').waitFor();
    await page.reload();
    await page.getByText('too large for the browser to keep').waitFor();
    await page.evaluate(() => sessionStorage.removeItem('other'));
    await drop('one.zip');
    await page.getByText('too large for the browser to keep').waitFor({ state: 'detached' });
    await page.reload();
    await editor(page).waitFor();
    sub.match(await sample(page, 'curl'), '"logo.svg":', 'files that the browser keeps are there');
    sub.equal(await page.getByText('too large for the browser to keep').count(), 0);
  });

  await t.test('a document to begin with is an electronic invoice', async (sub) => {
    await page.getByRole('button', { name: /Begin with/ }).click();
    await page.getByRole('option', { name: 'Electronic invoice' }).click();
    await page.getByText('2 set').waitFor();
    await button(page, 'Convert').click();
    await page.getByRole('status').filter({ hasText: 'The PDF is ready.' }).waitFor();
    const [made] = await get<{ pdf: object }[]>('/conversions/?page_size=1');
    sub.match(made?.pdf, { conformance: ['pdfa-3b', 'pdfua-1'] });
    await button(page, 'Reset').click();
  });

  await t.test('what another document took the place of is brought back', async (sub) => {
    await writeHtml(page, '<p>Written for an hour');
    await page.getByRole('button', { name: /Begin with/ }).click();
    await page.getByRole('option', { name: 'Electronic invoice' }).click();
    await page.getByText('2 set').waitFor();
    await button(page, 'Bring back what was here before').click();
    await page.getByText('2 set').waitFor({ state: 'detached' });
    sub.match(await editor(page).innerText(), 'Written for an hour');
    await button(page, 'Bring back what was here before').click();
    await page.getByText('2 set').waitFor();
    await button(page, 'Reset').click();
  });

  await t.test('signing out forgets what was edited', async (sub) => {
    const storedKeys = () => page.evaluate<string[]>('Object.keys(sessionStorage)');
    sub.match((await storedKeys()).join(' '), /playground acct_/);
    await button(page, 'Sign out').click();
    await page.waitForURL('**/sign-in');
    sub.notMatch((await storedKeys()).join(' '), /playground/);
  });

  t.strictSame(dashboard.complaints, []);
});
