/** How qpdf is run: a program in its place tells what it was given. This file's process has a PATH of its own. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import tap, { test } from 'tap';
import { workOnPdf } from '../../../src/pdf/work.ts';
import { eventually } from '../../support/deadline.ts';
import { testDirectory } from '../../support/directory.ts';
import { pdfOf } from '../../support/written-pdf.ts';

const root = testDirectory(tap, { programs: {}, work: {} });
const programs = join(root, 'programs');
const place = { directory: join(root, 'work'), deadlineMs: 60_000 };
const told = join(root, 'told');
const work = { sources: [{ content: pdfOf(['x']) }], steps: [] };
const onLinux = { skip: process.platform !== 'linux' };
const path = process.env['PATH'] ?? '';
process.env['PRESSLEDGER_SECRET'] = 'secret';

function program(script: string): void {
  const file = join(programs, 'qpdf');
  writeFileSync(
    file,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo qpdf version 11.3.0; exit; fi\n${script}\n`,
  );
  chmodSync(file, 0o755);
}

void test('without the program the work fails, and says what is missing', async (t) => {
  process.env['PATH'] = programs;
  await t.rejects(workOnPdf(work, place), {
    fault: 'renderer_failed',
    message:
      'This renderer cannot work on PDFs: qpdf is not here: install it (Debian, Ubuntu: apt-get install qpdf). Ask the operator of the service to do so.',
  });
  program('exit 1');
  if (process.platform === 'linux') {
    await t.rejects(workOnPdf(work, place), {
      fault: 'renderer_failed',
      message: /setpriv and prlimit, which bound qpdf, are not both here/,
    });
  }
  process.env['PATH'] = [programs, path].join(delimiter);
});

void test(
  'it has bounds, no environment, no new rights and a folder of its own',
  onLinux,
  async (t) => {
    program(`
(pwd; ls -ld .; env; cat /proc/self/status /proc/self/limits) > ${told}
kill -KILL $$`);
    await t.rejects(workOnPdf(work, place), { fault: 'timeout', message: /processor time/ });
    const text = readFileSync(told, 'utf8');
    t.ok(text.startsWith(`${place.directory}/pdf-`));
    t.match(text, /^drwx------/m);
    t.notMatch(text, /secret|HOME=/);
    t.match(text, /^NoNewPrivs:\s+1$/m);
    t.match(text, /^Max address space +536870912 +536870912/m);
    t.match(text, /^Max file size +536870912 +536870912/m);
    t.match(text, /^Max cpu time +60 +60/m);
    t.match(text, /^Max core file size +0 +0/m);
    t.strictSame(readdirSync(place.directory), [], 'the folder is gone');
  },
);

void test(
  'it ends with its group at the deadline, and when nobody needs it',
  onLinux,
  async (t) => {
    const isGone = () => !existsSync(`/proc/${readFileSync(told, 'utf8').trim()}`) || undefined;
    program(`sleep 600 & echo $! > ${told}.new; mv ${told}.new ${told}; wait`);
    const deadlineMs = 3_000;
    await t.rejects(workOnPdf(work, { ...place, deadlineMs }), {
      message: /time limit/,
      fault: 'timeout',
    });
    await eventually('the child of the program ends', isGone);
    writeFileSync(told, '');
    const given = new AbortController();
    const working = workOnPdf(work, { ...place, unneeded: given.signal });
    const failed = t.rejects(working, { message: /cancelled/, fault: 'cancelled' });
    await eventually('it runs', () => readFileSync(told, 'utf8') !== '' || undefined);
    given.abort();
    await failed;
    await eventually('the child of the program ends', isGone);
    t.strictSame(readdirSync(place.directory), []);
  },
);

void test('an ending by a signal is named by what it means', async (t) => {
  for (const [signal, fault] of [
    ['XFSZ', 'too_large'],
    ['XCPU', 'timeout'],
    ['SEGV', 'too_large'],
  ] as const) {
    program(`kill -${signal} $$`);
    await t.rejects(workOnPdf(work, place), { name: 'WorkFailure', message: /./, fault }, signal);
  }
});
