/** The picture of a failed page after a backup and a restore: for clients, in an export, and on the page of its conversion. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { test } from 'tap';
import { cliJson, runCli } from '../support/cli.ts';
import { inspectPage, openBrowser, signIn } from '../support/dashboard-browser.ts';
import type { Place } from '../support/place.ts';
import { Service, startService } from '../support/service.ts';

const NAMES = { filename: 'Letter.pdf', reference: 'Order 1', tags: { kind: 'letter' } };

void test('the picture of a failure outlives a backup and a restore', {
  timeout: 240_000,
}, async (t) => {
  const before = await startService(t);
  const { apiKey, email, password } = before.firstStart;
  const client = before.client();
  const html = '<body style="background: teal"><h1>One page</h1>';
  const { id } = await client.create({ html, page_ranges: '9', ...NAMES });
  t.match(await client.wait(id), { status: 'failed', failure_code: 'page_range', ...NAMES });
  const picture = Buffer.from(await client.picture(id));
  t.equal(picture.subarray(0, 2).toString('hex'), 'ffd8', 'a JPEG');
  await before.stop();

  const { place } = before;
  const [folder, keyring] = [join(place.tmpDir, 'backup'), join(place.tmpDir, 'keyring.jsonl')];
  await cliJson(place, ['backup', folder]);
  await cliJson(place, ['backup', 'keyring', keyring]);
  t.match(await cliJson(place, ['backup', 'verify', folder]), { ok: true, documents: 2 });
  const dataDir = join(place.tmpDir, 'restored');
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(join(place.dataDir, 'master.key'), join(dataDir, 'master.key'));
  const restored: Place = { ...place, dataDir, env: { ...place.env, DATA_DIR: dataDir } };
  const done = await runCli(restored, ['restore', folder, '--keyring', keyring, '--new-origin']);
  t.equal(done.code, 0, done.stderr);

  const service = new Service(restored);
  t.teardown(() => service.kill());
  await service.start();
  t.ok(Buffer.from(await service.client(apiKey).picture(id)).equals(picture), 'to a client');
  const there = { env: { PRESSLEDGER_API_KEY: apiKey } };
  const at = ['--server', service.url];
  const file = join(place.tmpDir, 'page.jpg');
  const saved = ['conversions', 'picture', id, '-o', file, ...at];
  t.match(await runCli(restored, saved, there), {
    code: 0,
    stdout: /^The picture of the page of /,
  });
  t.ok(readFileSync(file).equals(picture), 'by a command');
  const shown = await runCli(restored, ['conversions', 'get', id, ...at], there);
  t.match(shown.stdout, /^reference\tOrder 1$/m);
  t.match(shown.stdout, /^tag\tkind: letter$/m);
  const pdf = await runCli(restored, ['conversions', 'download', id, ...at], there);
  t.match(pdf, { code: 1, stderr: /failed: / });

  const zip = join(place.tmpDir, 'export.zip');
  await cliJson(restored, ['account', 'export', email, '-o', zip]);
  const files = unzipSync(readFileSync(zip));
  t.ok(Buffer.from(files[`documents/${id}/picture.jpg`] ?? '').equals(picture), 'in an export');
  const textOf = (name: string): string => Buffer.from(files[name] ?? '').toString();
  t.match(JSON.parse(textOf('conversions.jsonl')), { id, ...NAMES });
  t.match(JSON.parse(textOf(`documents/${id}/request.json`)), { html });
  t.match(textOf('index.html'), `href="documents/${id}/picture.jpg"`);

  const { page, complaints } = await openBrowser(t, service.url);
  await signIn(page, { email, password }, `/conversions/${id}`);
  await page.getByRole('heading', { name: 'The page when it failed' }).waitFor();
  const image = page.getByAltText('The upper part of the page, as the browser showed it');
  await image.waitFor();
  await page.waitForFunction("document.querySelector('main img').naturalWidth === 800");
  t.strictSame(await inspectPage(page, 'conversion-picture'), []);
  await page.getByRole('link', { name: 'Try again in the playground' }).click();
  await page.getByText(/^This is the request of/).waitFor();
  t.strictSame(complaints, []);
});
