/** Runs the rounds of one deployment. */
import type { Test } from 'tap';
import { errorMessage } from '../../src/errors/error-message.ts';
import { seededRandom } from '../support/random.ts';
import { checkEnd, checkRound, livesOf } from './checks.ts';
import { canInject, inject } from './faults.ts';
import { describeFault, type Plan, type PlannedFault } from './plan.ts';
import { noPeople, type Promises } from './promises.ts';
import type { DeploymentResult, RoundResult } from './results.ts';
import { Site } from './site.ts';
import { Traffic } from './traffic.ts';

/** Lines of a process's log that are shown with a failure. */
const SHOWN_LINES = 25;

type Print = (line: string) => void;

/** Runs what was handed to it, the last first. */
class Teardowns implements Pick<Test, 'teardown'> {
  readonly #all: (() => unknown)[] = [];

  teardown(end: () => unknown): void {
    this.#all.push(end);
  }

  async run(): Promise<void> {
    for (const end of this.#all.toReversed()) await end();
  }
}

async function runRound(
  site: Site,
  promises: Promises,
  { round, seed, faults }: { round: number; seed: number; faults: readonly PlannedFault[] },
): Promise<RoundResult> {
  const began = performance.now();
  const before = { requests: promises.requests, accepted: promises.conversions.length };
  const over = new AbortController();
  const traffic = new Traffic(site, promises, seededRandom(seed * 100 + round), round);
  const underWay = traffic.run(over.signal);
  const outcomes = await Promise.allSettled(faults.map((fault) => inject(site, fault)));
  over.abort();
  await underWay;
  const problems = outcomes.flatMap((outcome, n) =>
    outcome.status === 'rejected' ? [`${faults[n]?.name}: ${errorMessage(outcome.reason)}`] : [],
  );
  const injected = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value] : [],
  );
  const natsBackAt = injected.flatMap((each) => each.natsBackAt ?? []).at(0);
  const checked = await checkRound(site, promises, { round, natsBackAt });
  return {
    round,
    faults: faults.map((fault) => describeFault(fault, site.name)),
    missed: injected.filter(({ happened }) => !happened).length,
    requests: promises.requests - before.requests,
    accepted: promises.conversions.length - before.accepted,
    ...checked,
    ms: Math.round(performance.now() - began),
    problems: [...problems, ...checked.problems],
  };
}

async function showFailure(site: Site, problems: readonly string[], print: Print): Promise<void> {
  for (const problem of problems) print(`  ${problem}`);
  for (const line of await livesOf(site, problems)) print(`  ${line}`);
  for (const { name, process: node } of site.members) {
    for (const line of node.output.stderr.trimEnd().split('\n').slice(-SHOWN_LINES)) {
      print(`  ${name}: ${line.slice(0, 1500)}`);
    }
  }
}

/** A failure ends the deployment: what comes after it would be its consequence. */
export async function runDeployment(
  seed: number,
  plan: Plan,
  print: Print,
): Promise<DeploymentResult> {
  const scope = new Teardowns();
  const rounds: RoundResult[] = [];
  const problems: string[] = [];
  const events: Record<string, number> = {};
  const promises: Promises = {
    conversions: [],
    revoked: [],
    complaints: [],
    requests: 0,
    people: noPeople(),
  };
  try {
    const site = await Site.open(scope, plan.site);
    for (const [round, planned] of plan.rounds.entries()) {
      const faults = planned.filter(canInject);
      const result = await runRound(site, promises, { round, seed, faults });
      rounds.push(result);
      const { accepted, ms } = result;
      print(
        `seed ${seed}, ${plan.site}, round ${round + 1}: ${result.faults.join('; ')}: ${accepted} accepted, ${(ms / 1000).toFixed(1)} s: ${result.problems.length === 0 ? 'ok' : 'FAILED'}`,
      );
      if (result.problems.length === 0) continue;
      await showFailure(site, result.problems, print);
      break;
    }
    for (const { type } of await site.log()) events[type] = (events[type] ?? 0) + 1;
    if (rounds.every((round) => round.problems.length === 0)) {
      problems.push(...(await checkEnd(site)));
      if (problems.length > 0) await showFailure(site, problems, print);
    }
  } catch (error) {
    problems.push(errorMessage(error));
    print(`seed ${seed}, ${plan.site}: ${error instanceof Error ? error.stack : String(error)}`);
  }
  await scope.run();
  return { seed, site: plan.site, rounds, events, problems };
}
