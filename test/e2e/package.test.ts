/** The package as its users get it: packed, installed in an empty folder, started there. */
import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'tap';
import { runCommand } from '../support/cli.ts';
import { testDirectory } from '../support/directory.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace } from '../support/place.ts';
import { Service } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');

const run = (file: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(file, args, { cwd, maxBuffer: 2 ** 26 });

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

async function pack(folder: string): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], ROOT);
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [Packed];
  return packed;
}

/** The reason why it cannot be installed here: its dependencies are neither in the cache of npm nor at a registry. */
async function obstacle(): Promise<string | false> {
  const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const asked = ['view', `koa@${dependencies['koa']}`, 'version', '--prefer-offline'];
  return await run('npm', asked, ROOT).then(
    () => false,
    () => 'no registry of npm can be reached',
  );
}

void test('what was packed starts in an empty folder and makes a PDF', {
  skip: await obstacle(),
}, async (t) => {
  const folder = testDirectory(t, { 'package.json': '{"private":true}' });
  const { filename, files } = await pack(folder);
  const paths = files.map(({ path }) => path);
  const strange = paths.filter(
    (path) =>
      !/^(bin\/pressledger|dist\/(client|projections|samples|src|verifier)\/.*\.m?js|dist\/dashboard\/(dist\/.+|src\/paths\.js)|dist\/package\.json|verifier\/[^/]+|deploy\/.*|package\.json|(README|CHANGELOG)\.md|LICENSE)$/.test(
        path,
      ),
  );
  t.strictSame(strange, [], 'no sources, tests or benchmarks');
  for (const path of ['LICENSE', 'README.md', 'deploy/pressledger.service']) {
    t.ok(paths.includes(path), path);
  }
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${filename}`];
  await run('npm', args, folder);
  t.ok((await readdir(join(folder, 'node_modules', '.bin'))).includes('pressledger'));
  const lock = await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: object };
  // What a runtime package depends on, as on `yaml`, may be among the tools of the build too.
  for (const tool of ['typescript', 'tap', 'oxlint', '@biomejs/biome', 'playwright-core']) {
    t.notOk(`node_modules/${tool}` in packages, `${tool}, which only the build needs`);
  }
  t.ok(Object.keys(packages).length < 270, 'few packages');

  const place = createPlace(t);
  const command = join(folder, 'node_modules', '.bin', 'pressledger');
  const service = new Service(place, [command, 'start']);
  t.teardown(() => service.kill());
  await service.start();
  const program = join(folder, 'node_modules/pressledger/bin/pressledger');
  t.match(
    service.output.stdout,
    ` ${program} account create-key`,
    'not by a name that npx would look for',
  );
  const client = service.client();
  const letter = '<h1>Dear Ann,</h1><p>the parts are on their way.</p><p>Yours, Bob</p>';
  const pdf = await openPdf(await client.convert({ html: letter }));
  t.match(pdf.text, /Dear Ann,[^]*the parts are on their way\.[^]*Yours, Bob/);
  const soon = '<p id=a></p><script>setTimeout(() => a.append("after a second"), 1000)</script>';
  const timed = await openPdf(await client.convert({ html: soon }));
  t.match(timed.text, /after a second/, 'the scripts for pages are there');
  const page = await fetch(service.url);
  t.match(await page.text(), /<script type="module"[^>]* src="\/assets\//, 'the dashboard');
  for (const path of ['/docs', '/docs/reference.js', '/openapi.json', '/client.tgz']) {
    t.equal((await fetch(service.url + path)).status, 200, path);
  }

  const { env } = place;
  const cli = (...words: readonly string[]) => runCommand(command, words, env);
  t.match(await cli('doctor', '--json'), { code: 0, stdout: /"ok": true/ });
  t.match(await cli('verify', '--documents', '--json'), { code: 0, stdout: /"ok": true/ });
  t.match((await cli('version')).stdout, /^pressledger \d/);
  t.match(await service.stop(), { code: 0, signal: null });
  t.notMatch(service.output.stderr, /could not be checked|"level":[456]0/, 'all of it is there');
  t.strictSame(await service.leftovers(), []);

  const old = join(place.tmpDir, 'node');
  await writeFile(old, '#!/bin/sh\necho v20.11.0\n');
  await chmod(old, 0o755);
  const refused = await runCommand(command, ['version'], {
    ...env,
    PATH: `${dirname(old)}:/usr/bin:/bin`,
  });
  t.match(refused, { code: 1, stdout: '' });
  t.match(
    refused.stderr,
    /^pressledger: Node 24 or later is needed, and node here is v20\.11\.0: /,
  );
});
