/** Environment → one validated, frozen object. The only file that reads settings. */
import { resolve } from 'node:path';
import { BUDGETS, type BudgetName } from './budgets.ts';
import { isEmailAddress } from './domain/email.ts';
import { nearest } from './nearest.ts';

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One line each: the setting and what to do. */
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const PREFIX = 'PRESSLEDGER_';

/** Read by the command line when it is a client of a service; a service ignores them. */
const CLIENT_SERVER = 'PRESSLEDGER_SERVER';
const CLIENT_KEYS = ['PRESSLEDGER_API_KEY', 'PRESSLEDGER_KEY'] as const;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

type Parse<T> = (value: string, name: string) => T;

function refuse(name: string, value: string, wanted: string): never {
  throw new ConfigError(`${name} must be ${wanted}; it is ${JSON.stringify(value)}.`);
}

function integer(min: number, max: number): Parse<number> {
  return (value, name) => {
    const number = Number(value);
    if (!/^[0-9]+$/.test(value) || number < min || number > max) {
      refuse(name, value, `a whole number from ${min} to ${max}`);
    }
    return number;
  };
}

const boolean: Parse<boolean> = (value, name) => {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  return refuse(name, value, 'true or false');
};

const text: Parse<string> = (value) => value;

function oneOf<const T extends string>(values: readonly T[]): Parse<T> {
  return (value, name) =>
    values.find((each) => each === value) ?? refuse(name, value, `one of ${values.join(', ')}`);
}

/** An http(s) origin, without a path, so that paths can be appended to it. */
const origin: Parse<string> = (value, name) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain =
    url !== undefined &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  return plain
    ? url.origin
    : refuse(name, value, 'an http or https origin such as https://pdf.example.com');
};

const ports: Parse<readonly number[]> = (value, name) =>
  value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => integer(1, 65_535)(each, name));

const key32: Parse<Buffer> = (value, name) => {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
  // Node skips what is not base64, so a pass phrase could pass for a key.
  if (/^[\w+/-]{43}=?$/.test(value)) return Buffer.from(value, 'base64');
  throw new ConfigError(`${name} must be 32 bytes, as 64 hex digits or in base64.`);
};

const emailAddress: Parse<string> = (value, name) =>
  value === '' || isEmailAddress(value)
    ? value
    : refuse(name, value, 'an email address, or empty for none');

const cores = (): number => navigator.hardwareConcurrency;

interface NumberSetting {
  readonly name: string;
  readonly parse: Parse<number>;
  readonly default: () => number;
}

const BUDGET_SETTINGS = Object.fromEntries(
  Object.entries(BUDGETS).map(([key, { name, max, default: value }]) => [
    key,
    { name, parse: integer(1, max), default: () => value },
  ]),
) as Readonly<Record<BudgetName, NumberSetting>>;

/**
 * Every setting, with a line of help in `setting-help.ts`: its name, how it is read, and its default. An absent default is `undefined`.
 * An empty value counts as not set, except where `emptyCounts` says that it means something.
 */
export const SETTINGS = {
  port: { name: 'PORT', parse: integer(0, 65_535), default: () => 8080 },
  host: { name: 'HOST', parse: text, default: () => '127.0.0.1' },
  publicUrl: { name: 'PUBLIC_URL', parse: origin, default: () => undefined },
  dataDir: { name: 'DATA_DIR', parse: (v: string) => resolve(v), default: () => resolve('data') },
  eventStoreUrl: { name: 'EVENT_STORE_URL', parse: text, default: () => undefined },
  natsUrl: { name: 'NATS_URL', parse: text, default: () => undefined },
  blobStoreUrl: { name: 'BLOB_STORE_URL', parse: text, default: () => undefined },
  awsAccessKeyId: { name: 'AWS_ACCESS_KEY_ID', parse: text, default: () => undefined },
  awsSecretAccessKey: { name: 'AWS_SECRET_ACCESS_KEY', parse: text, default: () => undefined },
  awsSessionToken: { name: 'AWS_SESSION_TOKEN', parse: text, default: () => undefined },
  renderConcurrency: { name: 'RENDER_CONCURRENCY', parse: integer(1, 256), default: cores },
  renderTimeoutMs: {
    name: 'RENDER_TIMEOUT_MS',
    parse: integer(100, 3_600_000),
    default: () => 30_000,
  },
  maxBodyBytes: { name: 'MAX_BODY_BYTES', parse: integer(1, 2 ** 30), default: () => 10_485_760 },
  maxHtmlBytes: { name: 'MAX_HTML_BYTES', parse: integer(1, 2 ** 30), default: () => 5_242_880 },
  rateLimitFree: { name: 'RATE_LIMIT_FREE', parse: integer(1, 1e9), default: () => 10 },
  rateLimitStarter: { name: 'RATE_LIMIT_STARTER', parse: integer(1, 1e9), default: () => 30 },
  rateLimitPro: { name: 'RATE_LIMIT_PRO', parse: integer(1, 1e9), default: () => 100 },
  rateLimitAnonymous: { name: 'RATE_LIMIT_ANONYMOUS', parse: integer(1, 1e9), default: () => 30 },
  trustProxy: { name: 'TRUST_PROXY', parse: boolean, default: () => false },
  fileUrlTtlSeconds: {
    name: 'FILE_URL_TTL_SECONDS',
    parse: integer(1, 31_536_000),
    default: () => 3600,
  },
  retentionSeconds: {
    name: 'RETENTION_SECONDS',
    parse: integer(1, 3_153_600_000),
    default: () => 604_800,
  },
  chromePath: { name: 'CHROME_PATH', parse: text, default: () => undefined },
  allowPrivateNetwork: { name: 'ALLOW_PRIVATE_NETWORK', parse: boolean, default: () => false },
  egressPorts: { name: 'EGRESS_PORTS', parse: ports, default: () => [] },
  freeCredits: { name: 'FREE_CREDITS', parse: integer(0, 1e12), default: () => 100 },
  firstAccountEmail: {
    name: 'FIRST_ACCOUNT_EMAIL',
    parse: emailAddress,
    default: () => 'admin@localhost',
    emptyCounts: true,
  },
  masterKey: { name: 'MASTER_KEY', parse: key32, default: () => undefined },
  logLevel: { name: 'LOG_LEVEL', parse: oneOf(LOG_LEVELS), default: () => 'info' as const },
  ...BUDGET_SETTINGS,
} as const;

type Settings = typeof SETTINGS;
export type Config = {
  readonly [K in keyof Settings]:
    | ReturnType<Settings[K]['parse']>
    | ReturnType<Settings[K]['default']>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Each name with the prefix that is nobody's: a misspelt setting must not pass silently. */
function unknownNames(env: Environment): readonly string[] {
  const known = [
    ...Object.values(SETTINGS).map((setting) => PREFIX + setting.name),
    CLIENT_SERVER,
    ...CLIENT_KEYS,
  ];
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.some((each) => each === name))
    .map((name) => {
      const near = nearest(name, known);
      const guess = near === undefined ? '' : ` Did you mean ${near}?`;
      return `${name} is not a setting of Pressledger.${guess}`;
    });
}

function valueOf(setting: Settings[keyof Settings], env: Environment): unknown {
  for (const name of [PREFIX + setting.name, setting.name]) {
    const value = env[name];
    const given = value !== undefined && (value !== '' || 'emptyCounts' in setting);
    if (given) return setting.parse(value, name);
  }
  return setting.default();
}

/**
 * Reads the settings from the environment; each may also be given with the prefix `PRESSLEDGER_`,
 * which wins.
 * @throws {ConfigError} names every setting that cannot be used
 */
export function readConfig(env: Environment): Config {
  const problems = [...unknownNames(env)];
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(SETTINGS)) {
    try {
      values[key] = valueOf(setting, env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(...problems);
  return Object.freeze(values) as Config;
}

/** The service that the command line is a client of, and its credential there. */
export interface ClientConfig {
  readonly server: string | undefined;
  readonly apiKey: string | undefined;
}

export function readClientConfig(env: Environment): ClientConfig {
  const [apiKey] = CLIENT_KEYS.map((name) => env[name]).filter((value) => value);
  return { server: env[CLIENT_SERVER] || undefined, apiKey };
}
