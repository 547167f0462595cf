/** `run.ts PART [FILE…]`: runs a part of the tests, or only the files, and closes with one line that counts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { findNatsServer } from './nats-server.ts';
import { COMMANDS, filesOf, isTooLong, lostNames, PARTS } from './parts.ts';
import { closingLine, durationText, reportFiles, slowestLines } from './report.ts';

/** The test files that run at once. Many wait half of their time. */
const JOBS = Math.min(availableParallelism() + 2, 6);
const FILE_TIMEOUT_SECONDS = 600;
const SLOWEST = 20;
/** What a file that is out of time gets to say which test it was in, before it is killed. */
const LAST_WORDS_SECONDS = 20;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

/** The launcher's too: each process of a run would otherwise compile the same modules again. */
const COMPILE_CACHE = resolve('node_modules/.cache/pressledger');

/** Files that start a nats-server, by what they import. */
const NEEDS_NATS = /\/(nats-server|nodes|node-faults)\.ts'/;

const args = process.argv.slice(2);
const part = PARTS.find((name) => name === args[0]) ?? 'quick';
const given = args.filter((arg) => arg !== part);
const wanted = given.length > 0 ? given : filesOf(part);
const { tally, reportFile } = reportFiles(write);
const hasNats = findNatsServer() !== undefined;
const files = wanted.filter((file) => hasNats || !NEEDS_NATS.test(readFileSync(file, 'utf8')));
for (const file of wanted) {
  if (!files.includes(file)) tally.skipped.push(`${file}: no nats-server is installed`);
}

/**
 * Runs a file in a process of its own. Without the runner of tap, which has every process below it, the product's too, note
 * each module that it loads: that takes a fifth of the time of a command.
 */
async function runFile(file: string): Promise<void> {
  const { parser, end } = reportFile(file);
  const started = performance.now();
  const child = spawn(process.execPath, [file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...process.env,
      TAP_TIMEOUT: String(FILE_TIMEOUT_SECONDS),
    },
    timeout: (FILE_TIMEOUT_SECONDS + LAST_WORDS_SECONDS) * 1000,
    killSignal: 'SIGKILL',
  });
  child.stdout.pipe(parser);
  const [[code, signal]] = await Promise.all([once(child, 'close'), once(parser, 'complete')]);
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  end({ status: (code ?? signal) as number | string, seconds });
}

function whatRan(seconds: number): string {
  const took = durationText(seconds);
  if (given.length > 0) return `${files.length} of the given files ran, in ${took}.`;
  const others = PARTS.filter((name) => name !== part);
  const left = others.map((name) => `${COMMANDS[name]} (${filesOf(name).length} files)`);
  return `${COMMANDS[part]} ran ${files.length} files in ${took}, each once. Others are run by ${left.join(' and ')}.`;
}

const started = performance.now();
const waiting = [...files];
async function runNext(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await runFile(file);
}
await Promise.all(Array.from({ length: JOBS }, runNext));

for (const line of tally.skipped) write(`skipped ${line}`);
for (const name of lostNames()) write(`gone ${name}: take it out of test/support/parts.ts`);
for (const { name, seconds } of tally.files) {
  if (isTooLong(name, seconds)) {
    write(
      `long ${name}: if a quiet machine needs ${seconds} s too, name it in test/support/parts.ts`,
    );
  }
}
if (tally.files.length > SLOWEST) for (const line of slowestLines(tally, SLOWEST)) write(line);
const ran = tally.passed + tally.failed > 0;
if (!ran) write('FAIL no test ran');
write(whatRan((performance.now() - started) / 1000));
write(closingLine(tally));
process.exitCode = ran && tally.failed === 0 ? 0 : 1;
