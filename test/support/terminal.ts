/** `bin/pressledger` as a user runs it on a terminal. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { LAUNCHER, type Place } from './place.ts';

const WITHIN_MS = 120_000;

const hasTerminals = spawnSync('script', ['--version']).status === 0;
/** An option of tap: why a test on a terminal does not run here. */
export const onTerminals = hasTerminals ? {} : { skip: 'there is no script of util-linux' };

/** Runs a command on a terminal, and types each answer as soon as its question is there. */
export async function onTerminal(
  place: Place,
  line: string,
  dialogue: readonly (readonly [question: string, answer: string])[] = [],
): Promise<{ readonly code: unknown; readonly screen: string }> {
  const child = spawn('script', ['-qefc', `'${LAUNCHER}' ${line}`, '/dev/null'], {
    env: { ...place.env, SHELL: '/bin/sh', TERM: 'xterm' },
    stdio: 'pipe',
    timeout: WITHIN_MS,
  });
  const left = [...dialogue];
  let screen = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const [question, answer] = left[0] ?? [];
    const at = question === undefined ? -1 : screen.indexOf(question, seen);
    if (question === undefined || at === -1) return;
    left.shift();
    seen = at + question.length;
    child.stdin.write(`${answer}\r`);
  });
  const [code] = await once(child, 'close');
  return { code, screen };
}
