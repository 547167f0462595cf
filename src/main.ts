/** Picks the role or command that the command line names, and turns failures into exit statuses. */
import { allCommands } from './commands/all.ts';
import { UsageError } from './commands/command.ts';
import { faultsOf } from './commands/faults.ts';
import { seeHelp } from './commands/help.ts';
import { createOutput, writeFailure } from './commands/output.ts';
import { type Asked, parseLine } from './commands/parse.ts';
import { packageVersion } from './commands/version.ts';
import { openCore } from './compose/core.ts';
import { startApiNode, startRenderer, startRendering, startService } from './compose/roles.ts';
import { readClientConfig, readConfig } from './config.ts';
import { createLogger } from './log.ts';

/** What it keeps is for its user alone; a file that it makes for the user is as that user has it. */
const usersUmask = process.umask(0o077);

const REFUSED = 1;
const WRONG_USAGE = 2;

function tellVersion(wantsJson: boolean): void {
  const version = packageVersion();
  const output = createOutput(wantsJson);
  output.json(version);
  output.line(`${version.name} ${version.version}`);
}

async function run({ command, invocation, wantsJson }: Asked & { type: 'run' }): Promise<void> {
  const output = createOutput(wantsJson);
  const config = readConfig(process.env);
  const logger = createLogger(command.role ? config.logLevel : 'warn');
  try {
    await command.run(invocation, {
      output,
      withCore: async (use) => {
        const core = await openCore(config, logger, { create: command.createsStore === true });
        try {
          await use(core);
        } finally {
          await core.close();
        }
      },
      startService: () => startService(config, logger),
      startApiNode: () => startApiNode(config, logger),
      startRenderer: () => startRenderer(config, logger),
      startRendering,
      client: readClientConfig(process.env),
      outputMode: 0o666 & ~usersUmask,
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message} ${seeHelp(command.name)}`);
  } finally {
    output.end();
  }
}

async function main(args: readonly string[]): Promise<void> {
  const asked = parseLine(args, allCommands);
  switch (asked.type) {
    case 'help':
      for (const line of asked.text.split('\n')) createOutput(false).line(line);
      return;
    case 'version':
      tellVersion(asked.wantsJson);
      return;
    case 'run':
      await run(asked);
  }
}

function tellFailure(error: unknown): void {
  for (const line of faultsOf(error)) writeFailure(line);
  process.exitCode = error instanceof UsageError ? WRONG_USAGE : REFUSED;
}

let brokenOutput: Error | undefined;
process.stdout.on('error', (error) => {
  // A service goes on when nobody reads its lines any more.
  if (brokenOutput) return;
  brokenOutput = error;
  tellFailure(new Error('Standard output cannot be written', { cause: error }));
});
process.stderr.on('error', () => {});

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error !== brokenOutput) tellFailure(error);
}
