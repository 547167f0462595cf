/** `npm run crash` as the tests run it. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { runCommand } from '../support/cli.ts';
import { seededRandom } from '../support/random.ts';
import type { SiteName } from './plan.ts';

export const RUN = join(import.meta.dirname, 'run.ts');
const WITHIN_MS = 250_000;

/** The environment of this process, as another is given it. */
export const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  ),
);

/** Runs some rounds by a new seed; every invariant must hold. */
export async function holds(t: Test, site: SiteName, rounds: number): Promise<void> {
  const { seed } = seededRandom();
  const args = ['--site', site, '--rounds', String(rounds), '--seed', String(seed)];
  const command = [RUN, ...args];
  const result = await runCommand(process.execPath, command, ENVIRONMENT, '', undefined, WITHIN_MS);
  const { code, stdout, stderr } = result;
  t.comment(stdout);
  t.equal(code, 0, `npm run crash -- ${args.join(' ')}\n${stdout}${stderr}`);
  t.match(stdout, new RegExp(`^${rounds} rounds in 1 deployment`, 'm'));
  t.match(stdout, /^Every invariant held after every round\.$/m);
}
