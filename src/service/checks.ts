/**
 * The checks that a start makes before it opens or makes anything. The doctor makes the same ones. Each
 * looks at one part, changes nothing, and gives back what it has opened.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withTimeout } from '../async/with-timeout.ts';
import { type Config, ConfigError, type SettingsRead } from '../config/config.ts';
import { type Role, SETTINGS } from '../config/settings.ts';
import { findMasterKey } from '../documents/keys/master-key.ts';
import { findKeyring } from '../documents/keys/records.ts';
import { errorLine } from '../errors/error-message.ts';
import type { EventStore } from '../event-store/port.ts';
import { checkAddress } from '../http/server.ts';
import type { Logger } from '../observe/log.ts';
import { openBlobFolder, openS3 } from './blobs.ts';
import { openDirectory } from './directories.ts';
import { lacksEventStore, openEventStore } from './event-store.ts';
import { findKeyRecords } from './keyring.ts';
import { whileOpen } from './open.ts';
import { openSeal } from './seal.ts';

/** The result of a check. */
export interface Finding {
  readonly verdict: 'ok' | 'warning' | 'wrong';
  /** One line: what was found and, where that is not ok, how to mend it. */
  readonly text: string;
}

/** The result of the check of that name. */
export interface Examined extends Finding {
  readonly name: string;
}

export interface Check {
  readonly name: string;
  /** The settings that it reads. It is left out while one of them cannot be used. */
  readonly reads: readonly (keyof Config)[];
  /** @throws {Error} one line: what is wrong, and how to mend it */
  readonly look: () => Promise<Finding>;
}

export const ok = (text: string): Finding => ({ verdict: 'ok', text });
export const warning = (text: string): Finding => ({ verdict: 'warning', text });

const BLOBS = ['blobStoreUrl', 'awsAccessKeyId', 'awsSecretAccessKey', 'natsUrl'] as const;

/**
 * @param config may lack settings that cannot be used
 * @param inspect looks further at an embedded log
 * @returns what a process of the role needs before it may make anything, in the order of their dependence
 */
export function checksOfStart(
  config: Config,
  role: Role,
  logger: Logger,
  inspect: Inspect = async () => {},
): readonly Check[] {
  // The log is opened once for all checks.
  let found: Promise<bigint | undefined> | undefined;
  const head = () => (found ??= lookAtLog(config, logger, inspect));
  const { blobStoreUrl: blobs, awsAccessKeyId, awsSecretAccessKey } = config;
  // The settings that an S3 server needs are missing by themselves, and told so.
  const asksBlobs = blobs?.kind !== 's3' || (awsAccessKeyId && awsSecretAccessKey);
  const asksKeys =
    role !== 'renderer' && asksBlobs && (blobs === undefined || config.masterKey !== undefined);
  const all: readonly (Check | undefined)[] = [
    check('data directory', ['dataDir'], () => dataDirectory(config)),
    check('port', ['host', 'port'], () => address(config)),
    config.metricsPort === undefined
      ? undefined
      : check('metrics port', ['metricsHost', 'metricsPort', 'host', 'port'], () =>
          metricsAddress(config),
        ),
    role === 'api' ? undefined : check('Chrome', ['chromePath', 'dataDir'], () => chrome(config)),
    config.natsUrl === undefined
      ? undefined
      : check('NATS', ['natsUrl'], () => nats(config, role, logger)),
    role === 'renderer'
      ? undefined
      : check('event store', ['eventStoreUrl', 'dataDir'], async () =>
          eventStore(config, await head()),
        ),
    asksBlobs
      ? check('blob store', [...BLOBS, 'dataDir'], () => blobStore(config, role, logger))
      : undefined,
    asksKeys
      ? check('keys', ['masterKey', 'dataDir', ...BLOBS], async () =>
          // The log's own check says where it cannot be read.
          keys(config, logger, await head().catch(() => undefined)),
        )
      : undefined,
    role === 'renderer' || (config.credits !== 'off' && config.rateLimit !== 'off')
      ? undefined
      : check('limits', ['credits', 'rateLimit'], async () => ok(limitsOff(config))),
    config.sealP12 === undefined || role === 'renderer'
      ? undefined
      : check('seal', ['sealP12', 'sealP12Password'], () => seal(config)),
  ];
  return all.filter((each) => each !== undefined);
}

/**
 * Checks before a start opens or makes anything, so that a failed start leaves nothing behind.
 * @returns the settings, which suffice
 * @throws {ConfigError} one line for each mistake that was found, in the settings and in what they name
 */
export async function checkStart(
  { values, unusable, problems }: SettingsRead,
  role: Role,
  logger: Logger,
): Promise<Config> {
  const config = Object.freeze(values) as Config;
  const looked = await makeChecks(checksOfStart(config, role, logger), unusable);
  const faults = looked.filter(({ verdict }) => verdict === 'wrong').map(({ text }) => text);
  // Several checks meet the same fault, such as a server that is away.
  const all = new Set([...problems, ...faults]);
  if (all.size > 0) throw new ConfigError(...all);
  return config;
}

/** The longest that one check may take: the start of a Chrome that hangs has 20 s of its own. */
const LOOK_MS = 30_000;

/**
 * Makes all checks at once, but for the first: what lies in a directory that cannot be used is not looked at.
 * @param unusable the settings whose value cannot be used
 */
export async function makeChecks(
  [first, ...others]: readonly Check[],
  unusable: ReadonlySet<string>,
): Promise<readonly Examined[]> {
  if (first === undefined) return [];
  const before = await make(first, unusable);
  const lost = before.verdict === 'wrong' ? new Set([...unusable, ...first.reads]) : unusable;
  return [before, ...(await Promise.all(others.map((each) => make(each, lost))))];
}

async function make(
  { name, reads, look }: Check,
  unusable: ReadonlySet<string>,
): Promise<Examined> {
  const lost = reads.filter((key) => unusable.has(key)).map((key) => SETTINGS[key].name);
  if (lost.length > 0) {
    return { name, verdict: 'warning', text: `not looked at: ${lost.join(', ')} cannot be used` };
  }
  try {
    return { name, ...(await withTimeout(LOOK_MS, look())) };
  } catch (error) {
    return { name, verdict: 'wrong', text: errorLine(error) };
  }
}

export const check = (name: string, reads: Check['reads'], look: Check['look']): Check => ({
  name,
  reads,
  look,
});

async function dataDirectory({ dataDir }: Config): Promise<Finding> {
  const isThere = openDirectory('DATA_DIR', dataDir, { create: false });
  return ok(isThere ? `${dataDir} can be used` : `${dataDir} is made at the first start`);
}

export async function metricsAddress(config: Config): Promise<Finding> {
  const {
    host: apiHost,
    port: apiPort,
    metricsPort: port = 0,
    metricsHost: host = apiHost,
  } = config;
  if (port !== 0 && port === apiPort && host === apiHost) {
    throw new Error(`METRICS_PORT is ${port}, as PORT is: set it to another.`);
  }
  const { checkMetricsAddress } = await import('../observe/metrics/server.ts');
  await checkMetricsAddress(host, port);
  return ok(port === 0 ? `any free port of ${host}` : `${host}:${port} is free`);
}

async function address({ host, port }: Config): Promise<Finding> {
  await checkAddress(host, port);
  return ok(port === 0 ? `any free port of ${host}` : `${host}:${port} is free`);
}

/** Tries a Chrome before the first start: one that does not run would leave a store behind. */
async function chrome({ chromePath, dataDir }: Config): Promise<Finding> {
  const { findInstalledChrome } = await import('../renderer/browser/find.ts');
  const { path } = await findInstalledChrome(chromePath);
  if (existsSync(join(dataDir, 'tmp'))) return ok(path);
  const { tryChrome } = await import('../renderer/trial.ts');
  await tryChrome(path);
  return ok(path);
}

const sideOf = (role: Role) => (role === 'renderer' ? 'renderer' : 'api');

async function nats(config: Config, role: Role, logger: Logger): Promise<Finding> {
  return await whileOpen(config, logger, sideOf(role), async ({ nats: link }) =>
    ok(`version ${link?.connection.info?.version}, namespace ${link?.namespace}, with JetStream`),
  );
}

type Inspect = (store: EventStore) => Promise<void>;

/**
 * The position of the log's last event; undefined where there is no log yet.
 * @param inspect looks at an embedded store, whose positions have no gaps
 */
async function lookAtLog(
  config: Config,
  logger: Logger,
  inspect: Inspect,
): Promise<bigint | undefined> {
  if (lacksEventStore(config)) return undefined;
  return await whileOpen(config, logger, undefined, async (around) => {
    // The barrier is looked for, too: an imported log that is not complete has no keyring, and misses none.
    const { store, database } = await openEventStore(around, { serve: true });
    const head = await store.head();
    if (database) await inspect(store);
    return head;
  });
}

/** Says which limits of accounts are off, in one line. */
export function limitsOff({ credits, rateLimit }: Pick<Config, 'credits' | 'rateLimit'>): string {
  const off = [
    credits === 'off' && 'conversions cost nothing (CREDITS=off)',
    rateLimit === 'off' && 'requests are not limited (RATE_LIMIT=off)',
  ];
  return off.filter((each) => each !== false).join(', ');
}

async function eventStore({ eventStoreUrl }: Config, head: bigint | undefined): Promise<Finding> {
  if (head === undefined) return ok('SQLite; it is made at the first start');
  return ok(
    `${eventStoreUrl === undefined ? 'SQLite' : 'the server'} answers, at position ${head}`,
  );
}

async function blobStore(config: Config, role: Role, logger: Logger): Promise<Finding> {
  const { blobStoreUrl: place, dataDir } = config;
  if (place === undefined) return ok(`files in ${dataDir}`);
  if (place.kind === 'folder') {
    openBlobFolder(place.path, sideOf(role), { create: false });
    return ok(`files in ${place.path}`);
  }
  // The connection to NATS is looked at by itself. Its buckets are made by the first start.
  if (place.kind === 'nats') return ok('the object store of NATS');
  return await whileOpen(config, logger, undefined, async (around) => {
    await (await openS3(around, place.url, 'blobs/')).checkUsable();
    return ok('the bucket answers');
  });
}

/** @param head of the log: beside events a keyring that is missing is a lost one */
async function keys(config: Config, logger: Logger, head: bigint | undefined): Promise<Finding> {
  const { masterKey, blobStoreUrl, dataDir } = config;
  return await whileOpen(config, logger, 'documents', async (around) => {
    const { records, missing } = await findKeyRecords(around, {});
    let isThere = records !== undefined;
    if (blobStoreUrl === undefined) findMasterKey(dataDir, masterKey);
    else if (records && masterKey) isThere = await findKeyring(records, masterKey);
    if (isThere) return ok('the keyring is there, and the master key fits');
    if (head !== undefined && head > 0n) throw new Error(missing);
    return ok('made at the first start');
  });
}

const DAY_MS = 86_400_000;
/** A certificate takes days to be had. */
const SOON_DAYS = 30;

async function seal(config: Config): Promise<Finding> {
  const identity = await openSeal(config);
  if (identity === undefined) return ok('there is none');
  const days = Math.floor((identity.notAfter - Date.now()) / DAY_MS);
  const end = new Date(identity.notAfter).toISOString().slice(0, 10);
  const text = `${identity.subject}, valid until ${end}`;
  if (days >= SOON_DAYS) return ok(text);
  const left =
    days < 0 ? 'it has expired: requests that it is to sign are refused' : `in ${days} days`;
  return warning(`${text}: ${left}. Put another file in the place of SEAL_P12.`);
}
