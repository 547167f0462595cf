/** `npm test [-- FILE…]`: runs the test files with tap and closes with one line that counts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { findNatsServer } from './nats-server.ts';
import { closingLine, reportTap } from './report.ts';

const MOST_JOBS = 4;
const FILE_TIMEOUT_SECONDS = 300;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

/** Files that start a nats-server, by what they import. */
const NEEDS_NATS = /\/(nats-server|nodes|node-faults)\.ts'/;

const given = process.argv.slice(2);
const wanted =
  given.length > 0
    ? given
    : globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }).toSorted();
const { parser, tally } = reportTap(write);
const hasNats = findNatsServer() !== undefined;
const files = wanted.filter((file) => hasNats || !NEEDS_NATS.test(readFileSync(file, 'utf8')));
for (const file of wanted) {
  if (!files.includes(file)) tally.skipped.push(`${file}: no nats-server is installed`);
}

if (files.length > 0) {
  const jobs = Math.min(availableParallelism(), MOST_JOBS);
  const options = ['--reporter=tap', `--jobs=${jobs}`, `--timeout=${FILE_TIMEOUT_SECONDS}`];
  const tap = spawn('node_modules/.bin/tap', ['run', ...options, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  tap.stdout.pipe(parser);
  const [[status]] = await Promise.all([once(tap, 'close'), once(parser, 'complete')]);
  if (status !== 0 && tally.failed === 0) {
    write(`FAIL tap itself ended with status ${status}`);
    tally.failed += 1;
  }
}

for (const line of tally.skipped) write(`skipped ${line}`);
const ran = tally.passed + tally.failed > 0;
if (!ran) write('FAIL no test ran');
write(closingLine(tally));
process.exitCode = ran && tally.failed === 0 ? 0 : 1;
