/** The commands of docs/audit.md, run as an auditor would run them: curl, openssl and Python. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { cliJson, runCommand } from '../support/cli.ts';
import { testDirectory } from '../support/directory.ts';
import { guideBlocks } from '../support/guide.ts';
import { lacks } from '../support/lacks.ts';
import { startService } from '../support/service.ts';

const needsPrograms = {
  skip:
    lacks('curl', ['curl', '--version']) ||
    lacks('openssl', ['openssl', 'version']) ||
    lacks('Python', ['python3', '--version']),
};

void test('the commands of the guide check what a service serves', needsPrograms, async (t) => {
  const service = await startService(t);
  const { place } = service;
  const { id } = await service.client().create({ html: '<h1>A document</h1>' });
  await service.client().wait(id);
  const proof = await service.client().proof(id);
  const directory = testDirectory(t, { 'proof.json': JSON.stringify(proof) });
  const run = (program: string, args: string[]) =>
    runCommand(program, args, { ...place.env, PRESSLEDGER_SERVER: service.url }, '', directory);

  const shell = guideBlocks('audit.md', 'sh').find((block) => block.includes('pkeyutl')) ?? '';
  const checked = await run('sh', ['-euc', shell]);
  t.match(checked.stdout, /^Signature Verified Successfully$/m, checked.stderr);
  writeFileSync(join(directory, 'text'), `${readFileSync(join(directory, 'text'), 'utf8')}x`);
  const altered = await run('sh', ['-euc', shell.split('\n').at(-2) ?? '']);
  t.not(altered.code, 0, 'an altered text is found');

  const [python = ''] = guideBlocks('audit.md', 'python');
  const proven = await run('python3', ['-c', python]);
  t.equal(proven.code, 0, proven.stderr);
  t.equal(proven.stdout.trimEnd().split('\n').length, proof.entries.length);
  t.match(proven.stdout, /ConversionCompleted is proven/);
  const [first, ...rest] = proof.entries;
  const entries = [{ ...first, event: first?.event.replace('"amount":1', '"amount":0') }, ...rest];
  writeFileSync(join(directory, 'proof.json'), JSON.stringify({ ...proof, entries }));
  t.match((await run('python3', ['-c', python])).stderr, /AssertionError: event \d+ is not proven/);
  const shown = await cliJson(place, ['proof', id]);
  t.match(shown, { origin: proof.origin, key: proof.key });
});
