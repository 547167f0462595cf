/** Runs the command that the command line names, and turns failures into exit statuses. */

import { setFlagsFromString } from 'node:v8';
import { allCommands } from './commands/all.ts';
import { errorLines, isWrongUsage, parseLine, seeHelp } from './commands/cli.ts';
import { type Command, Interrupted, UsageError } from './commands/command.ts';
import { createOutput, writeFailure } from './commands/output.ts';
import { readClientConfig } from './config/client-config.ts';
import * as open from './service/for-commands.ts';

// Requests and PDFs are buffers. V8 has the whole heap collected for each 64 MiB of them, unless they count as a part of
// it: pages of a URL then take 4 % less processor time, and Node a third more memory. A later V8 may not have this option.
if (process.versions.node.startsWith('24.')) {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** The user's own umask. The service's files are for its user alone; a file made for the user follows it. */
const usersUmask = process.umask(0o077);

const REFUSED = 1;
const WRONG_USAGE = 2;
const SIGINT = 128 + 2;
const SIGPIPE = 128 + 13;
const SIGNAL_MS = 1000;

let running: Command | undefined;

async function main(args: readonly string[]): Promise<void> {
  const parsed = parseLine(args, allCommands);
  if (parsed.type === 'help') {
    for (const line of parsed.text.split('\n')) createOutput(false).line(line);
    return;
  }
  const { command, invocation, wantsJson } = parsed;
  running = command;
  const output = createOutput(wantsJson, invocation.values['header'] === true);
  const client = readClientConfig(process.env);
  try {
    await command.run(invocation, { open, output, client, outputMode: 0o666 & ~usersUmask });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message} ${seeHelp(command.name)}`);
  } finally {
    output.end();
  }
}

function tellFailure(error: unknown): void {
  for (const line of errorLines(error, running)) writeFailure(line);
  process.exitCode = isWrongUsage(error, running) ? WRONG_USAGE : REFUSED;
  if (!(error instanceof Interrupted)) return;
  process.exitCode = SIGINT;
  process.kill(process.pid, 'SIGINT');
  // The process may end a moment before the signal reaches it: a shell would then go on with its loop.
  setTimeout(() => {}, SIGNAL_MS);
}

let brokenOutput: Error | undefined;
process.stdout.on('error', (error) => {
  // A service goes on when nobody reads its lines any more.
  if (brokenOutput) return;
  brokenOutput = error;
  // The reader of the output has seen enough: the status is that of a program which the signal ends.
  if ('code' in error && error.code === 'EPIPE') {
    process.exitCode = SIGPIPE;
    return;
  }
  tellFailure(new Error('Standard output cannot be written', { cause: error }));
});
process.stderr.on('error', () => {});

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error !== brokenOutput) tellFailure(error);
}
