/** The statement of a month, whole: real conversions, a month that ends, Chrome, a signature, and what the log has of it. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'tap';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace } from '../support/place.ts';
import { Service } from '../support/service.ts';
import { pdfsig, verifySignature } from '../support/signed-pdf.ts';
import { Control } from '../crash/points.ts';

/** The tenth of the month before: no end of a month is near. */
function lastMonth(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 10, 12));
}

void test('a month that is over becomes a signed PDF, which the log knows', async (t) => {
  const own = makeSigner(t);
  const place = createPlace(t, { RATE_LIMIT_PRO: '100000', CHECKPOINT_SECONDS: '1' });
  const clock = new Control(join(place.tmpDir, '..', 'control'));
  const then = lastMonth();
  clock.setClock(then.getTime() - Date.now());
  const service = new Service(place);
  t.teardown(async () => void (await service.kill()));
  await service.start(clock.env);
  const month = then.toISOString().slice(0, 7);
  const client = service.client();
  const balance = async (): Promise<number> => Number((await client.account()).credits);
  const granted = await balance();
  const good = await client.wait((await client.create({ html: '<h1>One</h1>' })).id);
  t.equal(good.status, 'completed');
  const bad = await client.create({ html: '<h1>Two</h1>', page_ranges: '9' });
  t.equal((await client.wait(bad.id)).status, 'failed');
  // A stop before it would leave it to the month after.
  await eventually('the refund', async () => (await balance()) === granted - 1 || undefined);
  t.equal(good.created_at.slice(0, 7), month, 'the clock was in that month');
  await t.rejects(client.createStatement(month), { code: 'validation_error' }, 'it is not over');

  await service.stop();
  clock.setClock(0);
  await service.start(clock.env);
  const now = service.client();
  await now.signature.set(own.p12, P12_PASSWORD);
  const before = Number((await now.account()).credits);
  const record = await now.wait((await now.createStatement(month)).id);
  t.match(record, { status: 'completed', pdf: { signature: { level: 'B-B' } } });
  t.equal(Number((await now.account()).credits), before, 'it costs nothing');
  const pdf = await buffer(await now.download(record));
  const text = (await openPdf(pdf)).text.replace(/\s+/g, ' ');
  t.match(text, `Granted +${granted} Taken −2 Given back +1 Balance at the end ${granted - 1}`);
  t.match(text, /Accepted 2 of these tests, which cost nothing 0 Completed 1/);
  t.match(text, /Failed or cancelled 1/);

  verifySignature(pdf, own.authority, own.directory);
  t.match(pdfsig(pdf, own.directory), /Signature is Valid/);
  t.match(pdfsig(pdf, own.directory), /Total document signed/);
  const sha256 = createHash('sha256').update(pdf).digest('hex');
  t.equal(sha256, record.sha256);
  const known = await now.verify(sha256);
  t.match(known, { known: true, conversion: { id: record.id } });
  const path = join(own.directory, 'statement.pdf');
  writeFileSync(path, pdf);
  t.equal((await runCli(place, ['verify-pdf', path])).code, 0);

  const saved = join(own.directory, 'again.pdf');
  const args = ['usage', 'statement', month, '-o', saved, '--json', '--server', service.url];
  const key = ['--api-key', service.firstStart.apiKey];
  const asked = await runCli(place, [...args, ...key]);
  t.equal(asked.code, 0, asked.stderr);
  const again = readFileSync(saved);
  verifySignature(again, own.authority, own.directory);
  const replacing = (await openPdf(again)).text.replace(/\s+/g, ' ');
  t.match(replacing, `Replaces ${record.id}`);
  t.match(JSON.parse(asked.stdout), {
    status: 'completed',
    sha256: createHash('sha256').update(again).digest('hex'),
  });
  const early = await runCli(place, [
    'usage',
    'statement',
    '2999-01',
    ...args.slice(3, 5),
    ...args.slice(6),
    ...key,
  ]);
  t.equal(early.code, 1);
  t.match(early.stderr, /The month is not over yet\. Ask for an earlier one\./);
});
