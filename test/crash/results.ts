/** Results of the rounds, kept in a file so that they can be taken up again. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { counted, percentile } from '../../bench/measure.ts';

export interface RoundResult {
  readonly round: number;
  readonly faults: readonly string[];
  /** Faults that did not meet their place in time. */
  readonly missed: number;
  readonly requests: number;
  readonly accepted: number;
  readonly settledMs: number;
  readonly rendersAgainMs?: number;
  readonly ms: number;
  readonly problems: readonly string[];
}

export interface DeploymentResult {
  readonly seed: number;
  readonly site: string;
  readonly rounds: readonly RoundResult[];
  /** Events of its log by type. */
  readonly events: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const ofDeployments = (count: number): string => `${count} deployment${count === 1 ? '' : 's'}`;

export class Results {
  readonly #file: string | undefined;
  readonly #firstSeed: number;
  readonly #deployments: DeploymentResult[];

  /** @param seed where the file has none yet */
  static open(file: string | undefined, seed: number): Results {
    const text = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
    // A line that a crash cut off is run again.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (file !== undefined && whole !== text) writeFileSync(file, whole);
    const lines = whole.split('\n').filter((line) => line !== '');
    const ended = lines.map((line) => JSON.parse(line) as DeploymentResult);
    return new Results(file, ended[0]?.seed ?? seed, ended);
  }

  private constructor(file: string | undefined, seed: number, deployments: DeploymentResult[]) {
    this.#file = file;
    this.#firstSeed = seed;
    this.#deployments = deployments;
  }

  get nextSeed(): number {
    const last = this.#deployments.at(-1);
    return last === undefined ? this.#firstSeed : last.seed + 1;
  }

  get rounds(): number {
    return this.#rounds().length;
  }

  /** Deployments in which something was wrong. */
  get failures(): number {
    return this.#deployments.filter((each) => problemsOf(each).length > 0).length;
  }

  add(deployment: DeploymentResult): void {
    this.#deployments.push(deployment);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(deployment)}\n`);
  }

  summary(): readonly string[] {
    const rounds = this.#rounds();
    const events = (type: string): number =>
      sum(this.#deployments.map((each) => each.events[type] ?? 0));
    const again = rounds.flatMap(({ rendersAgainMs }) => rendersAgainMs ?? []);
    const settled = rounds.map(({ settledMs }) => settledMs);
    const perSite = this.#deployments.flatMap(({ site, rounds: own }) => own.map(() => site));
    const faults = rounds.flatMap((round) =>
      round.faults.map((fault) => fault.split(' (')[0] ?? ''),
    );
    const lines = [
      `${rounds.length} rounds in ${ofDeployments(this.#deployments.length)}, ${seconds(sum(rounds.map(({ ms }) => ms)))} in all.`,
      `Rounds: ${counted(perSite)}.`,
      `Faults: ${counted(faults)}; ${sum(rounds.map(({ missed }) => missed))} did not meet their place.`,
      `${sum(rounds.map(({ requests }) => requests))} requests, ${sum(rounds.map(({ accepted }) => accepted))} conversions promised; in the logs ${events('ConversionRequested')} requested, ${events('ConversionCompleted')} completed, ${events('ConversionFailed')} failed, ${events('CreditRefunded')} refunds, ${events('ConversionStarted')} tries, ${events('ConversionOutcomeIgnored')} outcomes ignored, ${events('CheckpointSigned')} checkpoints.`,
      `All work ended after the faults: half of the rounds within ${seconds(percentile(settled, 0.5))}, 99 % within ${seconds(percentile(settled, 0.99))}, the last within ${seconds(Math.max(0, ...settled))}.`,
    ];
    if (again.length > 0) {
      lines.push(
        `After a return of NATS the next PDF came within ${seconds(percentile(again, 0.5))} in half of ${again.length} rounds, within ${seconds(Math.max(...again))} in all.`,
      );
    }
    for (const deployment of this.#deployments) {
      const problems = problemsOf(deployment);
      if (problems.length > 0) lines.push(...failureLines(deployment, problems));
    }
    lines.push(
      this.failures === 0
        ? 'Every invariant held after every round.'
        : `FAILED: ${ofDeployments(this.failures)}.`,
    );
    return lines;
  }

  #rounds(): readonly RoundResult[] {
    return this.#deployments.flatMap(({ rounds }) => rounds);
  }
}

const problemsOf = ({ rounds, problems }: DeploymentResult): readonly string[] => [
  ...rounds.flatMap((round) => round.problems),
  ...problems,
];

function failureLines(
  { seed, site, rounds }: DeploymentResult,
  problems: readonly string[],
): readonly string[] {
  const again = `npm run crash -- --seed ${seed} --site '${site}' --rounds ${rounds.length}`;
  return [`FAIL seed ${seed}; run it again by: ${again}`, ...problems.map((each) => `  ${each}`)];
}
