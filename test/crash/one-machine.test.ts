import { test } from 'tap';
import { runCommand } from '../support/cli.ts';
import { ENVIRONMENT, holds, RUN } from './command.ts';

void test('one process: every invariant holds, whatever breaks', async (t) => {
  await holds(t, 'one process', 3);
});

void test('two processes on one store: every invariant holds, whatever breaks', async (t) => {
  await holds(t, 'two processes', 2);
});

void test('options that cannot be used', async (t) => {
  for (const [args, message] of [
    [['--rounds', 'many'], /^crash: --rounds must be a whole number, not many\.$/m],
    [['--site', 'moon'], /^crash: --site must be one of: one process, two processes, nodes/m],
    [['--sead', '1'], /^crash: Unknown option '--sead'/m],
  ] as const) {
    const { code, stderr } = await runCommand(process.execPath, [RUN, ...args], ENVIRONMENT);
    t.equal(code, 2);
    t.match(stderr, message);
  }
});
