/** Ctrl-C while `convert` waits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'tap';
import { runCli, runCommand } from '../support/cli.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace, LAUNCHER, type Place } from '../support/place.ts';
import { startService } from '../support/service.ts';

/** Types Ctrl-C as soon as the line is there; the signal that ended the command, and what it said. */
async function interrupted(args: readonly string[], env: Place['env'], line: string, cwd = '.') {
  const child = spawn(LAUNCHER, args, { env, cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (!stderr.includes(line) && (stderr + chunk).includes(line)) child.kill('SIGINT');
    stderr += chunk;
  });
  const [, signal] = await once(child, 'close');
  return { signal: signal as unknown, stderr };
}

/** The words of a command that a message gives to copy. */
const copied = (stderr: string): readonly string[] =>
  (/`(?:DATA_DIR=\S+ )?bin\/pressledger ([^`]+)`/.exec(stderr)?.[1] ?? '').split(' ');
const ACCEPTED = 'is accepted; waiting for';

void test('Ctrl-C while convert waits says what goes on, and how to fetch it', async (whole) => {
  const html = '<h1>It goes on</h1>';
  const slow = ['--wait-for-delay-ms', '9000'];
  await whole.test('at a service', async (t) => {
    // The commands after an interruption take long on a busy machine: the page must still be there to be cancelled.
    // Either of two pages may come first, so each has a slot.
    const more = { RENDER_TIMEOUT_MS: '300000', RENDER_CONCURRENCY: '2' };
    const service = await startService(t, more);
    const place = createPlace(t, { PRESSLEDGER_API_KEY: service.firstStart.apiKey });
    const cwd = t.testdir({
      'page.html': html,
      pages: {
        'done.html': '<p class="done">Done</p>',
        'slow.html': '<p>It waits for an element that never comes</p>',
      },
    });
    const page = ['convert', join(cwd, 'page.html'), '-o', join(cwd, 'page.pdf')];
    const there = [...page, ...slow, '--server', service.url];
    const { signal, stderr } = await interrupted(there, place.env, ACCEPTED);
    t.equal(signal, 'SIGINT', 'a loop of a shell ends, too');
    t.match(stderr, /\npressledger: Interrupted: conv_\w+ goes on at http.*, and costs its credit/);
    const fetched = await runCommand(LAUNCHER, copied(stderr), place.env, '', cwd);
    t.equal(fetched.code, 0, fetched.stderr);
    const [name = ''] = readdirSync(cwd).filter((each) => each.startsWith('conv_'));
    t.match((await openPdf(readFileSync(join(cwd, name)))).text, 'It goes on');

    const pages = join(cwd, 'pages');
    const several = ['convert', pages, '-o', join(pages, 'pdfs'), '--wait-for-selector', '.done'];
    const many = await interrupted(
      [...several, '--server', service.url],
      place.env,
      '1 of 2 pages done',
    );
    t.equal(many.signal, 'SIGINT');
    const isLeft = /Interrupted: 1 of 2 pages are in .*pdfs\. (conv_\w+) goes on at .*/;
    t.match(many.stderr, isLeft);
    const left = isLeft.exec(many.stderr);
    t.match(left?.[0], /The same command fetches what is done and converts the rest\./);
    const cancelled = await runCommand(LAUNCHER, copied(many.stderr), place.env, '', cwd);
    t.match(cancelled, { code: 0, stdout: `${left?.[1]} is cancelled.\n` });

    const silent = createServer(() => asked.kill('SIGINT')).listen(0, '127.0.0.1');
    t.teardown(() => silent.close());
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const asked = spawn(LAUNCHER, [...page, '--server', url], { env: place.env, stdio: 'pipe' });
    const [said] = await Promise.all([text(asked.stderr), once(asked, 'close')]);
    t.match(
      said,
      /Interrupted: it is not known whether .* has accepted .* conversions list --server/,
    );
    t.equal(asked.signalCode, 'SIGINT');
  });

  await whole.test('in the store of the settings', async (t) => {
    const place = createPlace(t);
    await runCli(place, ['account', 'create', 'ann@example.com']);
    const cwd = t.testdir({ 'page.html': html });
    const page = ['convert', join(cwd, 'page.html'), '-o', join(cwd, 'page.pdf')];
    const { signal, stderr } = await interrupted([...page, ...slow], place.env, ACCEPTED);
    t.equal(signal, 'SIGINT');
    t.match(
      stderr,
      /Interrupted: a service on this store, or the next 'convert' there, renders conv_/,
    );
    const evidence = copied(stderr);
    t.notOk(existsSync(join(cwd, 'page.pdf')));
    t.equal((await runCli(place, page)).code, 0);
    const written = await runCommand(LAUNCHER, evidence, place.env, '', cwd);
    t.match(written, { code: 0, stderr: '' }, 'nothing is missing in it: the next one rendered it');
  });

  await whole.test('in a temporary store, none of which is left', async (t) => {
    const place = createPlace(t);
    const { DATA_DIR: _, ...env } = place.env;
    const cwd = t.testdir({ 'page.html': html });
    const page = ['convert', 'page.html', '-o', 'page.pdf', ...slow];
    const { signal, stderr } = await interrupted(page, env, ACCEPTED, cwd);
    t.equal(signal, 'SIGINT');
    t.match(stderr, /Interrupted: nothing was converted\.\n$/);
    t.strictSame(readdirSync(place.tmpDir), []);
    t.strictSame(readdirSync(cwd), ['page.html']);
  });
});
