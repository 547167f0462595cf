/** `documents` of the command line: work on finished PDFs by a running service. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { cliJson, runCli } from '../support/cli.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace } from '../support/place.ts';
import { startService } from '../support/service.ts';
import { pdfOf } from '../support/written-pdf.ts';

const textsOf = async (path: string): Promise<readonly string[]> =>
  (await openPdf(path)).pages.map(({ text }) => text);

void test('PDFs are joined, worked on and split from the command line', async (t) => {
  const service = await startService(t);
  const { tmpDir, ...place } = createPlace(t);
  const named = {
    PRESSLEDGER_SERVER: service.url,
    PRESSLEDGER_API_KEY: service.firstStart.apiKey,
  };
  const here = { ...place, tmpDir, env: { ...place.env, ...named } };
  const file = (name: string) => join(tmpDir, name);
  writeFileSync(file('a.pdf'), pdfOf(['One', 'Two'], { title: 'First' }));
  writeFileSync(file('b.pdf'), pdfOf(['Three'], { title: 'Second' }));
  writeFileSync(file('c.pdf'), 'not one');

  const locked = ['documents', file('a.pdf'), file('b.pdf'), '-o', file('locked.pdf')];
  const steps = ['--keep-pages', '3,1-2', '--rotate', '90', '--rotate-pages', '1'];
  const facts = ['--metadata', '{"title":"All"}', '--user-password', 'p', '--reference', 'R'];
  const record = await cliJson(here, [...locked, ...steps, ...facts]);
  t.match(record, { kind: 'document', status: 'completed', reference: 'R', pages: 3 });
  await t.rejects(textsOf(file('locked.pdf')), 'its password is needed');
  const { id } = record as { id: string };

  const joined = ['documents', id, file('b.pdf'), '-o', file('joined.pdf'), '--password', 'p'];
  const done = await runCli(here, [...joined, '--optimize']);
  t.equal(done.code, 0, done.stderr);
  t.match(done.stderr, `is accepted; waiting for ${service.url}\n`);
  t.match(done.stdout, /^conv_\w+ is in .*joined\.pdf: .*kB, in \d+\.\d s\.$/m);
  const { pages, info } = await openPdf(readFileSync(file('joined.pdf')));
  t.equal(info['Title'], 'All');
  t.match(
    pages.map(({ text, width, height }) => [text, width < height]),
    [
      ['Three', true],
      ['One', false],
      ['Two', false],
      ['Three', false],
    ],
  );

  const parts = ['--part', '2-3', '--part', '9', '--part', '1'];
  const folder = file('parts');
  const cut = await runCli(here, ['documents', file('joined.pdf'), '-o', folder, ...parts]);
  t.match(cut, { code: 1, stderr: /^conv_\w+: The page range 9 is not in the document/m });
  t.match(cut.stderr, /1 of 3 parts failed\./);
  t.strictSame(readdirSync(folder).toSorted(), ['joined 1.pdf', 'joined 3.pdf']);
  t.strictSame(await textsOf(join(folder, 'joined 1.pdf')), ['One', 'Two']);
  t.strictSame(await textsOf(join(folder, 'joined 3.pdf')), ['Three']);
  const one = ['documents', '-', '-o', folder, '--part', '1', '--filename', 'Cover.pdf'];
  const input = { input: readFileSync(file('b.pdf')) };
  t.match(await cliJson(here, one, input), {
    batch: /^batch_/,
    total: 1,
    done: 1,
    failed: 0,
    conversions: [{ pages: '1', status: 'completed', file: join(folder, 'Cover 1.pdf') }],
  });

  const bad = await runCli(here, ['documents', file('a.pdf'), file('c.pdf'), '-o', file('d.pdf')]);
  t.match(bad, {
    code: 1,
    stderr: /^pressledger: Conversion conv_\w+ failed: Source 2 is not a PDF/m,
  });
  t.notOk(readdirSync(tmpDir).includes('d.pdf'), 'nothing is written');
});
