/**
 * The files of ours that a request passes, with the functions in them that were called: counted by V8 in a service that is
 * one process, as `npm start` starts it, and has handled the same request before. What a walk shows was called in every
 * round, so that timers hardly count.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTemporaryDirectory } from './measure.ts';
import { startService } from './running-service.ts';

const ROOT = join(import.meta.dirname, '..');
const COVERAGE = join(import.meta.dirname, 'walks/coverage.ts');
const ROUNDS = 5;
const HTML = '<h1>Invoice 4711</h1><p>Thank you.</p>';
/** Longer than a conversion takes, with all that comes of it. Nobody asks meanwhile: that would count. */
const JOB_MS = 3_000;
/** All threads write within this time. */
const LOOK_MS = 300;

type Thread = 'main' | 'worker';
/** Path to the number of functions that were called. */
type Files = Readonly<Record<string, number>>;

/** Returns what a thread has called since the last look, and forgets it. */
function take(directory: string, thread: Thread): Files {
  const file = join(directory, `${thread}.json`);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Files;
  } catch {
    // It has called nothing.
    return {};
  } finally {
    rmSync(file, { force: true });
  }
}

/** The files that every round called, with the most functions of a round. */
function inAll(rounds: readonly Files[]): readonly (readonly [file: string, functions: number])[] {
  return Object.keys(rounds[0] ?? {})
    .filter((file) => rounds.every((round) => file in round))
    .map((file) => [relative(ROOT, file), Math.max(...rounds.map((round) => round[file] ?? 0))]);
}

function show(name: string, rounds: readonly Files[]): void {
  const files = inAll(rounds).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const functions = files.reduce((sum, [, count]) => sum + count, 0);
  process.stdout.write(`\n${name}: ${files.length} files, ${functions} functions\n`);
  for (const [file, count] of files) process.stdout.write(`  ${file} ${count}\n`);
}

await inTemporaryDirectory(async (directory) => {
  const walks = join(directory, 'walks');
  mkdirSync(walks);
  const service = await startService(directory, {
    NODE_OPTIONS: `--import=${COVERAGE}`,
    WALKS: walks,
  });
  const seen = new Map<string, Files[]>();
  let looks = 0;
  const look = async (main?: string, worker?: string): Promise<void> => {
    looks += 1;
    mkdirSync(join(walks, `look${looks}`));
    await sleep(LOOK_MS);
    for (const [name, thread] of [[main, 'main'] as const, [worker, 'worker'] as const]) {
      const files = take(walks, thread);
      if (name !== undefined) seen.set(name, [...(seen.get(name) ?? []), files]);
    }
  };
  const round = async (): Promise<void> => {
    await look();
    const { id } = await service.client.create({ html: HTML });
    await look('POST /pdf/ to 202, and the first steps of the job');
    await sleep(JOB_MS);
    await look('The job, on the main thread', "The job, in the renderer's worker");
    await service.client.get(id);
    await look('GET /conversions/{id}/');
    const headers = { 'X-API-Key': service.apiKey };
    const file = await fetch(`${service.server}/api/v1/conversions/${id}/file/`, { headers });
    await file.arrayBuffer();
    await look('GET /conversions/{id}/file/');
  };
  try {
    await round();
    seen.clear();
    for (let n = 0; n < ROUNDS; n += 1) await round();
    for (const [name, rounds] of seen) show(name, rounds);
  } finally {
    await service.stop();
  }
});
