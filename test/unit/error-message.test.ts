/** Errors of the operating system, as people read them. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'tap';
import { errorLine, errorMessage } from '../../src/errors/error-message.ts';
import { testDirectory } from '../support/directory.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It threw nothing.');
}

void test('a code of the operating system is said in words, with what to do', (t) => {
  const directory = testDirectory(t);
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const missing = join(directory, 'missing');
  const temporary = `${missing}/k.294ab66fc3bd-15740-344339-9b49b5bc-e9bc-47c6-94da-108d359ed39a.tmp`;
  for (const [work, line] of [
    [() => readFileSync(missing), `${missing} is missing (ENOENT); check the path.`],
    [() => writeFileSync(temporary, ''), `${missing}/k is missing (ENOENT); check the path.`],
    [
      () => readFileSync(join(file, 'x')),
      `a part of ${file}/x is a file, not a folder (ENOTDIR); check the path.`,
    ],
    [() => readFileSync(directory), 'a file is a folder (EISDIR); name a file.'],
    [() => writeFileSync(directory, ''), `${directory} is a folder (EISDIR); name a file.`],
    [
      () => writeFileSync('/dev/full', 'x'),
      'the disk is full (ENOSPC); make room there, then repeat.',
    ],
  ] as const) {
    const error = thrownBy(work);
    t.equal(errorLine(error), line);
    t.equal(errorMessage(error), line.split(';')[0], 'as a part of a longer line');
  }
  t.equal(errorLine(new Error('Stop it.')), 'Stop it.', 'others stay as they are');
  t.end();
});

void test('a socket is not a file: its error stays as it is', async (t) => {
  const [error] = (await once(createServer().listen('/nowhere/socket'), 'error').catch(
    (failure: unknown) => [failure],
  )) as [NodeJS.ErrnoException];
  t.equal(error.code, 'EACCES');
  t.equal(errorLine(error), error.message);
});

void test('so is a file of another user', {
  ...(process.getuid?.() !== 0 && { skip: 'only root can become another user' }),
}, (t) => {
  const directory = testDirectory(t);
  const file = join(directory, 'own', 'file');
  mkdirSync(join(directory, 'own'), { mode: 0o700 });
  chmodSync(directory, 0o755);
  writeFileSync(file, '');
  const source = pathToFileURL(join(import.meta.dirname, '../../src/errors/error-message.ts')).href;
  const script = `
    const { errorLine } = await import(${JSON.stringify(source)});
    const { readFileSync } = await import('node:fs');
    process.setuid(65534);
    try { readFileSync(${JSON.stringify(file)}); } catch (error) { console.log(errorLine(error)); }`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  t.equal(
    stdout.trim(),
    `this user may not use ${file} (EACCES); run the command as the user that owns it, or give this user the rights.`,
  );
  t.end();
});
