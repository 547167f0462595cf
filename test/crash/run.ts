/**
 * `npm run crash -- [--rounds N] [--seed S] [--resume FILE] [--site NAME]`: breaks the real service, round by
 * round, and checks every invariant after each. The same seed has the same faults.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { errorMessage } from '../../src/errors/error-message.ts';
import { noEventStoreCommand } from '../support/event-store-process.ts';
import { needsEventStoreServer } from '../support/event-store-server.ts';
import { findNatsServer } from '../support/nats-server.ts';
import { noOwnMounts, OWN_MOUNTS } from '../support/own-mounts.ts';
import { MEMBERS, planOf, ROUNDS_A_DEPLOYMENT, type SiteName } from './plan.ts';
import { Results } from './results.ts';
import { runDeployment } from './rounds.ts';
import { hasOwnMounts } from './site.ts';
import { noStrace } from './syncs.ts';

const WRONG_USAGE = 2;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function wholeNumber(option: string, text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${option} must be a whole number, not ${text}.`);
}

function isSite(name: string): name is SiteName {
  return name in MEMBERS;
}

function optionsIn(args: readonly string[]) {
  const options = {
    rounds: { type: 'string' },
    seed: { type: 'string' },
    resume: { type: 'string' },
    site: { type: 'string' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { site } = values;
  if (site !== undefined && !isSite(site)) {
    throw new Error(`--site must be one of: ${Object.keys(MEMBERS).join(', ')}.`);
  }
  return {
    rounds: wholeNumber('rounds', values.rounds ?? String(ROUNDS_A_DEPLOYMENT)),
    seed: values.seed === undefined ? undefined : wholeNumber('seed', values.seed),
    file: values.resume,
    site,
  };
}

/** The kinds of deployment that can be had here, as often as they come in turn, and the reasons why others cannot. */
function sitesHere(): { sites: readonly SiteName[]; missing: readonly string[] } {
  const sites: SiteName[] = ['one process', 'two processes'];
  const missing: string[] = [];
  if (findNatsServer() === undefined) {
    missing.push('No nats-server is installed: no round had several nodes.');
  } else {
    sites.splice(1, 0, 'nodes');
    if (needsEventStoreServer.skip === undefined) {
      sites.push('nodes on a server');
      if (noEventStoreCommand) missing.push(`No event store was killed: ${noEventStoreCommand}.`);
    } else missing.push(`No round had an event store server: ${needsEventStoreServer.skip}.`);
    sites.push('one process');
  }
  if (!hasOwnMounts) missing.push(`No disk was full: ${noOwnMounts || 'unshare failed'}.`);
  if (noStrace !== false) missing.push(`No sync failed: ${noStrace}.`);
  return { sites, missing };
}

async function main(args: readonly string[]): Promise<number> {
  const { rounds, file, site, ...given } = optionsIn(args);
  const here = sitesHere();
  const results = Results.open(file, given.seed ?? Date.now() % 1_000_000);
  const sites = site === undefined ? here.sites : [site];
  const interrupted = new AbortController();
  const interrupt = (): void => {
    interrupted.abort();
    print('This deployment is the last.');
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  while (results.rounds < rounds && !interrupted.signal.aborted) {
    const seed = results.nextSeed;
    const plan = planOf(seed, sites);
    const count = Math.min(plan.rounds.length, rounds - results.rounds);
    const left = { ...plan, rounds: plan.rounds.slice(0, count) };
    const ran = await runDeployment(seed, left, print);
    if (ran.rounds.length === 0) throw new Error(`The deployment of seed ${seed} did not start.`);
    results.add(ran);
  }
  for (const line of [...results.summary(), ...here.missing]) print(line);
  return results.failures === 0 ? 0 : 1;
}

try {
  if (noOwnMounts === false && !hasOwnMounts) {
    // A process with mounts of its own can fill a disk that nobody else has.
    const [command, ...options] = OWN_MOUNTS;
    const self = [...options, process.execPath, import.meta.filename, ...process.argv.slice(2)];
    const env = { ...process.env, CRASH_OWN_MOUNTS: 'yes' };
    const child = spawn(command, self, { stdio: 'inherit', env });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => void child.kill(signal));
    }
    const [status] = await once(child, 'exit');
    process.exitCode = Number(status ?? 1);
  } else {
    process.exitCode = await main(process.argv.slice(2));
  }
} catch (error) {
  process.stderr.write(`crash: ${errorMessage(error)}\n`);
  process.exitCode = WRONG_USAGE;
}
