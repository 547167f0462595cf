/** Environment → one validated, frozen object. The only file that reads the settings of a service. */
import { suggest } from '../text/suggest.ts';
import { CLIENT_NAMES } from './client-config.ts';
import { UnusableValue } from './setting-parsers.ts';
import { type Role, SETTINGS, type Setting } from './settings.ts';

type Settings = typeof SETTINGS;
export type Config = {
  readonly [K in keyof Settings]:
    | ReturnType<Settings[K]['parse']>
    | ReturnType<Settings[K]['default']>;
};

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
  { name: plainName, parse, default: defaultTo, emptyCounts }: Setting<unknown, unknown>,
  env: Environment,
): unknown {
  for (const name of [PREFIX + plainName, plainName]) {
    const value = env[name];
    if (value === undefined || (value === '' && emptyCounts !== true)) continue;
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
  const isGiven = (key: keyof Config): boolean =>
    unusable.has(key) || (values[key] !== undefined && !isEmptyList(values[key]));
  if (role !== undefined) {
    problems.push(...lackingSettings(values, isGiven, role));
  }
  return { values, unusable, problems };
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** @throws {ConfigError} names every setting that cannot be used */
export function readConfig(env: Environment, role?: Role): Config {
  const { values, problems } = readSettings(env, role);
  if (problems.length > 0) throw new ConfigError(...problems);
  return Object.freeze(values) as Config;
}

/** Settings that say something about the provider of OIDC_ISSUER. */
const OF_PROVIDER = [
  'oidcClientId',
  'oidcClientSecret',
  'oidcName',
  'oidcDomains',
  'oidcGroups',
  'oidcRoleClaim',
  'oidcAccount',
] as const;

/** Settings that others need, or that need others. */
type Needed =
  | (typeof OF_PROVIDER)[number]
  | 'oidcIssuer'
  | 'natsUrl'
  | 'blobStoreUrl'
  | 'masterKey'
  | 'awsAccessKeyId'
  | 'awsSecretAccessKey'
  | 'smtpUrl'
  | 'mailFrom';

/**
 * @param values those that can be used
 * @param isGiven whether a setting has a value, also one that cannot be used
 * @returns one line for each that is missing for a process of that role
 */
function lackingSettings(
  { blobStoreUrl: blobs, signUp }: Pick<Partial<Config>, 'blobStoreUrl' | 'signUp'>,
  isGiven: (key: Needed) => boolean,
  role: Role,
): readonly string[] {
  const usesNats = isGiven('natsUrl');
  const problems: readonly (readonly [boolean, string])[] = [
    [
      role !== 'start' && !usesNats,
      `NATS_URL is needed by pressledger ${role}: it is how jobs reach renderers. For one machine, use 'pressledger start'.`,
    ],
    [
      usesNats && !isGiven('blobStoreUrl'),
      'NATS_URL needs BLOB_STORE_URL, the place that all nodes share for documents and keys: ' +
        'file:PATH (a folder that they share), nats: or s3://bucket?region=….',
    ],
    [
      role === 'start' && !usesNats && blobs?.kind === 'nats',
      'BLOB_STORE_URL is nats:, so NATS_URL is needed.',
    ],
    [
      blobs?.kind === 's3' && !(isGiven('awsAccessKeyId') && isGiven('awsSecretAccessKey')),
      'BLOB_STORE_URL needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    ],
    [
      role !== 'renderer' && isGiven('oidcIssuer') && !isGiven('oidcClientId'),
      'OIDC_ISSUER needs OIDC_CLIENT_ID, the name that this service is registered with at the provider.',
    ],
    [
      role !== 'renderer' && isGiven('blobStoreUrl') && !isGiven('masterKey'),
      'BLOB_STORE_URL puts the accounts’ keys beside the blobs, so MASTER_KEY is needed, the same on every node.',
    ],
    [
      role !== 'renderer' && signUp === 'open' && !isGiven('smtpUrl'),
      'SIGN_UP is open, so SMTP_URL is needed: addresses are confirmed by mail. Without mail, set SIGN_UP to invitation.',
    ],
    [
      role !== 'renderer' && isGiven('smtpUrl') && !isGiven('mailFrom'),
      'SMTP_URL needs MAIL_FROM, the sender of the mails: NAME <pdf@example.com>.',
    ],
  ];
  const lonely =
    role === 'renderer' || isGiven('oidcIssuer') ? [] : OF_PROVIDER.filter((key) => isGiven(key));
  return [
    ...problems.flatMap(([isLacking, problem]) => (isLacking ? problem : [])),
    ...lonely.map((key) => `${SETTINGS[key].name} needs OIDC_ISSUER, the URL of the provider.`),
  ];
}
