/** Picks the role or command that the command line names, and turns failures into exit statuses. */
import { accountCreate, accountList, accountPassword, accountShow } from './commands/account.ts';
import { type Command, UsageError } from './commands/command.ts';
import { convert } from './commands/convert.ts';
import { creditsGrant } from './commands/credits.ts';
import { keyCreate, keyList, keyRevoke } from './commands/key.ts';
import { manifest } from './commands/manifest.ts';
import { createOutput } from './commands/output.ts';
import { commandHelp, overallHelp, parseLine } from './commands/parse.ts';
import { planSet } from './commands/plan.ts';
import { projectionsRebuild } from './commands/projections.ts';
import { renderer } from './commands/renderer.ts';
import { api, start } from './commands/start.ts';
import { openCore } from './compose/core.ts';
import { startApiNode, startRenderer, startRendering, startService } from './compose/roles.ts';
import { readConfig } from './config.ts';
import { createLogger } from './log.ts';

const COMMANDS: readonly Command[] = [
  start,
  api,
  renderer,
  accountCreate,
  accountList,
  accountShow,
  accountPassword,
  creditsGrant,
  planSet,
  keyCreate,
  keyList,
  keyRevoke,
  convert,
  manifest,
  projectionsRebuild,
];

/** What it keeps is for its user alone; a file that it makes for the user is as that user has it. */
const usersUmask = process.umask(0o077);

const REFUSED = 1;
const WRONG_USAGE = 2;

/** The whole of a failure on one line: what went wrong, and what lay below it where that says more. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const line = cause === '' || text.includes(cause) ? text : `${text} (${cause})`;
  return line.replaceAll(/\s*\n\s*/g, ' ');
}

async function main(args: readonly string[]): Promise<void> {
  const [first] = args;
  if (first === '--help' || first === '-h' || first === 'help') {
    process.stdout.write(`${overallHelp(COMMANDS)}\n`);
    return;
  }
  const { command, invocation, wantsHelp, wantsJson } = parseLine(args, COMMANDS);
  if (wantsHelp) {
    process.stdout.write(`${commandHelp(command)}\n`);
    return;
  }
  const output = createOutput(wantsJson);
  const config = readConfig(process.env);
  const logger = createLogger(command.service ? config.logLevel : 'warn');
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
      outputMode: 0o666 & ~usersUmask,
    });
  } finally {
    output.end();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`pressledger: ${oneLine(error)}\n`);
  process.exitCode = error instanceof UsageError ? WRONG_USAGE : REFUSED;
}
