/** The commands about evidence, on a conversion that was really rendered. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { test } from 'tap';
import { cliJson, refuses, runCli, runCommand } from '../support/cli.ts';
import { filesOf } from '../support/evidence.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace, type Place } from '../support/place.ts';
import { startService } from '../support/service.ts';

const VERIFIER = join(import.meta.dirname, '../../verifier/verify-evidence.mjs');
const ANN = 'ann@example.com';

async function converted(place: Place) {
  const page = join(place.tmpDir, 'page.html');
  const pdf = join(place.tmpDir, 'page.pdf');
  writeFileSync(page, '<h1>Invoice 4711</h1>');
  const { id } = (await cliJson(place, ['convert', page, '-o', pdf, '--account', ANN])) as {
    id: string;
  };
  return { id, pdf };
}

void test('evidence of a conversion, verified by the command and by the file alone', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', ANN]);
  const { id, pdf } = await converted(place);
  const path = (name: string) => join(place.tmpDir, name);
  const [zip, key] = [path('evidence.zip'), path('log-key.txt')];
  const written = await cliJson(place, ['evidence', id, '-o', zip]);
  t.equal(statSync(zip).mode & 0o077, 0, 'for the owner only');
  t.match(written, { id, path: zip, bytes: readFileSync(zip).length, absent: {} });
  writeFileSync(key, (await runCli(place, ['tlog', 'key'])).stdout);

  const found = await cliJson(place, ['verify-evidence', zip, '--key', key]);
  t.match(found, {
    ok: true,
    conversion: id,
    proved: ['document.pdf', 'request.json', 'manifest.json'],
  });
  const shown = await runCli(place, [
    'verify-evidence',
    zip,
    '--key',
    readFileSync(key, 'utf8').trim(),
  ]);
  t.match(shown.stdout, /proved: the events, document\.pdf, request\.json, manifest\.json/);
  const alone = await runCommand(process.execPath, [VERIFIER, zip, '--key', key], place.env);
  t.strictSame([alone.code, alone.stdout], [0, shown.stdout]);
  const whole = await runCli(place, ['verify', '--key', key]);
  t.match([whole.code, whole.stdout], [0, /The log is whole/], 'a file of keys');

  // The report is a document like any other: our own renderer prints it.
  const report = path('report.html');
  writeFileSync(report, filesOf(readFileSync(zip)).get('report.html') ?? '');
  const printed = path('report.pdf');
  await cliJson(place, ['convert', report, '-o', printed, '--account', ANN]);
  const { text } = await openPdf(readFileSync(printed));
  t.match(text.replaceAll(/\s+/g, ' '), /What happened .*The file was stored: 1 page/);

  const compressed = path('compressed.zip');
  writeFileSync(compressed, zipSync(Object.fromEntries(filesOf(readFileSync(zip)))));
  const repacked = ['verify-evidence', compressed, '--key', key];
  await refuses(t, place, repacked, 1, /README\.txt, method of compression: expected 0, found 8/);

  const damaged = path('damaged.zip');
  const bytes = readFileSync(zip);
  bytes[2000] = (bytes[2000] ?? 0) ^ 1;
  writeFileSync(damaged, bytes);
  const refused = await runCli(place, ['verify-evidence', damaged, '--key', key, '--json']);
  t.equal(refused.code, 1);
  t.match(JSON.parse(refused.stdout), { ok: false, at: { file: 'README.txt', of: 'SHA-256' } });
  t.match(
    refused.stderr,
    /^pressledger: .*damaged\.zip does not verify: README\.txt, SHA-256: expected \w+, found \w+\n$/,
  );
  const aloneRefused = await runCommand(
    process.execPath,
    [VERIFIER, damaged, '--key', key],
    place.env,
  );
  t.strictSame([aloneRefused.code, aloneRefused.stdout], [1, '']);
  const wrong = await runCommand(process.execPath, [VERIFIER, zip], place.env);
  t.equal(wrong.code, 2);
  const mistyped = await runCommand(process.execPath, [VERIFIER, zip, '--kee', key], place.env);
  t.strictSame(
    [mistyped.code, mistyped.stderr],
    [2, 'verify-evidence: give BUNDLE.zip --key KEY [--witness KEY]...\n'],
  );
  const steering = path('steering.zip');
  writeFileSync(steering, '\u001b[2J');
  const steered = await runCommand(process.execPath, [VERIFIER, steering, '--key', key], place.env);
  t.match(
    [steered.code, steered.stderr],
    [1, /^verify-evidence: the ZIP, beginning: expected PK%03%04, found %1B\[2J\n$/],
    'a file of a stranger steers no terminal',
  );
  const cosigned = ['verify-evidence', zip, '--key', key, '--witness', key];
  await refuses(t, place, cosigned, 2, /is not a verifier key of type 4/);
  await refuses(t, place, ['evidence', 'conv_none', '-o', zip], 1, /no conversion conv_none/);

  const known = await cliJson(place, ['verify-pdf', pdf]);
  t.match(known, { known: true, conversion: { id, status: 'completed' } });
  t.match((await runCli(place, ['verify-pdf', pdf])).stdout, new RegExp(`is the PDF of ${id}`));
  t.match(await cliJson(place, ['verify-pdf', pdf, '--account', ANN]), { known: true });
  await cliJson(place, ['account', 'create', 'bob@example.com']);
  await refuses(t, place, ['verify-pdf', pdf, '--account', 'bob@example.com'], 1, /is not known/);
  const other = await runCli(place, ['verify-pdf', zip, '--json']);
  t.strictSame([other.code, JSON.parse(other.stdout)], [1, { known: false }]);
});

void test('verify-pdf asks a service, which gets the hash alone', async (t) => {
  const service = await startService(t);
  const { place, url, firstStart } = service;
  const client = service.client();
  const pdf = await client.convert({ html: '<h1>Receipt</h1>' });
  const file = join(place.tmpDir, 'receipt.pdf');
  writeFileSync(file, pdf);
  const env = { PRESSLEDGER_API_KEY: firstStart.apiKey };
  const answer = await cliJson(place, ['verify-pdf', file, '--server', url], { env });
  t.match(answer, { known: true, conversion: { status: 'completed', file_url: /^http/ } });
  t.strictSame(await client.verify('0'.repeat(64)), { known: false });
  t.match(await client.verify(pdf), { known: true });
  const both = ['verify-pdf', file, '--server', url, '--account', ANN];
  await refuses(t, place, both, 2, /--account is for the store/);
});
