/** What help says about each setting: where it is read, in a line, and what stands in for it. */
import { BUDGETS, type BudgetName } from './budgets.ts';
import type { Config } from './config.ts';

/** What a process can be, as the command line calls it. */
export type Role = 'start' | 'api' | 'renderer';

export interface SettingHelp {
  readonly about: string;
  /** The default in words, where its value would not say it. */
  readonly unset?: string;
  /** Who reads it, where not everybody does. */
  readonly roles?: readonly Role[];
}

const API: readonly Role[] = ['start', 'api'];
const RENDERER: readonly Role[] = ['start', 'renderer'];

const awsHelp: SettingHelp = { about: 'for S3', unset: 'none' };

const planHelp = (plan: string): SettingHelp => ({
  about: `requests a minute of an account on plan ${plan}`,
  roles: API,
});

const BUDGET_HELP = Object.fromEntries(
  Object.entries(BUDGETS).map(([key, { about, role }]) => [
    key,
    { about, roles: role === 'api' ? API : RENDERER },
  ]),
) as Readonly<Record<BudgetName, SettingHelp>>;

/** Typed so that a setting cannot be added without its line. */
export const SETTING_HELP: Readonly<Record<keyof Config, SettingHelp>> = {
  port: { about: 'where it listens; 0: any free port' },
  host: { about: 'the address it listens on' },
  publicUrl: {
    about: 'the origin that clients see',
    unset: 'http://localhost:PORT',
    roles: API,
  },
  dataDir: { about: 'event log, files, keys, read models', unset: './data' },
  eventStoreUrl: {
    about: 'such as kurrentdb://host:2113?tls=true',
    unset: 'SQLite in DATA_DIR',
    roles: API,
  },
  natsUrl: {
    about: 'such as nats://host:4222',
    unset: 'none; api and renderer need it',
  },
  blobStoreUrl: {
    about: 'nats: or s3://bucket?region=…&endpoint=…',
    unset: 'files in DATA_DIR',
  },
  awsAccessKeyId: awsHelp,
  awsSecretAccessKey: awsHelp,
  awsSessionToken: awsHelp,
  renderConcurrency: { about: 'conversions at once', unset: 'cores', roles: RENDERER },
  renderTimeoutMs: { about: 'for rendering one document', roles: RENDERER },
  maxBodyBytes: { about: 'largest request body of a conversion', roles: API },
  maxHtmlBytes: { about: 'largest html', roles: API },
  rateLimitFree: planHelp('free'),
  rateLimitStarter: planHelp('starter'),
  rateLimitPro: planHelp('pro'),
  rateLimitAnonymous: {
    about: 'requests a minute of an address without a credential',
    roles: API,
  },
  trustProxy: { about: 'whether X-Forwarded-For counts', roles: API },
  fileUrlTtlSeconds: { about: "how long a file's link holds", roles: API },
  retentionSeconds: { about: 'how long a PDF is kept', roles: API },
  chromePath: { about: 'the Chrome to run', unset: 'found', roles: RENDERER },
  allowPrivateNetwork: { about: 'for development: pages may reach every address' },
  egressPorts: {
    about: 'more ports that pages may reach, separated by commas',
    unset: 'none',
  },
  freeCredits: { about: 'credits of a new account', roles: API },
  firstAccountEmail: {
    about: 'the account of the first start; empty: none',
    roles: API,
  },
  masterKey: {
    about: "wraps the accounts' keys: 32 bytes in hex or base64",
    unset: 'made once',
    roles: API,
  },
  logLevel: { about: 'fatal, error, warn, info, debug, trace or silent' },
  ...BUDGET_HELP,
};
