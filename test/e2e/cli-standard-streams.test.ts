/** The command line in pipes: what it reads from standard input and writes to standard output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'tap';
import { cliJson, refuses, runCli, runCommand } from '../support/cli.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace, LAUNCHER } from '../support/place.ts';

const ANN = 'ann@example.com';

void test('convert in a pipe: from standard input to standard output', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', '--email', ANN, '--credits', '2']);
  const piped = await runCli(place, ['convert', '-', '-o', '-'], { input: '<h1>Grüße</h1>' });
  t.equal(piped.code, 0, piped.stderr);
  t.match((await openPdf(piped.bytes)).text, /Grüße/);
  t.match(piped.stderr, /^conv_\w+ is accepted.*\nconv_\w+ is on standard output: 1 page, .*\.\n$/);
  await refuses(t, place, ['convert', '-', '-o', '-'], 1, /html: Must not be blank/);
  await refuses(t, place, ['convert', '-', '-o', '-', '--json'], 2, /both want standard output/);
  const { stdout, code } = await runCli(place, ['convert', '-', '-o', '-', '--page-ranges', '9'], {
    input: '<h1>One page</h1>',
  });
  t.match({ stdout, code }, { stdout: '', code: 1 }, 'nothing of a failed conversion');
});

void test('a reader that has seen enough ends a command without a word', async (t) => {
  const place = createPlace(t);
  const child = spawn(LAUNCHER, ['--help'], { env: place.env, stdio: ['ignore', 'pipe', 'pipe'] });
  // The reader is gone before the command has anything to write.
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  t.strictSame({ code: code as number | null, stderr }, { code: 141, stderr: '' });
});

void test('what standard output cannot take is told', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', '--email', ANN]);
  for (const args of ['account list', 'account list --json', '--help', 'convert - -o -']) {
    const line = `echo '<h1>x</h1>' | "$0" ${args} > /dev/full`;
    const result = await runCommand('/bin/sh', ['-c', line, LAUNCHER], place.env);
    t.equal(result.code, 1, args);
    const told =
      /^(conv_.*\n)?pressledger: Standard output cannot be written: .*disk is full \(ENOSPC\); make room.*\n$/;
    t.match(result.stderr, told, args);
  }
});
