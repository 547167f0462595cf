/** Every setting: its name, how it is read, its default, and what help says about it. */
import { resolve } from 'node:path';
import { BOUNDS, type BoundSetting } from '../limits/bounds.ts';
import { BUDGETS, type BudgetName } from '../limits/budgets.ts';
import {
  accountName,
  blobPlace,
  boolean,
  domains,
  emailAddress,
  eventStoreUrl,
  httpUrl,
  integer,
  issuerUrl,
  key32,
  list,
  logOrigin,
  mailSender,
  natsUrl,
  oneOf,
  origin,
  origins,
  type Parse,
  plans,
  ports,
  scopes,
  smtpServer,
  text,
  witnesses,
} from './setting-parsers.ts';

/** A role of a process, as the command line calls it. */
export type Role = 'start' | 'api' | 'renderer';

interface SettingOptions {
  /** The default in words, where its value would not say it. */
  readonly unset?: string;
  /** An empty value means something, so it does not count as not set. */
  readonly emptyCounts?: true;
}

export interface Setting<T, D> extends SettingOptions {
  readonly name: string;
  readonly parse: Parse<T>;
  readonly default: () => D;
  /** One line for help. */
  readonly about: string;
  /** The roles that read it; all unless given. */
  readonly roles?: readonly Role[];
}

/** Makes settings that these roles read. */
const readBy =
  (...roles: readonly Role[]) =>
  <T, D>(
    name: string,
    parse: Parse<T>,
    value: D,
    about: string,
    options: SettingOptions = {},
  ): Setting<T, D> => ({
    name,
    parse,
    default: () => value,
    about,
    ...options,
    ...(roles.length > 0 && { roles }),
  });

const all = readBy();
const api = readBy('start', 'api');
const renderer = readBy('start', 'renderer');

const none = undefined;
const PORT = integer(0, 65_535);
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const rateLimit = (name: string, perMinute: number, whose: string): Setting<number, number> =>
  api(`RATE_LIMIT_${name}`, integer(1, 1e9), perMinute, `requests a minute of an ${whose}`);

const BUDGET_SETTINGS = Object.fromEntries(
  Object.entries(BUDGETS).map(([key, { name, max, default: value, about, role }]) => [
    key,
    (role === 'api' ? api : renderer)(name, integer(1, max), value, about),
  ]),
) as Readonly<Record<BudgetName, Setting<number, number>>>;

const BOUND_SETTINGS = Object.fromEntries(
  Object.entries(BOUNDS).map(([key, { name, max, default: value, about }]) => [
    key,
    api(name, integer(0, max), value, about),
  ]),
) as Readonly<Record<BoundSetting, Setting<number, number>>>;

/** The default is `undefined` if there is none. An empty value counts as not set, but for `emptyCounts`. */
export const SETTINGS = {
  port: all('PORT', PORT, 8080, 'the port it listens on; 0: any free one'),
  host: all('HOST', text, '127.0.0.1', 'the address it listens on'),
  publicUrl: api('PUBLIC_URL', origin, none, 'the origin that clients see', {
    unset: 'http://localhost:PORT, or with HOST',
  }),
  dataDir: {
    ...all('DATA_DIR', (value) => resolve(value), '', 'the directory of all data', {
      unset: './data',
    }),
    default: () => resolve('data'),
  },
  eventStoreUrl: api(
    'EVENT_STORE_URL',
    eventStoreUrl,
    none,
    'such as kurrentdb://host:2113?tls=true',
    {
      unset: 'SQLite in DATA_DIR',
    },
  ),
  natsUrl: all('NATS_URL', natsUrl, none, 'such as nats://host:4222; api and renderer need it', {
    unset: 'none',
  }),
  blobStoreUrl: all('BLOB_STORE_URL', blobPlace, none, 'file:PATH, nats: or s3://bucket?region=…', {
    unset: 'files in DATA_DIR; needed with NATS_URL',
  }),
  awsAccessKeyId: all('AWS_ACCESS_KEY_ID', text, none, 'for S3', { unset: 'none' }),
  awsSecretAccessKey: all('AWS_SECRET_ACCESS_KEY', text, none, 'for S3', { unset: 'none' }),
  awsSessionToken: all('AWS_SESSION_TOKEN', text, none, 'for S3', { unset: 'none' }),
  renderConcurrency: {
    ...renderer('RENDER_CONCURRENCY', integer(1, 256), 1, 'conversions at once', {
      unset: 'the number of cores',
    }),
    default: () => navigator.hardwareConcurrency,
  },
  renderTimeoutMs: renderer(
    'RENDER_TIMEOUT_MS',
    integer(100, 3_600_000),
    30_000,
    'time limit for one document',
  ),
  maxBodyBytes: api(
    'MAX_BODY_BYTES',
    integer(1, 2 ** 30),
    10_485_760,
    'largest request body of a conversion',
  ),
  maxHtmlBytes: api('MAX_HTML_BYTES', integer(1, 2 ** 30), 5_242_880, 'largest html'),
  rateLimitFree: rateLimit('FREE', 10, 'account on plan free'),
  rateLimitStarter: rateLimit('STARTER', 30, 'account on plan starter'),
  rateLimitPro: rateLimit('PRO', 100, 'account on plan pro'),
  rateLimitAnonymous: rateLimit('ANONYMOUS', 30, 'address without a credential'),
  rateLimitDashboard: rateLimit('DASHBOARD', 300, 'account in the dashboard'),
  trustProxy: api('TRUST_PROXY', boolean, false, 'true: X-Forwarded-For names the client'),
  publicVerify: api(
    'PUBLIC_VERIFY',
    boolean,
    false,
    'true: anybody may ask whether the service made a PDF, by its hash',
  ),
  corsOrigins: api(
    'CORS_ORIGINS',
    origins,
    [],
    'origins whose pages may call the API, separated by commas; *: all',
    { unset: 'none' },
  ),
  fileUrlTtlSeconds: api(
    'FILE_URL_TTL_SECONDS',
    integer(1, 31_536_000),
    3600,
    "how long a file's link is valid",
  ),
  retentionSeconds: api(
    'RETENTION_SECONDS',
    integer(1, 3_153_600_000),
    604_800,
    'how long a PDF is kept',
  ),
  failedRetentionSeconds: all(
    'FAILED_RETENTION_SECONDS',
    integer(0, 3_153_600_000),
    86_400,
    'how long request and picture of a failed conversion are kept; 0: a second, and no picture',
  ),
  chromePath: renderer('CHROME_PATH', text, none, 'the Chrome to run', {
    unset: 'an installed one',
  }),
  allowPrivateNetwork: all(
    'ALLOW_PRIVATE_NETWORK',
    boolean,
    false,
    'for development only: pages may reach every address',
  ),
  egressPorts: all(
    'EGRESS_PORTS',
    ports,
    [],
    'more ports that pages may reach, separated by commas',
    {
      unset: 'none',
    },
  ),
  plans: api(
    'PLANS',
    plans,
    none,
    'more plans, and credits that renew monthly, as JSON: {"team": {"rate_limit": 300, "credits_monthly": 5000}}',
    { unset: 'none' },
  ),
  credits: api('CREDITS', oneOf(['on', 'off']), 'on' as const, 'off: conversions cost nothing'),
  rateLimit: api(
    'RATE_LIMIT',
    oneOf(['on', 'off']),
    'on' as const,
    'off: requests are not limited; wrong passwords still are',
  ),
  freeCredits: api('FREE_CREDITS', integer(0, 1e12), 100, 'credits of a new account'),
  firstAccountEmail: api(
    'FIRST_ACCOUNT_EMAIL',
    emailAddress,
    'admin@localhost',
    'the account that the first start opens; empty: none',
    { emptyCounts: true },
  ),
  oidcIssuer: api('OIDC_ISSUER', issuerUrl, none, 'the OpenID provider that people sign in with', {
    unset: 'none',
  }),
  oidcClientId: api('OIDC_CLIENT_ID', text, none, 'the name of the service at the provider', {
    unset: 'none; needed with OIDC_ISSUER',
  }),
  oidcClientSecret: api('OIDC_CLIENT_SECRET', text, none, 'its secret there', {
    unset: 'none: a public client',
  }),
  oidcName: api('OIDC_NAME', text, none, 'what the button calls the provider', {
    unset: 'the host of OIDC_ISSUER',
  }),
  oidcScopes: api('OIDC_SCOPES', scopes, 'openid email profile', 'the scopes that are asked for'),
  oidcDomains: api(
    'OIDC_DOMAINS',
    domains,
    [],
    'domains of addresses that may come, separated by commas; *: all',
    { unset: 'none: people who are here already' },
  ),
  oidcGroups: api('OIDC_GROUPS', list, [], 'groups that may come, separated by commas', {
    unset: 'none',
  }),
  oidcGroupsClaim: api('OIDC_GROUPS_CLAIM', text, 'groups', 'the claim that has the groups'),
  oidcRoleClaim: api('OIDC_ROLE_CLAIM', text, none, 'the claim that has owner, member or auditor', {
    unset: 'none: member',
  }),
  oidcAccount: api('OIDC_ACCOUNT', accountName, none, 'the account that new people join', {
    unset: 'the first account',
  }),
  signUp: api(
    'SIGN_UP',
    oneOf(['closed', 'invitation', 'open']),
    'closed' as const,
    'who may open an account: operators alone, whom they invite, or everybody',
  ),
  masterKey: api('MASTER_KEY', key32, none, "wraps the accounts' keys: 32 bytes in hex or base64", {
    unset: 'made at the first start',
  }),
  logOrigin: api(
    'LOG_ORIGIN',
    logOrigin,
    none,
    "the log's name in checkpoints, such as pdf.example.com/tlog; never changed after the first",
    { unset: 'made at the first start' },
  ),
  checkpointSeconds: api(
    'CHECKPOINT_SECONDS',
    integer(1, 86_400),
    60,
    'time between two checkpoints of the log',
  ),
  witnesses: api(
    'WITNESSES',
    witnesses,
    [],
    'witnesses that cosign checkpoints: KEY URL, KEY URL, …',
    {
      unset: 'none',
    },
  ),
  sealP12: api(
    'SEAL_P12',
    resolve,
    none,
    'the certificate that signs PDFs of accounts without one: a PKCS#12 file',
    {
      unset: 'none',
    },
  ),
  sealP12Password: api('SEAL_P12_PASSWORD', text, none, 'the password of SEAL_P12', {
    unset: 'none',
  }),
  tsaUrl: api(
    'TSA_URL',
    httpUrl,
    none,
    'the timestamp authority (RFC 3161) for checkpoints and signatures',
    {
      unset: 'none',
    },
  ),
  smtpUrl: api(
    'SMTP_URL',
    smtpServer,
    none,
    'the server that mails are sent by: smtp://USER:PASSWORD@HOST, or smtps://',
    { unset: 'no mail' },
  ),
  mailFrom: api('MAIL_FROM', mailSender, none, 'the sender of mails: NAME <pdf@example.com>', {
    unset: 'none; needed with SMTP_URL',
  }),
  metricsPort: all(
    'METRICS_PORT',
    PORT,
    none,
    'the port that serves metrics to Prometheus; 0: any free one',
    { unset: 'no metrics' },
  ),
  metricsHost: all('METRICS_HOST', text, none, 'the address that serves metrics', {
    unset: 'HOST',
  }),
  logLevel: all('LOG_LEVEL', oneOf(LOG_LEVELS), 'info' as const, LOG_LEVELS.join(', ')),
  ...BUDGET_SETTINGS,
  ...BOUND_SETTINGS,
} as const;
