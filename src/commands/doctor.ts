import type { Role } from '../config/settings.ts';
import type { Examined } from '../service/checks.ts';
import { choiceOf, type Run, textOption, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';

const ROLES: readonly Role[] = ['start', 'api', 'renderer'];

/** The longest that the end of the process waits for what a check has left open. */
const GIVE_UP_MS = 1_000;

const MARKS: Readonly<Record<Examined['verdict'], string>> = {
  ok: 'ok',
  warning: 'warning',
  wrong: 'WRONG',
};

export const doctor: Run = async (invocation, { open, output }) => {
  const role = choiceOf(textOption(invocation, 'role') ?? 'start', ROLES);
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`);
  output.waiting('Checking …');
  const checks = await open.examine(role);
  // A check that was given up may hold a connection open.
  setTimeout(() => process.exit(), GIVE_UP_MS).unref();
  const count = (verdict: Examined['verdict']): number =>
    checks.filter((each) => each.verdict === verdict).length;
  const wrong = count('wrong');
  output.json({ ok: wrong === 0, checks });
  for (const { name, verdict, text } of checks) {
    output.line(`${MARKS[verdict].padEnd(7)}  ${name}: ${text}`);
  }
  const warnings = counted(count('warning'), 'warning');
  if (wrong > 0) throw new Error(`${counted(wrong, 'check')} failed; ${warnings}.`);
  output.line(`Nothing is wrong; ${warnings}.`);
};
