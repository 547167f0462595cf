import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { testDirectory } from '../support/directory.ts';
import { planOf } from './plan.ts';
import { type DeploymentResult, Results } from './results.ts';

const deployment = (seed: number, problems: readonly string[] = []): DeploymentResult => ({
  seed,
  site: 'nodes',
  rounds: [1, 2].map((round) => ({
    round,
    faults: ['NATS is killed (after 3 ms)'],
    missed: 0,
    requests: 9,
    accepted: 3,
    settledMs: 200,
    rendersAgainMs: 1000 * round,
    ms: 4000,
    problems: [],
  })),
  events: { ConversionRequested: 6 },
  problems,
});

void test('rounds are taken up where they were left', async (t) => {
  const file = join(testDirectory(t), 'results');
  const first = Results.open(file, 7);
  t.equal(first.nextSeed, 7);
  first.add(deployment(7));
  first.add(deployment(8));
  // A crash of the run itself.
  appendFileSync(file, '{"seed": 9, "si');
  const again = Results.open(file, 1);
  t.equal(again.nextSeed, 9);
  t.equal(again.rounds, 4);
  again.add(deployment(9, ['conv_1 was lost']));
  const all = Results.open(file, 1);
  t.equal(all.rounds, 6);
  t.equal(all.failures, 1);
  const summary = all.summary().join('\n');
  t.match(summary, /^6 rounds in 3 deployments, 24\.0 s in all\.$/m);
  t.match(summary, /the next PDF came within 2\.0 s in half of 6 rounds, within 2\.0 s in all/);
  t.match(summary, /^FAIL seed 9; .*npm run crash -- --seed 9 --site 'nodes' --rounds 2$/m);
  t.match(summary, /^ {2}conv_1 was lost$/m);
  t.match(summary, /^FAILED: 1 deployment\.$/m);
});

void test('a seed has its faults, whatever else there is', async (t) => {
  const [plan, again, other] = [planOf(5, ['nodes']), planOf(5, ['nodes']), planOf(6, ['nodes'])];
  t.strictSame(plan, again);
  t.notSame(plan, other);
  t.equal(planOf(1, ['one process', 'nodes']).site, 'nodes');
  const alone = Array.from({ length: 200 }, (_, seed) => planOf(seed, ['one process']).rounds);
  const named = new Set(alone.flat(2).map(({ name }) => name));
  t.notOk(
    [...named].some((name) => name.includes('NATS')),
    'no NATS in one process',
  );
  t.ok(named.has('fsync fails') && named.has('the disk is full'));
});
