/**
 * What commands open: each function opens something of the settings, lets `use` work with it, and closes it. Adapters are
 * loaded when a command opens them, so that one which asks a running service starts at once.
 */
import { existsSync } from 'node:fs';
import type { BackupPlace } from '../archive/places/port.ts';
import { OperatorApi } from '../commands/operator-api.ts';
import { type Config, readConfig, readSettings } from '../config/config.ts';
import { commandThere } from '../config/copyable-command.ts';
import { environmentThere, namingOptions } from '../config/move-settings.ts';
import { type Role, SETTINGS } from '../config/settings.ts';
import { readVersion } from '../config/version.ts';
import type { CopyableEventStore } from '../event-store/port.ts';
import { createLogger, type Logger } from '../observe/log.ts';
import type { BackupTimes } from '../observe/service-status.ts';
import type { Tracing } from '../observe/tracing/port.ts';
import type { OpenedKeyring } from './backups.ts';
import type { Core } from './core.ts';
import type { OpenedStoredLog } from './log.ts';
import type { MoveKind, OpenedMove } from './move.ts';
import { openOperatorAccess } from './operator-access.ts';
import type { KeyringChange } from './rewrap.ts';
import type { Watch } from './status.ts';

type Use<T> = (opened: T) => Promise<void>;

/** What has to be closed, or can be. */
interface Closable {
  close(): Promise<void>;
}

const warnings = () => createLogger('warn');

/** Closes what `use` works with, however it ends. */
async function closing<T extends Closable>(opened: T, use: Use<T>): Promise<void> {
  try {
    await use(opened);
  } finally {
    await opened.close();
  }
}

/** Opens the store of the settings, which must be there. */
export async function withCore(use: Use<Core>): Promise<void> {
  const config = readConfig(process.env, 'start');
  const { openCore } = await import('./core.ts');
  await closing(await openCore(config, warnings(), { create: false }), use);
}

/** True if the settings name no store, and there is none below the current directory either. */
function hasNoStore({ dataDir, eventStoreUrl, natsUrl, blobStoreUrl }: Config): boolean {
  const named = eventStoreUrl ?? natsUrl ?? blobStoreUrl;
  return named === undefined && dataDir === SETTINGS.dataDir.default() && !existsSync(dataDir);
}

export interface OperatorOptions {
  /** Makes an empty store where there is none, instead of refusing. */
  readonly create?: boolean;
  /** Renders here what no service renders. */
  readonly renders?: boolean;
  /** Opens an empty store that is deleted afterwards, if no store is named and none is found. */
  readonly orTemporary?: boolean;
  /** Aborted when nothing under way is to be waited for. */
  readonly hurry?: AbortSignal;
}

/** Asks the service that runs on the store of the settings, or opens that store, with an operator's rights. */
export async function withOperator(
  use: (api: OperatorApi, isTemporary: boolean) => Promise<void>,
  { create = false, renders = false, orTemporary = false, hurry }: OperatorOptions = {},
): Promise<void> {
  const config = readConfig(process.env, 'start');
  const temporary = orTemporary && hasNoStore(config);
  const access = await openOperatorAccess(config, warnings(), { create, renders, temporary });
  await closing({ close: () => access.close(hurry) }, () =>
    use(new OperatorApi((...asked) => access.fetch(...asked), config.dataDir), temporary),
  );
}

/**
 * Opens the log of the settings for reading alone: they need not suffice for a service.
 * @param options `documents`: with the blob store
 */
export async function withStoredLog(
  use: Use<OpenedStoredLog>,
  options = { documents: false },
): Promise<void> {
  const { openStoredLog } = await import('./log.ts');
  await closing(await openStoredLog(readConfig(process.env), warnings(), options), use);
}

/** Opens the event store of the settings alone, also one that no service may start on. */
export async function withEventStore(use: Use<CopyableEventStore>): Promise<void> {
  const { openCopyTarget } = await import('./log.ts');
  const opened = await openCopyTarget(readConfig(process.env), warnings());
  await closing(opened, ({ store }) => use(store));
}

/** Looks at the service of the settings, as often as it is asked to; changes nothing. */
export async function withStatus(use: Use<Watch['look']>): Promise<void> {
  const { watchService } = await import('./status.ts');
  const watch = await watchService(readConfig(process.env), createLogger('silent'));
  await closing(watch, () => use(() => watch.look()));
}

/** Checks what a process of the role needs, and the machine; changes nothing. */
export async function examine(role: Role) {
  const doctor = await import('./doctor.ts');
  return await doctor.examine(readSettings(process.env, role), role, createLogger('silent'));
}

/**
 * Opens the place of the settings and the one that a move goes to.
 * @param changed the settings that are others there, by their names; an empty one is not set
 */
export async function withMove(
  changed: Readonly<Record<string, string>>,
  kind: MoveKind,
  use: Use<OpenedMove & { readonly commandThere: (...args: readonly string[]) => string }>,
): Promise<void> {
  const given = Object.keys(changed);
  const source = readConfig(process.env);
  const target = await namingOptions(given, () =>
    readConfig(environmentThere(process.env, changed)),
  );
  const { openMove } = await import('./move.ts');
  const opened = await openMove(source, target, warnings(), { ...kind, given });
  await closing(opened, () =>
    use({
      ...opened,
      commandThere: (...words) => commandThere(opened.settings, process.env, ...words),
    }),
  );
}

/**
 * Opens a place of backups, a folder or a bucket.
 * @param options `write`: makes a folder where there is none
 */
export async function withBackupPlace(
  name: string,
  options: { readonly write: boolean },
  use: Use<BackupPlace>,
): Promise<void> {
  const { openBackupPlace } = await import('./backups.ts');
  const opened = await openBackupPlace(name, readConfig(process.env), options);
  await closing(opened, ({ place }) => use(place));
}

/** Opens the keyring of the settings for reading alone. */
export async function withKeyring(use: Use<OpenedKeyring>): Promise<void> {
  const { openKeyringSource } = await import('./backups.ts');
  await closing(await openKeyringSource(readConfig(process.env), warnings()), use);
}

/** Opens the keyring of the settings for a change of its master key, with no service on it. */
export async function withKeyringChange(use: Use<KeyringChange>): Promise<void> {
  const config = readConfig(process.env, 'start');
  const { openKeyringChange } = await import('./rewrap.ts');
  await closing(await openKeyringChange(config, process.env, warnings()), use);
}

/** The master key of the settings, if any, to look whether keys open with it. */
export async function keyOpener() {
  return (await import('./backups.ts')).keyOpener(readConfig(process.env));
}

/** The place of the settings that a restore fills. Nothing is made there before its stores are opened. */
export async function restorePlace() {
  return (await import('./backups.ts')).restorePlace(readConfig(process.env), warnings());
}

/** Puts a file in the place of another one as a whole; its owner alone may read it. */
export async function writeSecret(path: string, text: string): Promise<void> {
  await (await import('./backups.ts')).writeSecret(path, text);
}

/**
 * Records in DATA_DIR when backups were made, for `status` and metrics.
 * @param log the one that it is a backup of, by its first name
 * @throws {Error} one line: it cannot be recorded there
 */
export async function recordBackup(times: BackupTimes, log: string | undefined): Promise<void> {
  const { recordBackup: record } = await import('./backup-times.ts');
  await record(readConfig(process.env).dataDir, times, log);
}

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

/** What a role is started with. */
async function startable(role: Role) {
  const { checkStart } = await import('./checks.ts');
  const settings = readSettings(process.env, role);
  const config = await checkStart(settings, role, createLogger('silent'));
  let tracing: Tracing | undefined;
  const logger = createLogger(
    config.logLevel,
    isTracingOn(process.env) ? () => tracing?.logFields() ?? {} : undefined,
  );
  for (const warning of misplacedSettings(config, role)) logger.warn(warning);
  tracing = await startTracing(process.env, readVersion(), role, logger);
  return { roles: await import('./roles.ts'), around: [config, logger, tracing] as const };
}

/** Starts the API, the process managers and the renderer in this process. */
export async function startService() {
  const { roles, around } = await startable('start');
  return await roles.startService(...around);
}

/** Starts the API and the process managers in this process. */
export async function startApiNode() {
  const { roles, around } = await startable('api');
  return await roles.startApiNode(...around);
}

/** Starts a renderer node in this process. */
export async function startRenderer() {
  const { roles, around } = await startable('renderer');
  return await roles.startRenderer(...around);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** True where the standard variables name a place for traces and none of them turns traces off. */
export function isTracingOn(env: Environment): boolean {
  const endpoint =
    env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || '';
  const isOff =
    env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  return endpoint !== '' && !isOff;
}

/** @returns undefined where traces are off */
export async function startTracing(
  env: Environment,
  version: string,
  role: string,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!isTracingOn(env)) return undefined;
  const { startOpenTelemetry } = await import('../observe/tracing/opentelemetry.ts');
  return startOpenTelemetry(version, role, logger);
}
