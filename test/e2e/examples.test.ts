/** The programs of examples/, each run as a user would run it, against a running service. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Test, test } from 'tap';
import { servePages } from '../support/pages.ts';
import { openPdf } from '../support/pdf.ts';
import { startService } from '../support/service.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const MM = 72 / 25.4;

const lacks = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status !== 0;

/** The reasons why an example cannot be run on this machine, or false: for a test's `skip`. */
const noShell = (lacks('jq', '--version') || lacks('curl', '--version')) && 'curl or jq is missing';
const noPython = lacks('python3', '--version') && 'python3 is missing';
const dotnet = spawnSync('dotnet', ['--version'], { encoding: 'utf8' });
const noDotnet = Number.parseInt(dotnet.stdout ?? '', 10) >= 10 ? false : '.NET 10 is missing';

const node = (...args: readonly string[]) => [process.execPath, ...args] as const;

/** Forwards to the service, but refuses the first requests as a busy service would. */
async function busyAtFirst(t: Test, service: string, refusals: number): Promise<string> {
  let left = refusals;
  const server = createServer((incoming, response) => {
    if (left > 0) {
      left -= 1;
      incoming.resume();
      response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '1' });
      response.end('{"error":"rate_limit_exceeded","message":"Too many requests."}');
      return;
    }
    const { method, url, headers } = incoming;
    const onward = request(new URL(url ?? '/', service), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

void test('every example does what it says', async (t) => {
  const service = await startService(t, {
    ALLOW_PRIVATE_NETWORK: 'true',
    RATE_LIMIT_PRO: '100000',
    RENDER_CONCURRENCY: '2',
  });
  const client = service.client();
  const folder = t.testdir();
  const pdf = join(folder, 'out.pdf');

  /** @throws the program's output, where its status is not 0 */
  async function run(
    [command, ...args]: readonly [string, ...string[]],
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { stdout } = await promisify(execFile)(command, args, {
      cwd: EXAMPLES,
      timeout: 120_000,
      env: {
        ...process.env,
        HOME: folder,
        PRESSLEDGER_SERVER: service.url,
        PRESSLEDGER_API_KEY: service.firstStart.apiKey,
        ...env,
      },
    });
    return stdout;
  }
  const credits = async (): Promise<number> => (await client.account()).credits;

  const converters = [
    ['bash', noShell, ['./convert.sh']],
    ['Node', false, node('convert.mjs')],
    ['Python', noPython, ['python3', 'convert.py']],
    ['C#', noDotnet, ['dotnet', 'run', 'convert.cs', '--']],
  ] as const;
  for (const [language, skip, command] of converters) {
    await t.test(`HTML to PDF in ${language}`, { skip }, async (sub) => {
      await run([...command, 'requests/html.json', pdf]);
      sub.match((await openPdf(pdf)).text, 'This page was HTML a moment ago.');
      const failing = join(folder, 'failing.json');
      writeFileSync(failing, '{"html":"<p>one page</p>","page_ranges":"7"}');
      await sub.rejects(run([...command, failing, pdf]), /The page ranges \\?"7\\?" do not fit/);
    });
  }

  await t.test('a URL', { skip: noShell }, async (sub) => {
    const body = '<title>x</title><h1>From the web</h1>';
    const origin = await servePages(sub, { '/': { body } });
    await run(['./url.sh', `${origin}/`, pdf]);
    sub.match((await openPdf(pdf)).text, 'From the web');
  });

  await t.test('a page with pictures', { skip: noShell }, async (sub) => {
    await run(['./page-with-pictures.sh', 'page', pdf]);
    const { pages } = await openPdf(pdf);
    sub.match(pages[0]?.text, 'A page with pictures');
    for (const colour of ['#c0392b', '#e67e22']) sub.ok(pages[0]?.fills.has(colour), colour);
  });

  await t.test('header and footer', async (sub) => {
    await run(node('convert.mjs', 'requests/header-and-footer.json', pdf));
    const { pages } = await openPdf(pdf);
    sub.strictSame(
      pages.map(({ text }) => /Page \d of \d/.exec(text)?.[0]),
      ['Page 1 of 2', 'Page 2 of 2'],
    );
    const title = pages[1]?.items.find(({ text }) => text === 'Annual report');
    sub.ok(title && title.height > 8 && title.y > 780, 'legible, at the top');
  });

  await t.test('page ranges, size and margins', async (sub) => {
    await run(node('convert.mjs', 'requests/layout.json', pdf));
    const { pages } = await openPdf(pdf);
    sub.strictSame(
      pages.map(({ text }) => text.trim()),
      ['Two', 'Three'],
    );
    const [{ width, height, items, fills } = { width: 0, height: 0, items: [], fills: new Set() }] =
      pages;
    sub.ok(Math.abs(width - 210 * MM) < 1 && Math.abs(height - 148 * MM) < 1, 'A5, landscape');
    sub.ok(Math.abs((items[0]?.x ?? 0) - 20 * MM) < 14, 'the left margin');
    sub.ok(fills.has('#ddffff'), 'the background');
  });

  await t.test('idempotent requests', { skip: noShell }, async (sub) => {
    const before = await credits();
    const send = ['./idempotent.sh', 'order-1', 'requests/html.json'] as const;
    const first = await run(send);
    sub.match(first, /^conv_[0-9a-z]{26}\n$/);
    sub.equal(await run(send), first);
    sub.equal(await credits(), before - 1);
    await client.wait(first.trim());
  });

  await t.test('an invoice from data', async (sub) => {
    await run(node('invoice.mjs', 'invoice.json', pdf));
    const { text, info } = await openPdf(pdf);
    sub.match(text, 'Baker & Sons <Bakery>', 'data is text, never markup');
    sub.match(text, '€2,000.50');
    sub.match(text, 'page 1 of 1');
    sub.equal(info['Title'], 'Invoice 2026-0412');
  });

  await t.test('many documents', { skip: noPython }, async (sub) => {
    const [pages, pdfs] = [join(folder, 'pages'), join(folder, 'pdfs')];
    mkdirSync(pages);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) writeFileSync(join(pages, `${name}.html`), `<h1>File ${name}</h1>`);
    const before = await credits();
    const busy = await busyAtFirst(sub, service.url, 2);
    for (const _ of ['first', 'again']) {
      await run(['python3', 'many.py', pages, pdfs], { PRESSLEDGER_SERVER: busy });
      for (const name of names) {
        sub.match((await openPdf(join(pdfs, `${name}.pdf`))).text, `File ${name}`);
      }
    }
    sub.equal(await credits(), before - names.length, 'a second run costs nothing');
  });

  await t.test('failures', async (sub) => {
    const input = join(folder, 'request.json');
    const output = join(folder, 'failures.pdf');
    const told = async (body: object, env: Readonly<Record<string, string>> = {}) => {
      writeFileSync(input, JSON.stringify(body));
      return await run(node('failures.mjs', input, output), env).then(
        () => 'converted',
        (error: Error & { stderr: string }) => error.stderr,
      );
    };
    sub.match(
      await told({ html: '<p>x</p>', scale: 9, page_sise: 'A4' }),
      /page_sise: .*\n.*scale: /,
    );
    sub.match(await told({ url: 'http://127.0.0.1:1/' }), /^The page failed: /);
    const html = '<p>fine</p>';
    sub.match(await told({ html }, { PRESSLEDGER_API_KEY: 'pk_live_x' }), /^The API key is wrong/);
    sub.notOk(existsSync(output));
    const busy = await busyAtFirst(sub, service.url, 1);
    sub.equal(await told({ html }, { PRESSLEDGER_SERVER: busy }), 'converted');
    sub.match((await openPdf(output)).text, 'fine');
    const poor = await startService(sub, { FREE_CREDITS: '0' });
    const env = { PRESSLEDGER_SERVER: poor.url, PRESSLEDGER_API_KEY: poor.firstStart.apiKey };
    sub.match(await told({ html }, env), /no credits left/);
  });

  t.match(await service.stop(), { code: 0, signal: null });
});
