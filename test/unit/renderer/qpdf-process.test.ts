/** How qpdf is run: a program in its place tells what it was given. This file's process has a PATH of its own. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import Database from 'better-sqlite3';
import tap, { test } from 'tap';
import { workOnPdf } from '../../../src/pdf/work.ts';
import { eventually } from '../../support/deadline.ts';
import { testDirectory } from '../../support/directory.ts';
import { noOwnMounts, OWN_MOUNTS } from '../../support/own-mounts.ts';
import { pdfOf, pdfOfObjects } from '../../support/written-pdf.ts';

const src = join(import.meta.dirname, '../../../src');
const root = testDirectory(tap, { programs: {}, work: {} });
const programs = join(root, 'programs');
const place = { directory: join(root, 'work'), deadlineMs: 60_000 };
const told = join(root, 'told');
const work = { sources: [{ content: pdfOf(['x']) }], steps: [] };
const onLinux = { skip: process.platform !== 'linux' };
const path = process.env['PATH'] ?? '';
process.env['PRESSLEDGER_SECRET'] = 'secret';
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
// Of root it runs as somebody else, who is to write there.
chmodSync(root, 0o777);

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
    t.match(text, isRoot ? /^drwx--x--x/m : /^drwx------/m);
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

void test('of root, it has neither the rights nor the files', {
  skip: !isRoot && 'only root can become another user',
}, async (t) => {
  const secret = join(root, 'hidden');
  writeFileSync(secret, 'secret', { mode: 0o600 });
  chmodSync(programs, 0o700);
  t.equal(idOf(), '0', 'as the service where others have no way to the program');
  t.match(readFileSync(told, 'utf8'), /secret/);
  chmodSync(programs, 0o755);
  t.equal(idOf(), '60999');
  const text = readFileSync(told, 'utf8');
  t.match(text, /^CapEff:\s+0+$/m);
  t.match(text, /^CapBnd:\s+0+$/m);
  t.notMatch(text, /secret/);

  /** Runs it in a process of its own, which looks for the program anew. */
  function idOf(): string {
    const script = `
        import { workOnPdf } from '${src}/pdf/work.ts';
        import { pdfOf } from '${src}/../test/support/written-pdf.ts';
        process.umask(0o077);
        const work = { sources: [{ content: pdfOf(['x']) }], steps: [] };
        const place = { directory: '${place.directory}', deadlineMs: 60_000 };
        const made = await workOnPdf(work, place).catch((error) => error);
        console.log(made.content?.length > 500 ? 'made' : made);`;
    program(
      `(id -u; cat /proc/$$/status; cat ${secret}) > ${told} 2>&1\nexec "$(PATH='${path}' command -v qpdf)" "$@"`,
    );
    rmSync(told, { force: true });
    t.equal(said([], script, [programs, path].join(delimiter)), 'made\n');
    return readFileSync(told, 'utf8').split('\n')[0] ?? '';
  }
});

void test('it gets no file and no connection that the service has open', onLinux, async (t) => {
  const file = openSync(join(root, 'open'), 'w');
  const database = new Database(join(root, 'open.db'));
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    closeSync(file);
    database.close();
    server.close();
  });
  const own = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith('socket:') || target.startsWith(root) ? [target] : [];
    } catch {
      // The one by which the folder was read.
      return [];
    }
  });
  t.ok(own.length >= 4, own.join());
  program(`ls -l /proc/$$/fd >&2; exit 1`);
  const error: unknown = await workOnPdf(work, place).catch((each: unknown) => each);
  const seen = error instanceof Error ? error.message : '';
  t.match(seen, / 2 -> /);
  t.strictSame(
    own.filter((each) => seen.includes(each)),
    [],
  );
});

void test('an ending by a signal is named by what it means', async (t) => {
  for (const [signal, fault] of [
    ['XCPU', 'timeout'],
    ['SEGV', 'too_large'],
  ] as const) {
    program(`kill -${signal} $$`);
    await t.rejects(workOnPdf(work, place), { name: 'WorkFailure', message: /./, fault }, signal);
  }
});

void test('an output that is not complete, and a run that does not start, are our failures', async (t) => {
  for (const [script, message] of [
    [':', 'qpdf ended with 0, and its output is not complete: '],
    ['head -c 100 1.pdf', 'qpdf ended with 0, and its output is not complete: '],
    ['echo wrong >&2; exit 1', 'qpdf ended with 1: wrong\n'],
    ['exit 127', 'qpdf ended with 127: '],
  ] as const) {
    program(script);
    await t.rejects(workOnPdf(work, place), { name: 'Error', message }, script);
    t.strictSame(readdirSync(place.directory), [], 'the folder is gone');
  }
});

void test('an output without end is cut off', async (t) => {
  program('exec cat /dev/zero');
  await t.rejects(workOnPdf(work, place), { name: 'WorkFailure', fault: 'too_large' });
  t.strictSame(readdirSync(place.directory), [], 'the folder is gone');
});

/** Runs TypeScript in a process of its own, with what comes before it in the command. */
function said(command: readonly string[], script: string, PATH = path): string {
  const [first, ...rest] = [...command, process.execPath, '--input-type=module-typescript'];
  const { stdout, stderr } = spawnSync(first, [...rest, '--eval', script], {
    encoding: 'utf8',
    env: { PATH },
  });
  return stdout + stderr;
}

void test('a root that may not end processes of others ends it all the same', {
  skip: !isRoot && 'only root can become another user',
}, async (t) => {
  program(`sleep 600 & echo $! > ${told}.new; mv ${told}.new ${told}; wait`);
  const file = join(root, 'one.pdf');
  writeFileSync(file, pdfOf(['x']));
  const script = `
    import { readFileSync } from 'node:fs';
    import { workOnPdf } from '${src}/pdf/work.ts';
    const work = { sources: [{ content: readFileSync('${file}') }], steps: [] };
    const place = { directory: '${place.directory}', deadlineMs: 3_000 };
    console.log(await workOnPdf(work, place).catch(({ fault }) => fault));`;
  const kept = ['setpriv', '--bounding-set=-kill', '--inh-caps=-all'];
  t.equal(said(kept, script, process.env['PATH']), 'timeout\n');
  const child = `/proc/${readFileSync(told, 'utf8').trim()}`;
  await eventually('the child of the program ends', () => !existsSync(child) || undefined);
});

void test('a full disk is not a PDF that is cut off', { skip: noOwnMounts }, (t) => {
  const disk = join(root, 'disk');
  mkdirSync(disk);
  const noise = randomBytes(200_000);
  const content = pdfOfObjects([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>',
    Buffer.concat([
      Buffer.from(`<</Length ${noise.length}>>\nstream\n`),
      noise,
      Buffer.from('\nendstream'),
    ]),
  ]);
  const file = join(root, 'noise.pdf');
  writeFileSync(file, content);
  const script = `
    import { readFileSync } from 'node:fs';
    import { workOnPdf } from '${src}/pdf/work.ts';
    const work = { sources: [{ content: readFileSync('${file}') }], steps: [] };
    const place = { directory: '${disk}', deadlineMs: 60_000 };
    console.log(await workOnPdf(work, place).then(({ content }) => content.length, ({ name, code }) => [name, code]));`;
  const on = (size: string) =>
    said(
      [...OWN_MOUNTS, 'sh', '-c', `mount -t tmpfs -o size=${size} none ${disk}; exec "$@"`, 'sh'],
      script,
    );
  t.match(on('1m'), /^20\d{4}\n$/);
  t.equal(on('300k'), "[ 'Error', 'ENOSPC' ]\n");
  t.end();
});

void test('a process without free file descriptors is told so, and goes on', onLinux, (t) => {
  const script = `
    import { openSync } from 'node:fs';
    import { QpdfRuns } from '${src}/pdf/qpdf-process.ts';
    const runs = await QpdfRuns.open({ directory: '${place.directory}', deadlineMs: 60_000 });
    const free = () => { try { return openSync('/dev/null') } catch {} };
    while (free() !== undefined);
    console.log(await runs.run({ jobFile: 'job.json', outputFile: '1.pdf' }).catch(({ code }) => code));
    await runs.close();
    console.log('it goes on');`;
  t.equal(said(['prlimit', '--nofile=64'], script), 'EMFILE\nit goes on\n');
  t.strictSame(readdirSync(place.directory), [], 'the folder is gone');
  t.end();
});
