/** `convert page.html` with what lies beside it, here and by a service. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace } from '../support/place.ts';
import { startService } from '../support/service.ts';

const HTML = `<link rel=stylesheet href=style.css><p>A page</p><img src="img/logo.svg">
  <script type=module src=app.js></script>`;
const FILES = {
  'page.html': HTML,
  'style.css': '@import "more.css"; p { color: #aa0011 }',
  'more.css': 'i { color: #00bb22 }',
  'img/logo.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="#0000cc"/></svg>',
  'app.js':
    'import { word } from "./word.js"; document.body.insertAdjacentHTML("beforeend", word);',
  'word.js': 'export const word = "<i>by a module</i>";',
  'poor.html': `${HTML}<link rel=stylesheet href=gone.css><img src="../outside.png">`,
  'later.html': `${HTML}<script>document.write('<img src=' + 'made.png>')</script>`,
};

function writePages(folder: string): void {
  mkdirSync(join(folder, 'img'), { recursive: true });
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
}

/** Sends the same page as a form, and looks at its PDF. */
async function convertAsForm(
  t: Test,
  service: Awaited<ReturnType<typeof startService>>,
): Promise<void> {
  const form = new FormData();
  for (const [name, content] of Object.entries(FILES)) {
    form.append('files', new Blob([content]), name === 'page.html' ? 'index.html' : name);
  }
  form.append('print_background', 'true');
  form.append('metadata', '{"title":"A form"}');
  const answer = await fetch(`${service.url}/api/v1/pdf/`, {
    method: 'POST',
    headers: { 'X-API-Key': service.firstStart.apiKey },
    body: form,
  });
  t.equal(answer.status, 202);
  const { id } = (await answer.json()) as { id: string };
  const client = service.client();
  const file = await client.download(await client.wait(id));
  const pdf = await openPdf(new Uint8Array(await new Response(file).arrayBuffer()));
  t.equal(pdf.info['Title'], 'A form');
  t.match(pdf.text, /A page[^]*by a module/);
  for (const colour of ['#aa0011', '#0000cc']) t.ok(pdf.pages[0]?.fills.has(colour), colour);
  const shown = (await cliJson(service.place, ['manifest', id])) as { resources: object[] };
  t.match(shown.resources[0], { url: 'style.css', status: 200, sha256: /^[0-9a-f]{64}$/ });
}

void test('a page is printed with its files, and what it lacks is told', async (t) => {
  const service = await startService(t);
  const { place } = service;
  const folder = join(place.tmpDir, 'site');
  writePages(folder);
  const key = service.firstStart.apiKey;
  const there = ['--server', service.url, '--api-key', key];
  for (const [where, args] of Object.entries({ here: [], there })) {
    const target = join(folder, `${where}.pdf`);
    const convert = (name: string, ...more: string[]): string[] => [
      'convert',
      join(folder, name),
      '-o',
      target,
      ...args,
      ...more,
    ];
    const whole = await runCli(place, convert('page.html', '--strict', '--print-background'));
    t.equal(whole.code, 0, whole.stderr);
    t.notMatch(whole.stderr, /could not be loaded/);
    const pdf = await openPdf(readFileSync(target));
    t.match(pdf.text, /A page[^]*by a module/, where);
    for (const colour of ['#aa0011', '#00bb22', '#0000cc']) {
      t.ok(pdf.pages[0]?.fills.has(colour), `${where}: ${colour}`);
    }
    const poor = await runCli(place, convert('poor.html', '--json'));
    t.equal(poor.code, 0, poor.stderr);
    t.match(
      poor.stderr,
      /^2 resources could not be loaded: gone\.css \(not found beside poor\.html\), outside\.png \(outside of .*site\)$/m,
      where,
    );
    const warnings = ['gone.css (not found beside poor.html)', /^outside\.png/];
    t.match(JSON.parse(poor.stdout), { status: 'completed', warnings });
    const before = readFileSync(target);
    await refuses(t, place, convert('poor.html', '--strict'), 1, /gone\.css .* no PDF is written/);
    t.ok(readFileSync(target).equals(before), 'what was there stays');
  }
  const account = await cliJson(place, ['account', 'show', service.firstStart.email]);
  t.match(account, { credits: 96 }, 'what is known to lack something costs nothing');
  const late = join(folder, 'late.pdf');
  const later = ['convert', join(folder, 'later.html'), '-o', late, '--strict'];
  const failed = await runCli(place, later);
  t.equal(failed.code, 1);
  t.match(failed.stderr, /^pressledger: 1 resource .* made\.png \(not found beside later\.html\)/m);
  t.notOk(existsSync(late));
  const url = ['convert', 'https://example.com/', '-o', late];
  await refuses(t, place, [...url, '--base', folder], 2, /--base is for HTML/);
  const piped = ['convert', '-', '-o', late, '--strict', '--base', folder];
  t.match(await runCli(place, piped, { input: HTML }), { code: 0 });
  await convertAsForm(t, service);
});

void test('a page and its files are no larger than the settings allow', async (t) => {
  const place = createPlace(t, { MAX_BODY_BYTES: '20000' });
  await cliJson(place, ['account', 'create', '--email', 'ann@example.com']);
  writePages(place.tmpDir);
  writeFileSync(join(place.tmpDir, 'style.css'), 'x'.repeat(20_000));
  const target = join(place.tmpDir, 'page.pdf');
  const convert = ['convert', join(place.tmpDir, 'page.html'), '-o', target];
  await refuses(t, place, convert, 1, /larger than MAX_BODY_BYTES/);
});

void test('several pages and folders are converted at once, and a second run costs nothing twice', async (t) => {
  const service = await startService(t);
  const { place } = service;
  const folder = join(place.tmpDir, 'site');
  writePages(folder);
  mkdirSync(join(folder, 'more'));
  writeFileSync(join(folder, 'more', 'page.html'), '<p>Another page</p>');
  writeFileSync(join(folder, 'more', 'bad.html'), 'no element');
  const pdfs = join(place.tmpDir, 'pdfs');
  const there = ['--server', service.url, '--api-key', service.firstStart.apiKey];
  const pages = [join(folder, 'page.html'), join(folder, 'more')];
  const convert = () => runCli(place, ['convert', ...pages, '-o', pdfs, '--json', ...there]);
  const first = await convert();
  t.equal(first.code, 1, first.stderr);
  const document = JSON.parse(first.stdout) as { conversions: { id?: string }[] };
  t.match(document, { total: 3, done: 2, failed: 1 });
  t.match(document.conversions, [
    { status: 'completed', file: join(pdfs, 'page.pdf') },
    { page: join(folder, 'more', 'bad.html'), status: 'failed', error_message: /one element/ },
    { status: 'completed', file: join(pdfs, 'page (2).pdf') },
  ]);
  t.match(first.stderr, /2 of 3 pages done, 1 failed[^]*1 of 3 pages failed/);
  t.match((await openPdf(readFileSync(join(pdfs, 'page.pdf')))).text, /A page[^]*by a module/);
  t.match((await openPdf(readFileSync(join(pdfs, 'page (2).pdf')))).text, /Another page/);
  const names = async () =>
    (await cliJson(place, ['conversions', 'list', ...there])) as { name: string }[];
  const listed = (await names()).map(({ name }) => name).toSorted();
  t.strictSame(listed, ['page (2).pdf', 'page.pdf'], 'each has the name of its PDF');
  writeFileSync(join(folder, 'style.css'), 'p { color: #000000 }');
  const second = JSON.parse((await convert()).stdout) as typeof document;
  const [changed, , same] = document.conversions.map(
    ({ id }, n) => id === second.conversions[n]?.id,
  );
  t.strictSame([changed, same], [false, true], 'a page whose files have changed is another one');
  const account = await cliJson(place, ['account', 'show', service.firstStart.email]);
  t.match(account, { credits: 97 });
});
