/** Runs the command that the command line names, and turns failures into exit statuses. */
import { allCommands } from './commands/all.ts';
import { errorLines, isWrongUsage, parseLine, seeHelp } from './commands/cli.ts';
import { type Command, Interrupted, UsageError } from './commands/command.ts';
import { OperatorApi } from './commands/operator-api.ts';
import { createOutput, writeFailure } from './commands/output.ts';
import { recordBackup } from './compose/backup-times.ts';
import {
  keyOpener,
  openBackupPlace,
  openKeyringSource,
  restorePlace,
  writeSecret,
} from './compose/backups.ts';
import { hasNoStore, openCore } from './compose/core.ts';
import { examine } from './compose/doctor.ts';
import { checkStart } from './compose/checks.ts';
import { openMove } from './compose/move.ts';
import { openOperatorAccess } from './compose/operator-access.ts';
import { openKeyringChange } from './compose/rewrap.ts';
import { watchService } from './compose/status.ts';
import { openCopyTarget, openStoredLog } from './compose/log.ts';
import { startApiNode, startRenderer, startService } from './compose/roles.ts';
import { readClientConfig } from './client-config.ts';
import { type Config, readConfig, readSettings } from './config.ts';
import { commandThere } from './copyable-command.ts';
import { environmentThere, namingOptions } from './move-settings.ts';
import { createLogger } from './log.ts';
import type { Role } from './setting.ts';
import type { Tracing } from './tracing/port.ts';
import { isTracingOn, startTracing } from './tracing/start.ts';
import { readVersion } from './version.ts';

/** The user's own umask. The service's files are for its user alone; a file made for the user follows it. */
const usersUmask = process.umask(0o077);

const REFUSED = 1;
const WRONG_USAGE = 2;
const SIGINT = 128 + 2;
const SIGPIPE = 128 + 13;
const SIGNAL_MS = 1000;

let running: Command | undefined;

/** Settings that a renderer was given and must not have: a page that breaks out of Chrome could use them. */
function misplacedSettings(config: Config, role: Role): readonly string[] {
  if (role !== 'renderer') return [];
  const secrets = [
    ['MASTER_KEY', config.masterKey, "opens every account's documents"],
    ['EVENT_STORE_URL', config.eventStoreUrl, 'lets it write to the event log'],
  ] as const;
  return secrets.flatMap(([name, value, what]) =>
    value === undefined
      ? []
      : `${name} is set, and a renderer must not have it: it ${what}. Take it out of this node's environment.`,
  );
}

/** The settings of a command other than a service, and its log of warnings. */
const settings = () => [readConfig(process.env, 'start'), createLogger('warn')] as const;

async function main(args: readonly string[]): Promise<void> {
  const parsed = parseLine(args, allCommands);
  if (parsed.type === 'help') {
    for (const line of parsed.text.split('\n')) createOutput(false).line(line);
    return;
  }
  const { command, invocation, wantsJson } = parsed;
  running = command;
  const output = createOutput(wantsJson);
  const startable = async () => {
    const role = command.role ?? 'start';
    const config = await checkStart(readSettings(process.env, role), role, createLogger('silent'));
    let tracing: Tracing | undefined;
    const logger = createLogger(
      config.logLevel,
      isTracingOn(process.env) ? () => tracing?.logFields() ?? {} : undefined,
    );
    for (const warning of misplacedSettings(config, role)) logger.warn(warning);
    tracing = await startTracing(process.env, readVersion(), role, logger);
    return [config, logger, tracing] as const;
  };
  try {
    await command.run(invocation, {
      output,
      withCore: async (use) => {
        const core = await openCore(...settings(), { create: false });
        await closing(core, () => use(core));
      },
      withOperator: async (use, { renders = false, orTemporary = false, hurry } = {}) => {
        const [config, logger] = settings();
        const isTemporary = orTemporary && hasNoStore(config);
        const access = await openOperatorAccess(config, logger, {
          create: command.createsStore === true,
          renders,
          temporary: isTemporary,
        });
        await closing({ close: () => access.close(hurry) }, () =>
          use(new OperatorApi(access.fetch, config.dataDir), isTemporary),
        );
      },
      withStoredLog: async (use, options = { documents: false }) => {
        // A log alone can be read: the settings need not suffice for a service.
        const log = await openStoredLog(readConfig(process.env), createLogger('warn'), options);
        await closing(log, () => use(log));
      },
      withEventStore: async (use) => {
        const opened = await openCopyTarget(readConfig(process.env), createLogger('warn'));
        await closing(opened, () => use(opened.store));
      },
      withStatus: async (use) => {
        const watch = await watchService(readConfig(process.env), createLogger('silent'));
        await closing(watch, () => use(() => watch.look()));
      },
      examine: (role) => examine(readSettings(process.env, role), role, createLogger('silent')),
      withMove: async (changed, options, use) => {
        const source = readConfig(process.env);
        const target = await namingOptions(Object.keys(changed), () =>
          readConfig(environmentThere(process.env, changed)),
        );
        const opened = await openMove(source, target, createLogger('warn'), {
          ...options,
          given: Object.keys(changed),
        });
        await closing(opened, () =>
          use({
            ...opened,
            commandThere: (...words) => commandThere(opened.settings, process.env, ...words),
          }),
        );
      },
      withBackupPlace: async (name, options, use) => {
        const opened = await openBackupPlace(name, readConfig(process.env), options);
        await closing(opened, () => use(opened.place));
      },
      withKeyring: async (use) => {
        const opened = await openKeyringSource(readConfig(process.env), createLogger('warn'));
        await closing(opened, () => use(opened));
      },
      keyOpener: () => keyOpener(readConfig(process.env)),
      recordBackup: (times, log) => recordBackup(readConfig(process.env).dataDir, times, log),
      withKeyringChange: async (use) => {
        const config = readConfig(process.env, 'start');
        const opened = await openKeyringChange(config, process.env, createLogger('warn'));
        await closing(opened, () => use(opened));
      },
      restorePlace: () => restorePlace(readConfig(process.env), createLogger('warn')),
      writeSecret,
      startService: async () => await startService(...(await startable())),
      startApiNode: async () => await startApiNode(...(await startable())),
      startRenderer: async () => await startRenderer(...(await startable())),
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

/** Closes what `use` works with, however it ends. */
async function closing(
  opened: { close(): Promise<void> },
  use: () => Promise<void>,
): Promise<void> {
  try {
    await use();
  } finally {
    await opened.close();
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
