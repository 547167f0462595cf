/** Completion as shells do it: each shell runs its own script. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'tap';
import { allCommands } from '../../../src/commands/all.ts';
import { createOutput } from '../../../src/commands/output.ts';
import { commandContext } from '../../support/command-context.ts';

const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const needs = (shell: string) =>
  hasShell(shell) ? {} : { skip: `${shell} is not installed on this machine` };

/** The script as the command prints it, harmless characters and all. */
async function scriptFor(shell: string): Promise<string> {
  const lines: string[] = [];
  const command = allCommands.find(({ name }) => name === `completion ${shell}`);
  await command?.run(
    { values: {}, positionals: [] },
    commandContext({
      output: { ...createOutput(false), line: (text) => void lines.push(text) },
    }),
  );
  return lines.join('\n');
}

function run(shell: string, script: string, cwd?: string): readonly string[] {
  const { stdout, stderr, status } = spawnSync(shell, ['-c', script], { encoding: 'utf8', cwd });
  if (status !== 0) throw new Error(`${shell} ended with ${status}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}

const GROUPS = [
  'login',
  'conversions',
  'keys',
  'usage',
  'account',
  'completion',
  'convert',
  'keyring',
];
const ACCOUNT = allCommands
  .filter(({ name }) => name.startsWith('account '))
  .map(({ name }) => name.slice('account '.length));

void test('bash completes commands, options and values', needs('bash'), async (t) => {
  const script = await scriptFor('bash');
  const complete = (line: string): readonly string[] => {
    const words = ['pressledger', ...line.split(' ')].map((word) => `'${word}'`);
    return run(
      'bash',
      `${script}
      COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
      _pressledger
      printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
  };
  const first = complete('');
  for (const word of GROUPS) t.ok(first.includes(word), word);
  t.equal(new Set(first).size, first.length, 'each once');
  for (const word of ACCOUNT) t.ok(complete('account ').includes(word), word);
  t.strictSame(complete('acc'), ['account']);
  t.strictSame(complete('account c'), ['create', 'create-key']);
  t.strictSame(complete('account create --pl'), ['--plan']);
  t.strictSame(complete('account create a@b --plan '), ['free', 'starter', 'pro']);
  t.strictSame(complete('plan set a@b p'), ['pro']);
  t.strictSame(complete('help acc'), ['account']);
  t.strictSame(complete('help account c'), ['create', 'create-key']);
  t.strictSame(complete('conversions list --status c'), ['completed']);
  t.strictSame(complete('convert x.html --page-size A'), ['A4', 'A3', 'A5']);
  t.strictSame(complete('convert x.html -o '), [], 'the names of files are left to bash');
  t.strictSame(complete('completion '), ['bash', 'zsh', 'fish']);
});

void test('zsh takes its script and completes with it', needs('zsh'), async (t) => {
  const script = await scriptFor('zsh');
  const complete = (line: string): readonly string[] => {
    const words = ['pressledger', ...line.split(' ')].map((word) => `'${word}'`);
    // Outside of a terminal zsh has no completion system: its helpers say what they were given.
    return run(
      'zsh',
      `compdef() { : }
      ${script}
      _describe() { eval 'print -l -- "\${'\${@[-1]}'[@]}"' }
      _files() { print -- FILES }
      words=(${words.join(' ')}); CURRENT=${words.length}
      _pressledger`,
    );
  };
  const first = complete('').map((line) => line.split(':')[0]);
  for (const word of GROUPS) t.ok(first.includes(word), word);
  t.match(complete('account '), [/^create:Open an account; /, /^list:/]);
  t.match(complete('account create ').join('\n'), /^--plan:free, starter, pro \(default free\)$/m);
  t.strictSame(complete('account create a@b --plan '), ['free', 'starter', 'pro']);
  t.strictSame(complete('plan set a@b ').slice(0, 3), ['free', 'starter', 'pro']);
  t.strictSame(complete('convert x.html -o '), ['FILES']);
});

void test('fish completes commands, options and values', needs('fish'), async (t) => {
  const script = await scriptFor('fish');
  const complete = (line: string): readonly string[] =>
    run('fish', `${script}\ncomplete -C 'pressledger ${line}'`, join(import.meta.dirname)).map(
      (found) => found.split('\t')[0] ?? '',
    );
  const first = complete('');
  for (const word of GROUPS) t.ok(first.includes(word), word);
  t.strictSame(complete('account '), ACCOUNT.toSorted());
  t.strictSame(complete('account create --pl'), ['--plan']);
  t.strictSame(complete('account create a@b --plan ').toSorted(), ['free', 'pro', 'starter']);
  t.strictSame(complete('plan set a@b p'), ['pro']);
  t.strictSame(complete('help account c'), ['create', 'create-key']);
  t.ok(complete('convert x.html -o ').includes('completion.test.ts'), 'and the names of files');
  t.notOk(complete('').includes('completion.test.ts'), 'but not in place of a command');
});
