/** Environment → one validated, frozen object. The only file that reads the settings of a service. */
import { resolve } from 'node:path';
import { BOUNDS, type BoundSetting } from '../limits/bounds.ts';
import { BUDGETS, type BudgetName } from '../limits/budgets.ts';
import { suggest } from '../text/suggest.ts';
import { CLIENT_NAMES } from './client-config.ts';
import { lackingSettings } from './lacking-settings.ts';
import { API, RENDERER, type Role, type Setting, setting } from './setting.ts';
import {
  blobPlace,
  boolean,
  emailAddress,
  eventStoreUrl,
  httpUrl,
  integer,
  key32,
  logOrigin,
  natsUrl,
  oneOf,
  origin,
  origins,
  ports,
  text,
  UnusableValue,
  witnesses,
} from './setting-parsers.ts';

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One line each: the setting and what to do. */
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

export const PREFIX = 'PRESSLEDGER_';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const none = (): undefined => undefined;
const cores = (): number => navigator.hardwareConcurrency;

const rateLimit = (name: string, perMinute: number, whose: string): Setting<number, number> =>
  setting(name, integer(1, 1e9), () => perMinute, `requests a minute of an ${whose}`, API);

const BUDGET_SETTINGS = Object.fromEntries(
  Object.entries(BUDGETS).map(([key, { name, max, default: value, about, role }]) => [
    key,
    setting(name, integer(1, max), () => value, about, role === 'api' ? API : RENDERER),
  ]),
) as Readonly<Record<BudgetName, Setting<number, number>>>;

const BOUND_SETTINGS = Object.fromEntries(
  Object.entries(BOUNDS).map(([key, { name, max, default: value, about }]) => [
    key,
    setting(name, integer(0, max), () => value, about, API),
  ]),
) as Readonly<Record<BoundSetting, Setting<number, number>>>;

/**
 * Every setting: its name, how it is read, its default (`undefined` if there is none), and what help
 * says about it. An empty value counts as not set, but for `emptyCounts`.
 */
export const SETTINGS = {
  port: setting('PORT', integer(0, 65_535), () => 8080, 'the port it listens on; 0: any free one'),
  host: setting('HOST', text, () => '127.0.0.1', 'the address it listens on'),
  publicUrl: setting('PUBLIC_URL', origin, none, 'the origin that clients see', {
    ...API,
    unset: 'http://localhost:PORT, or with HOST',
  }),
  dataDir: setting(
    'DATA_DIR',
    (value) => resolve(value),
    () => resolve('data'),
    'the directory of all data',
    { unset: './data' },
  ),
  eventStoreUrl: setting(
    'EVENT_STORE_URL',
    eventStoreUrl,
    none,
    'such as kurrentdb://host:2113?tls=true',
    { ...API, unset: 'SQLite in DATA_DIR' },
  ),
  natsUrl: setting(
    'NATS_URL',
    natsUrl,
    none,
    'such as nats://host:4222; api and renderer need it',
    { unset: 'none' },
  ),
  blobStoreUrl: setting(
    'BLOB_STORE_URL',
    blobPlace,
    none,
    'file:PATH, nats: or s3://bucket?region=…',
    { unset: 'files in DATA_DIR; needed with NATS_URL' },
  ),
  awsAccessKeyId: setting('AWS_ACCESS_KEY_ID', text, none, 'for S3', { unset: 'none' }),
  awsSecretAccessKey: setting('AWS_SECRET_ACCESS_KEY', text, none, 'for S3', { unset: 'none' }),
  awsSessionToken: setting('AWS_SESSION_TOKEN', text, none, 'for S3', { unset: 'none' }),
  renderConcurrency: setting('RENDER_CONCURRENCY', integer(1, 256), cores, 'conversions at once', {
    ...RENDERER,
    unset: 'the number of cores',
  }),
  renderTimeoutMs: setting(
    'RENDER_TIMEOUT_MS',
    integer(100, 3_600_000),
    () => 30_000,
    'time limit for one document',
    RENDERER,
  ),
  maxBodyBytes: setting(
    'MAX_BODY_BYTES',
    integer(1, 2 ** 30),
    () => 10_485_760,
    'largest request body of a conversion',
    API,
  ),
  maxHtmlBytes: setting(
    'MAX_HTML_BYTES',
    integer(1, 2 ** 30),
    () => 5_242_880,
    'largest html',
    API,
  ),
  rateLimitFree: rateLimit('RATE_LIMIT_FREE', 10, 'account on plan free'),
  rateLimitStarter: rateLimit('RATE_LIMIT_STARTER', 30, 'account on plan starter'),
  rateLimitPro: rateLimit('RATE_LIMIT_PRO', 100, 'account on plan pro'),
  rateLimitAnonymous: rateLimit('RATE_LIMIT_ANONYMOUS', 30, 'address without a credential'),
  rateLimitDashboard: rateLimit('RATE_LIMIT_DASHBOARD', 300, 'account in the dashboard'),
  trustProxy: setting(
    'TRUST_PROXY',
    boolean,
    () => false,
    'true: X-Forwarded-For names the client',
    API,
  ),
  corsOrigins: setting(
    'CORS_ORIGINS',
    origins,
    () => [],
    'origins whose pages may call the API, separated by commas; *: all',
    { ...API, unset: 'none' },
  ),
  fileUrlTtlSeconds: setting(
    'FILE_URL_TTL_SECONDS',
    integer(1, 31_536_000),
    () => 3600,
    "how long a file's link is valid",
    API,
  ),
  retentionSeconds: setting(
    'RETENTION_SECONDS',
    integer(1, 3_153_600_000),
    () => 604_800,
    'how long a PDF is kept',
    API,
  ),
  chromePath: setting('CHROME_PATH', text, none, 'the Chrome to run', {
    ...RENDERER,
    unset: 'an installed one',
  }),
  allowPrivateNetwork: setting(
    'ALLOW_PRIVATE_NETWORK',
    boolean,
    () => false,
    'for development only: pages may reach every address',
  ),
  egressPorts: setting(
    'EGRESS_PORTS',
    ports,
    () => [],
    'more ports that pages may reach, separated by commas',
    { unset: 'none' },
  ),
  freeCredits: setting(
    'FREE_CREDITS',
    integer(0, 1e12),
    () => 100,
    'credits of a new account',
    API,
  ),
  firstAccountEmail: setting(
    'FIRST_ACCOUNT_EMAIL',
    emailAddress,
    () => 'admin@localhost',
    'the account that the first start opens; empty: none',
    { ...API, emptyCounts: true },
  ),
  masterKey: setting(
    'MASTER_KEY',
    key32,
    none,
    "wraps the accounts' keys: 32 bytes in hex or base64",
    { ...API, unset: 'made at the first start' },
  ),
  logOrigin: setting(
    'LOG_ORIGIN',
    logOrigin,
    none,
    "the log's name in checkpoints, such as pdf.example.com/tlog; never changed after the first",
    { ...API, unset: 'made at the first start' },
  ),
  checkpointSeconds: setting(
    'CHECKPOINT_SECONDS',
    integer(1, 86_400),
    () => 60,
    'time between two checkpoints of the log',
    API,
  ),
  witnesses: setting(
    'WITNESSES',
    witnesses,
    () => [],
    'witnesses that cosign checkpoints: KEY URL, KEY URL, …',
    { ...API, unset: 'none' },
  ),
  tsaUrl: setting('TSA_URL', httpUrl, none, 'the timestamp authority (RFC 3161) for checkpoints', {
    ...API,
    unset: 'none',
  }),
  metricsPort: setting(
    'METRICS_PORT',
    integer(0, 65_535),
    none,
    'the port that serves metrics to Prometheus; 0: any free one',
    { unset: 'no metrics' },
  ),
  metricsHost: setting('METRICS_HOST', text, none, 'the address that serves metrics', {
    unset: 'HOST',
  }),
  logLevel: setting('LOG_LEVEL', oneOf(LOG_LEVELS), () => 'info' as const, LOG_LEVELS.join(', ')),
  ...BUDGET_SETTINGS,
  ...BOUND_SETTINGS,
} as const;

type Settings = typeof SETTINGS;
export type Config = {
  readonly [K in keyof Settings]:
    | ReturnType<Settings[K]['parse']>
    | ReturnType<Settings[K]['default']>;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns names with our prefix that match no setting: a misspelt one must not pass silently. */
function unknownNames(env: Environment): readonly string[] {
  const known = [...Object.values(SETTINGS).map(({ name }) => PREFIX + name), ...CLIENT_NAMES];
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.some((each) => each === name))
    .map((name) => {
      const near = suggest(name, known);
      const guess = near === undefined ? '' : ` Did you mean ${near}?`;
      return `${name} is not a setting of Pressledger.${guess}`;
    });
}

/** @throws {ConfigError} */
function valueOf(
  { name: plainName, parse, default: defaultTo, emptyCounts = false }: Setting<unknown, unknown>,
  env: Environment,
): unknown {
  for (const name of [PREFIX + plainName, plainName]) {
    const value = env[name];
    if (value === undefined || (value === '' && !emptyCounts)) continue;
    try {
      return parse(value);
    } catch (error) {
      if (error instanceof UnusableValue) throw new ConfigError(`${name} ${error.message}`);
      throw error;
    }
  }
  return defaultTo();
}

/** The settings in the environment: the values that can be used, and what is wrong with the others. */
export interface SettingsRead {
  readonly values: Partial<Config>;
  /** The settings whose value cannot be used. */
  readonly unusable: ReadonlySet<string>;
  /** One line each: the setting and what to do. */
  readonly problems: readonly string[];
}

/**
 * Reads the settings from the environment; each may also be given with the prefix `PRESSLEDGER_`,
 * which wins.
 * @param role whose settings must suffice together, too
 */
export function readSettings(env: Environment, role?: Role): SettingsRead {
  const problems = [...unknownNames(env)];
  const values: Record<string, unknown> = {};
  const unusable = new Set<string>();
  for (const [key, each] of Object.entries(SETTINGS)) {
    try {
      values[key] = valueOf(each, env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      unusable.add(key);
    }
  }
  // One that is given and cannot be used is not missing as well.
  const isGiven = (key: keyof Config): boolean => unusable.has(key) || values[key] !== undefined;
  if (role !== undefined) {
    const { blobStoreUrl }: Partial<Config> = values;
    problems.push(...lackingSettings(blobStoreUrl, isGiven, role));
  }
  return { values, unusable, problems };
}

/** @throws {ConfigError} names every setting that cannot be used */
export function readConfig(env: Environment, role?: Role): Config {
  const { values, problems } = readSettings(env, role);
  if (problems.length > 0) throw new ConfigError(...problems);
  return Object.freeze(values) as Config;
}
