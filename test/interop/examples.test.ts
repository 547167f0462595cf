/** The programs of examples/, each run as a user would run it, against a running service. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { type Test, test } from 'tap';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { lacks } from '../support/lacks.ts';
import { servePages } from '../support/pages.ts';
import { openPdf } from '../support/pdf.ts';
import { startService } from '../support/service.ts';
import { verifySignature } from '../support/signed-pdf.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const MM = 72 / 25.4;

/** The reasons why an example cannot be run on this machine, or false: for a test's `skip`. */
const noShell = lacks('jq', ['jq', '--version']) || lacks('curl', ['curl', '--version']);
const noPython = lacks('Python', ['python3', '--version']);
const dotnet = spawnSync('dotnet', ['--version'], { encoding: 'utf8' });
const noDotnet = Number.parseInt(dotnet.stdout ?? '', 10) >= 10 ? false : '.NET 10 is missing';

const checked = (tool: string) => `(valid|not checked, for ${tool} is not installed)`;

const node = (...args: readonly string[]) => [process.execPath, ...args] as const;

const square = (fill: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg"><rect width="90" height="90" fill="${fill}"/></svg>`;

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
  const credits = async (): Promise<number> => Number((await client.account()).credits);

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

  await t.test('a batch', { skip: noShell }, async (sub) => {
    const zip = join(folder, 'letters.zip');
    sub.match(await run(['./batch.sh', 'requests/batch.json', zip]), /^batch_[0-9a-z]{26}\n$/);
    const files = unzipSync(readFileSync(zip));
    sub.equal(Object.keys(files).filter((name) => name.endsWith('.pdf')).length, 2);
    const wrong = join(folder, 'wrong.json');
    writeFileSync(wrong, '{"requests":[{"html":"<p>x</p>"},{}]}');
    await sub.rejects(run(['./batch.sh', wrong, zip]), /requests\.1/);
  });

  await t.test('a receiver of webhooks', async (sub) => {
    const [own, pdfs] = [join(folder, 'receiver'), join(folder, 'received')];
    // As after `npm install --allow-remote=root …/client.tgz`.
    mkdirSync(join(own, 'node_modules/@pressledger'), { recursive: true });
    symlinkSync(join(EXAMPLES, '../client'), join(own, 'node_modules/@pressledger/client'));
    copyFileSync(join(EXAMPLES, 'receiver.mjs'), join(own, 'receiver.mjs'));
    const { secret } = await client.webhooks.rotateSecret();
    const receiver = spawn(process.execPath, [join(own, 'receiver.mjs'), '0', pdfs], {
      env: { ...process.env, WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    sub.teardown(() => receiver.kill());
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    const nextLine = async () => String((await lines.next()).value);
    const [, url = ''] = /^Listening at (\S+)$/.exec(await nextLine()) ?? [];
    const forged = await fetch(url, { method: 'POST', body: '{}' });
    sub.equal(forged.status, 401);
    const { id } = await client.create({
      html: '<h1>Told of</h1>',
      filename: 'told.pdf',
      webhook_url: url,
    });
    sub.equal(await nextLine(), `${join(pdfs, `${id}.pdf`)}: told.pdf`);
    sub.match((await openPdf(join(pdfs, `${id}.pdf`))).text, 'Told of');
  });

  await t.test('the invoice of the guide, as it is copied', { skip: noShell }, async (sub) => {
    const root = join(EXAMPLES, '..');
    const guide = readFileSync(join(root, 'docs/using-the-api.md'), 'utf8');
    const [copied] = /^curl [^`]*examples\/invoice\/[^`]*/m.exec(guide) ?? [];
    const script = String(copied)
      .replace('http://localhost:8080', service.url)
      .replace('--output invoice.pdf', '--output "$PDF"');
    await run(['bash', '-c', `cd "$ROOT" && ${script}`], { ROOT: root, PDF: pdf });
    const { text, pages } = await openPdf(pdf);
    sub.equal(pages.length, 1);
    for (const part of ['Harbour Boats', 'Invoice 2026-0412', 'Total', 'Page 1 of 1']) {
      sub.match(text, part);
    }
    const rows = Array.from(
      { length: 80 },
      (_, n) => `<tr><td>Day ${n}</td><td>€9.00</td></tr>`,
    ).join('');
    const long = join(folder, 'long-invoice');
    cpSync(join(EXAMPLES, 'invoice'), long, { recursive: true });
    const page = readFileSync(join(long, 'index.html'), 'utf8');
    writeFileSync(join(long, 'index.html'), page.replace('</tbody>', `${rows}</tbody>`));
    await run(['./page-with-pictures.sh', long, pdf]);
    const printed = await openPdf(pdf);
    sub.ok(printed.pages.length > 2);
    sub.equal(printed.text.split('Total').length, 2, 'the total is printed once');
    sub.match(printed.pages.at(-1)?.text, 'Total');
  });

  await t.test('an invoice from data', async (sub) => {
    await run(node('invoice.mjs', 'invoice.json', pdf));
    const { text, info } = await openPdf(pdf);
    sub.match(text, 'Baker & Sons <Bakery>', 'data is text, never markup');
    sub.match(text, '€2,000.50');
    sub.match(text, 'page 1 of 1');
    sub.equal(info['Title'], 'Invoice 2026-0412');
  });

  await t.test('an electronic invoice', { skip: noShell }, async (sub) => {
    const said = await run(['./e-invoice.sh', '../samples/e-invoice', pdf], {
      MUSTANG: 'not-installed',
    });
    const unsigned = 'Signature: none, for the account has no certificate';
    sub.match(said, new RegExp(`^${unsigned}\nPDF syntax \\(qpdf\\): ${checked('qpdf')}\n`));
    sub.notMatch(said, 'pdfsig');
    sub.match(said, /\nFactur-X \(Mustang\): not checked, for not-installed is not installed\n$/);
    sub.match((await openPdf(pdf)).text, 'Printing of letters');

    const signer = makeSigner(sub);
    await client.signature.set(signer.p12, P12_PASSWORD);
    const signed = await run(['./e-invoice.sh', '../samples/e-invoice', pdf], {
      MUSTANG: 'not-installed',
    });
    sub.match(
      signed,
      new RegExp(`^Signature: PAdES B-B\nPDF syntax \\(qpdf\\): ${checked('qpdf')}\n`),
    );
    sub.match(signed, new RegExp(`\nSignature \\(pdfsig\\): ${checked('pdfsig')}\n`));
    verifySignature(readFileSync(pdf), signer.authority, signer.directory);

    const programs = join(folder, 'programs');
    mkdirSync(programs);
    const doubt = '#!/bin/sh\necho "  - Signature Validation: Digest Mismatch."\n';
    writeFileSync(join(programs, 'pdfsig'), doubt, { mode: 0o755 });
    const PATH = `${programs}:${process.env['PATH']}`;
    const doubted = run(['./e-invoice.sh', '../samples/e-invoice', pdf], {
      MUSTANG: 'not-installed',
      PATH,
    });
    await sub.rejects(doubted, /Digest Mismatch[^]*Signature \(pdfsig\): not valid/);
    await client.signature.remove();
  });

  await t.test('many documents', { skip: noPython }, async (sub) => {
    const [pages, pdfs] = [join(folder, 'pages'), join(folder, 'pdfs')];
    mkdirSync(join(pages, 'my pictures'), { recursive: true });
    const put = (name: string, content: string | Buffer): void =>
      writeFileSync(join(pages, name), content);
    put('shared.css', '@import "colours.css"; div::before { content: url(red.svg) }');
    put('colours.css', 'h1 { color: #0000ff }');
    put('red.svg', square('#ff0000'));
    put('my pictures/100% grün.svg', square('#00ff00'));
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) {
      const img = name === 'a' ? '<img src="my%20pictures/100%25%20gr%C3%BCn.svg">' : '';
      put(
        `${name}.html`,
        `<link rel="stylesheet" href="shared.css?v=1"><h1>File ${name}</h1><div></div>${img}`,
      );
    }
    const before = await credits();
    const busy = await busyAtFirst(sub, service.url, 2);
    const many = ['python3', 'many.py', pages, pdfs] as const;
    for (const _ of ['first', 'again']) {
      const told = await run(many, { PRESSLEDGER_SERVER: busy });
      sub.match(told, /\n4 pages: 4 whole, 0 incomplete, 0 failed\.\n$/);
      for (const name of names) {
        const [page] = (await openPdf(join(pdfs, `${name}.pdf`))).pages;
        sub.match(page?.text, `File ${name}`);
        const colours = ['#ff0000', '#0000ff', ...(name === 'a' ? ['#00ff00'] : [])];
        for (const colour of colours) sub.ok(page?.fills.has(colour), `${name}: ${colour}`);
      }
    }
    sub.equal(await credits(), before - names.length, 'a second run costs nothing');
    put('my pictures/100% grün.svg', square('#ffff00'));
    await run(many);
    sub.ok((await openPdf(join(pdfs, 'a.pdf'))).pages[0]?.fills.has('#ffff00'), 'a new picture');
    sub.equal(await credits(), before - names.length - 1, 'is a new request, for its page alone');
  });

  await t.test('many documents, not all of them whole', { skip: noPython }, async (sub) => {
    const [pages, pdfs] = [join(folder, 'bad pages'), join(folder, 'bad pdfs')];
    mkdirSync(join(pages, 'css'), { recursive: true });
    const put = (name: string, content: string | Buffer): void =>
      writeFileSync(join(pages, name), content);
    const secret = join(folder, 'secret.svg');
    writeFileSync(secret, '<svg xmlns="http://www.w3.org/2000/svg"/>');
    symlinkSync(secret, join(pages, 'link.svg'));
    symlinkSync('loop.svg', join(pages, 'loop.svg'));
    put('.env.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
    put('css/a.css', '@import "missing.css"; @import "../../secret.css";');
    const names = ['../secret.svg', '%2e%2e/secret.svg', secret, '../../../etc/passwd', 'link.svg'];
    const others = [
      '.env.svg',
      'loop.svg',
      'a%00b.png',
      'a%5Cb.png',
      'http://[',
      'file:///etc/passwd',
    ];
    const images = [...names, ...others].map((name) => `<img src="${name}">`);
    put('outside.html', `<link rel="stylesheet" href="css/a.css"><p>outside</p>${images.join('')}`);
    put(
      'fine.html',
      '<p>fine</p><img src="data:image/svg+xml,<svg xmlns=\'http://www.w3.org/2000/svg\'/>">',
    );
    put('huge.html', '<p>huge</p><img src="huge.png">');
    put('unclosed.html', '<p>unclosed</p><style>@import "missing.css"');
    put('huge.png', '');
    truncateSync(join(pages, 'huge.png'), 2 ** 32);
    put('latin.html', Buffer.from('<p>Gr\xfc\xdfe</p>', 'latin1'));
    const told = await run(['python3', 'many.py', pages, pdfs]).then(
      () => sub.fail('it says that all is well'),
      (error: Error & { code: number; stdout: string }) => error,
    );
    sub.match(told, { code: 1 });
    const { stdout } = told as { stdout: string };
    sub.match(stdout, /^fine\.html: .*fine\.pdf\nhuge\.html: .* more than 64 MiB\.\nlatin\.html: /);
    sub.match(stdout, /^ {2}css\/missing\.css could not be loaded: No file of this name/m);
    for (const name of ['../secret.svg', '../../../etc/passwd', '../secret.css', 'link.svg']) {
      sub.match(stdout, `\n  ${name} is not sent: it lies outside of ${pages}\n`);
    }
    sub.match(stdout, '\n  .env.svg is not sent: it is hidden\n');
    sub.match(stdout, /\n5 pages: 1 whole, 2 incomplete, 2 failed\.\n$/);
    sub.match((await openPdf(join(pdfs, 'outside.pdf'))).text, 'outside');
    await sub.rejects(run(['python3', 'many.py', join(folder, 'none'), pdfs]), /no \.html file/);
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
