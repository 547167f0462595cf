import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'tap';
import { readClientConfig } from '../../src/config/client-config.ts';
import { type Config, ConfigError, readConfig } from '../../src/config/config.ts';
import type { Role } from '../../src/config/settings.ts';
import { BOUNDS, type BoundSetting } from '../../src/limits/bounds.ts';
import { BUDGETS, type BudgetName } from '../../src/limits/budgets.ts';

const HEX = '0123456789abcdef'.repeat(4);
const KEY = Buffer.from(HEX, 'hex');

/** Verifier keys: of a witness's cosignatures, and of a log's signatures. */
const WITNESS = 'witness.example/lite+40497e38+BARdW4PIMjT78tIe/7dpyn/Gaft5fJvqa9kst4bXWj9q';
const LOG_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';

/** Of a setting: its default, values that work with what they become, and values that do not. */
type Values = readonly [
  unset: unknown,
  good: Readonly<Record<string, unknown>>,
  bad: readonly string[],
];

/** The settings whose name follows from their key. */
const TABLE: Readonly<Record<Exclude<keyof Config, BudgetName | BoundSetting>, Values>> = {
  port: [
    8080,
    { '0': 0, '65535': 65_535, '0080': 80 },
    ['65536', '-1', '80.5', '8e3', '0x50', 'http', ' 80', 'tcp://10.0.0.1:80'],
  ],
  host: ['127.0.0.1', { '0.0.0.0': '0.0.0.0' }, []],
  publicUrl: [
    undefined,
    {
      'https://pdf.example.com': 'https://pdf.example.com',
      'http://localhost:8080/': 'http://localhost:8080',
      'HTTPS://PDF.example.com:443': 'https://pdf.example.com',
    },
    [
      'pdf.example.com',
      'ftp://pdf.example.com',
      'https://pdf.example.com/base',
      'https://pdf.example.com/?a=1',
      'https://pdf.example.com/#a',
      'https://user@pdf.example.com',
      'https://:secret@pdf.example.com',
    ],
  ],
  dataDir: [resolve('data'), { '/var/lib/x': '/var/lib/x', here: resolve('here') }, []],
  eventStoreUrl: [
    undefined,
    { 'kurrentdb://host:2113?tls=false': 'kurrentdb://host:2113?tls=false' },
    [],
  ],
  natsUrl: [undefined, { 'nats://host:4222': 'nats://host:4222' }, []],
  blobStoreUrl: [
    undefined,
    {
      'nats:': { kind: 'nats' },
      's3://bucket': { kind: 's3', url: 's3://bucket' },
      'file:/srv/shared': { kind: 'folder', path: '/srv/shared' },
      'file:///srv/a%20b': { kind: 'folder', path: '/srv/a b' },
      'file:shared': { kind: 'folder', path: resolve('shared') },
    },
    ['nats', 'nats://host', 'file:', 'file://host/srv', '/srv/shared', 'ftp://u:secret@x/y'],
  ],
  awsAccessKeyId: [undefined, { a1: 'a1' }, []],
  awsSecretAccessKey: [undefined, { a1: 'a1' }, []],
  awsSessionToken: [undefined, { a1: 'a1' }, []],
  renderConcurrency: [navigator.hardwareConcurrency, { '1': 1, '256': 256 }, ['0', '257', 'auto']],
  renderTimeoutMs: [30_000, { '100': 100, '3600000': 3_600_000 }, ['99', '3600001', '30s']],
  maxBodyBytes: [10_485_760, { '1': 1 }, ['0', '10MB']],
  maxHtmlBytes: [5_242_880, { '1': 1 }, ['0', '5MB']],
  rateLimitFree: [10, { '1': 1 }, ['0', 'x']],
  rateLimitStarter: [30, { '1': 1 }, ['0', 'x']],
  rateLimitPro: [100, { '1': 1 }, ['0', 'x']],
  rateLimitAnonymous: [30, { '1': 1 }, ['0', 'x']],
  rateLimitDashboard: [300, { '1': 1 }, ['0', 'x']],
  trustProxy: [false, { true: true, false: false, '1': true, '0': false }, ['yes', 'TRUE', '2']],
  publicVerify: [false, { true: true, '0': false }, ['yes']],
  corsOrigins: [
    [],
    {
      '*': ['*'],
      'https://app.example.com, http://localhost:3000/,': [
        'https://app.example.com',
        'http://localhost:3000',
      ],
    },
    ['app.example.com', 'https://app.example.com/path', '*,https://app.example.com', 'null'],
  ],
  fileUrlTtlSeconds: [3600, { '1': 1 }, ['0', '1h']],
  retentionSeconds: [604_800, { '1': 1 }, ['0', '7d']],
  failedRetentionSeconds: [86_400, { '0': 0 }, ['-1', '1d']],
  chromePath: [undefined, { '/c': '/c' }, []],
  allowPrivateNetwork: [false, { true: true }, ['on']],
  egressPorts: [
    [],
    { '3000': [3000], '3000, 9000,': [3000, 9000] },
    ['0', '65536', '3000-4000', '80;443'],
  ],
  plans: [
    undefined,
    {
      '{}': new Map(),
      '{"team": {"rate_limit": 300, "credits_monthly": 5000}, "pro": {"credits_monthly": 1}}':
        new Map([
          ['team', { rateLimit: 300, creditsMonthly: 5000 }],
          ['pro', { creditsMonthly: 1 }],
        ]),
    },
    [
      'team',
      '[]',
      '{"Team": {"rate_limit": 1}}',
      '{"team": 300}',
      '{"team": {}}',
      '{"team": {"rate_limit": 0}}',
      '{"team": {"rate_limit": 1.5}}',
      '{"team": {"rate_limit": "1"}}',
      '{"team": {"rate_limit": 1, "credits_monthly": 0}}',
      '{"team": {"rate_limit": 1, "price": 5}}',
      '{"pro": {"rate_limit": 5}}',
    ],
  ],
  credits: ['on', { on: 'on', off: 'off' }, ['false', 'OFF']],
  rateLimit: ['on', { on: 'on', off: 'off' }, ['0', 'none']],
  freeCredits: [100, { '0': 0, '1000000000000': 1e12 }, ['-1', '1000000000001', '1.5']],
  firstAccountEmail: [
    'admin@localhost',
    { 'ann@example.com': 'ann@example.com', '': '' },
    ['ann', 'ann@', '@example.com', 'ann smith@example.com', 'a@b@c'],
  ],
  oidcIssuer: [
    undefined,
    {
      'https://login.example.com/realms/pdf': 'https://login.example.com/realms/pdf',
      'http://127.0.0.1:9000': 'http://127.0.0.1:9000',
    },
    ['login.example.com', 'http://login.example.com', 'https://u:p@x.com', 'https://x.com/?a=1'],
  ],
  oidcClientId: [undefined, { pressledger: 'pressledger' }, []],
  oidcClientSecret: [undefined, { s3cret: 's3cret' }, []],
  oidcName: [undefined, { 'Example Login': 'Example Login' }, []],
  oidcScopes: [
    'openid email profile',
    { 'openid email groups': 'openid email groups' },
    ['email profile', 'openid,email'],
  ],
  oidcDomains: [
    [],
    { '*': ['*'], 'Example.com, example.org,': ['example.com', 'example.org'] },
    ['*, example.com', '@example.com', 'ada@example.com', 'example', 'https://example.com'],
  ],
  oidcGroups: [[], { 'pdf users, print': ['pdf users', 'print'] }, []],
  oidcGroupsClaim: ['groups', { 'https://example.com/groups': 'https://example.com/groups' }, []],
  oidcRoleClaim: [undefined, { 'realm_access.roles': 'realm_access.roles' }, []],
  oidcAccount: [
    undefined,
    {
      'ada@example.com': 'ada@example.com',
      acct_06f3k8r1v2w9x4y5z6a7b8c9d0: 'acct_06f3k8r1v2w9x4y5z6a7b8c9d0',
    },
    ['acct_1', 'first'],
  ],
  signUp: ['closed', { open: 'open', invitation: 'invitation' }, ['true', 'Open']],
  masterKey: [
    undefined,
    {
      [HEX]: KEY,
      [HEX.toUpperCase()]: KEY,
      [KEY.toString('base64')]: KEY,
      [KEY.toString('base64url')]: KEY,
    },
    [HEX.slice(2), `${HEX}00`, HEX.replace('0', 'g'), 'a pass phrase', `${'x y '.repeat(21)}x`],
  ],
  logOrigin: [
    undefined,
    { 'pdf.example.com/tlog': 'pdf.example.com/tlog' },
    ['my log', 'a+b', 'ä', 'x'.repeat(201)],
  ],
  checkpointSeconds: [60, { '1': 1, '86400': 86_400 }, ['0', '1.5', '86401']],
  witnesses: [
    [],
    {
      [`${WITNESS} https://w.example`]: [{ verifierKey: WITNESS, url: 'https://w.example' }],
      [`${WITNESS}  http://w.example/a/b//,\n`]: [
        { verifierKey: WITNESS, url: 'http://w.example/a/b' },
      ],
    },
    [
      'https://w.example',
      WITNESS,
      `https://w.example ${WITNESS}`,
      `${WITNESS} https://w.example and more`,
      `${WITNESS.replace('BARd', 'BARe')} https://w.example`,
      `${LOG_KEY} https://w.example`,
      `${WITNESS} https://w.example, ${WITNESS} https://other.example`,
      `${WITNESS} ftp://w.example`,
      `${WITNESS} https://me:secret@w.example`,
      `${WITNESS} https://w.example/?a=1`,
    ],
  ],
  tsaUrl: [
    undefined,
    { 'https://tsa.example/tsr?a=1': 'https://tsa.example/tsr?a=1' },
    ['tsa.example', 'ftp://tsa.example', 'https://me:secret@tsa.example', 'https://tsa.example/#a'],
  ],
  smtpUrl: [
    undefined,
    {
      'smtp://mail.example': { host: 'mail.example', port: 587, encryption: 'STARTTLS' },
      'smtps://me:pa%40ss@mail.example:2465': {
        host: 'mail.example',
        port: 2465,
        encryption: 'TLS',
        user: 'me',
        password: 'pa@ss',
      },
      'smtp://localhost:25': { host: 'localhost', port: 25, encryption: 'none' },
      'smtp://[::1]:25/': { host: '::1', port: 25, encryption: 'none' },
      'smtp://localhost?tls=true': { host: 'localhost', port: 587, encryption: 'STARTTLS' },
      'smtp://mail.example?tls=false': { host: 'mail.example', port: 587, encryption: 'none' },
    },
    [
      'mail.example',
      'http://mail.example',
      'smtp://',
      'smtp://mail.example/a',
      'smtp://me@mail.example',
      'smtp://me:%zz@mail.example',
      'smtp://mail.example?tls=no',
      'smtp://mail.example?pool=true',
      'smtps://mail.example?tls=false',
      'smtp://mail.example:70000',
    ],
  ],
  mailFrom: [
    undefined,
    {
      'pdf@example.com': { address: 'pdf@example.com' },
      'PDF, and more <pdf@example.com>': { address: 'pdf@example.com', name: 'PDF, and more' },
      '"Müller" <pdf@example.com>': { address: 'pdf@example.com', name: 'Müller' },
    },
    ['pdf', 'a@b, c@d', 'PDF <pdf>', 'PDF\r\nBcc: x@y <pdf@example.com>', '<a@b> <c@d>'],
  ],
  sealP12: [undefined, { '/etc/seal.p12': '/etc/seal.p12' }, []],
  sealP12Password: [undefined, { 'a b': 'a b' }, []],
  metricsPort: [undefined, { '9464': 9464, '0': 0 }, ['-1', '65536', 'nine']],
  metricsHost: [undefined, { '0.0.0.0': '0.0.0.0' }, []],
  logLevel: ['info', { silent: 'silent', trace: 'trace' }, ['INFO', 'verbose', 'constructor']],
};

const SETTINGS: readonly (readonly [key: keyof Config, name: string, ...Values])[] = [
  ...(Object.keys(TABLE) as (keyof typeof TABLE)[]).map(
    (key) => [key, key.replaceAll(/[A-Z]/g, '_$&').toUpperCase(), ...TABLE[key]] as const,
  ),
  ...(Object.keys(BUDGETS) as BudgetName[]).map((key) => {
    const { name, max, default: unset } = BUDGETS[key];
    const bad = ['0', '-1', '1.5', 'many', String(max + 1)];
    return [key, name, unset, { '1': 1, [String(max)]: max }, bad] as const;
  }),
  ...(Object.keys(BOUNDS) as BoundSetting[]).map((key) => {
    const { name, max, default: unset } = BOUNDS[key];
    const bad = ['-1', '1.5', 'many', String(max + 1)];
    return [key, name, unset, { '0': 0, [String(max)]: max }, bad] as const;
  }),
];

void test('every setting has its default', (t) => {
  const config = readConfig({});
  t.strictSame(
    Object.keys(config).toSorted(),
    SETTINGS.map(([key]) => key).toSorted(),
    'this table knows every setting',
  );
  for (const [key, , unset] of SETTINGS) t.strictSame(config[key], unset, key);
  t.ok(Object.isFrozen(config));
  t.end();
});

void test('every setting takes what it can use, also with the prefix', (t) => {
  for (const [key, name, , good] of SETTINGS) {
    for (const [value, expected] of Object.entries(good)) {
      t.strictSame(readConfig({ [name]: value })[key], expected, `${name}=${value}`);
      const prefixed = `PRESSLEDGER_${name}`;
      t.strictSame(readConfig({ [prefixed]: value })[key], expected, `${prefixed}=${value}`);
    }
  }
  t.end();
});

void test('every setting refuses what it cannot use, by its name', (t) => {
  for (const [, name, , , bad] of SETTINGS) {
    for (const value of bad) {
      for (const given of [name, `PRESSLEDGER_${name}`]) {
        const line = new RegExp(`^${given} must be [^\\n]+\\.$`);
        t.throws(() => readConfig({ [given]: value }), { name: 'ConfigError', message: line });
      }
    }
  }
  t.end();
});

void test('a refused secret is not repeated in the message', (t) => {
  const password = 'https://me:hunter2@example.com';
  const refused = {
    MASTER_KEY: 'hunter2hunter2',
    TSA_URL: password,
    WITNESSES: `${WITNESS} ${password}`,
  };
  for (const [name, value] of Object.entries(refused)) {
    try {
      readConfig({ [name]: value });
      t.fail('not refused');
    } catch (error) {
      t.ok(error instanceof ConfigError);
      t.notMatch(String(error), /hunter2/);
    }
  }
  t.end();
});

void test('the prefix wins, and an unusable value behind it does not matter', (t) => {
  t.equal(readConfig({ PORT: '1', PRESSLEDGER_PORT: '2' }).port, 2);
  t.equal(readConfig({ PORT: 'tcp://10.0.0.1:80', PRESSLEDGER_PORT: '2' }).port, 2);
  t.equal(
    readConfig({ FIRST_ACCOUNT_EMAIL: 'a@b', PRESSLEDGER_FIRST_ACCOUNT_EMAIL: '' })
      .firstAccountEmail,
    '',
  );
  t.end();
});

void test('an empty value counts as not set', (t) => {
  t.equal(readConfig({ PORT: '' }).port, 8080);
  t.equal(readConfig({ PRESSLEDGER_PORT: '' }).port, 8080);
  t.equal(readConfig({ PORT: '1', PRESSLEDGER_PORT: '' }).port, 1);
  t.equal(readConfig({ PUBLIC_URL: '' }).publicUrl, undefined);
  t.end();
});

void test('an unknown name with the prefix stops the start', (t) => {
  t.throws(() => readConfig({ PRESSLEDGER_PROT: '1' }), {
    name: 'ConfigError',
    message: 'PRESSLEDGER_PROT is not a setting of Pressledger. Did you mean PRESSLEDGER_PORT?',
  });
  t.throws(() => readConfig({ PRESSLEDGER_: '' }), { name: 'ConfigError' });
  t.equal(readConfig({ NATS_PORT: 'tcp://10.0.0.1:4222', PATH: '/bin' }).natsUrl, undefined);
  t.end();
});

/** The beginning of each problem: who needs what. */
function problemsOf(env: Record<string, string>, role?: Role): readonly string[] {
  try {
    readConfig(env, role);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => problem.split(/ (?!start|api|renderer|needs)/)[0] ?? '');
  }
}

void test('URLs are told with the others, and what is missing beside a value by role', (t) => {
  const bad = {
    PORT: '80x',
    EVENT_STORE_URL: 'postgres://u:secret@db/x',
    NATS_URL: 'http://u:secret@host',
    BLOB_STORE_URL: 'ftp://u:secret@x/y',
  };
  t.strictSame(problemsOf(bad), Object.keys(bad));
  t.strictSame(problemsOf({ BLOB_STORE_URL: 's3://bucket?color=red' }), ['BLOB_STORE_URL']);
  const s3 = { BLOB_STORE_URL: 's3://bucket' };
  t.strictSame(problemsOf(s3), []);
  t.strictSame(problemsOf(s3, 'start'), ['BLOB_STORE_URL needs', 'BLOB_STORE_URL']);
  t.strictSame(problemsOf({ ...s3, NATS_URL: 'nats://h' }, 'renderer'), ['BLOB_STORE_URL needs']);
  t.strictSame(problemsOf({ BLOB_STORE_URL: 'nats:', MASTER_KEY: HEX }, 'start'), [
    'BLOB_STORE_URL',
  ]);
  for (const role of ['start', 'api', 'renderer'] as const) {
    t.strictSame(problemsOf({ NATS_URL: 'nats://h' }, role), ['NATS_URL needs']);
  }
  t.strictSame(problemsOf({}, 'api'), ['NATS_URL']);
  t.strictSame(
    problemsOf({ PORT: '80x', NATS_URL: 'http://h' }, 'api'),
    ['PORT', 'NATS_URL', 'NATS_URL needs'],
    'a value that cannot be used is not missing, and does not hide what is',
  );
  const issuer = { OIDC_ISSUER: 'https://login.example.com' };
  t.strictSame(problemsOf(issuer, 'start'), ['OIDC_ISSUER needs']);
  t.strictSame(problemsOf({ ...issuer, OIDC_CLIENT_ID: 'c' }, 'start'), []);
  const lonely = { OIDC_CLIENT_ID: 'c', OIDC_CLIENT_SECRET: 's', OIDC_DOMAINS: '*' };
  t.strictSame(
    problemsOf(lonely, 'start'),
    Object.keys(lonely).map((name) => `${name} needs`),
  );
  t.strictSame(problemsOf({ SIGN_UP: 'open' }, 'start'), ['SIGN_UP']);
  t.strictSame(problemsOf({ SIGN_UP: 'open' }, 'renderer'), ['NATS_URL']);
  t.strictSame(problemsOf({}, 'start'), []);
  t.end();
});

void test('the environment of a client never stops a service', (t) => {
  const env = { PRESSLEDGER_SERVER: 'https://a', PRESSLEDGER_API_KEY: 'k', PRESSLEDGER_KEY: 'l' };
  t.strictSame(readConfig(env), readConfig({}));
  t.strictSame(readClientConfig({ ...env, XDG_CONFIG_HOME: '/home/ann/.conf' }), {
    server: 'https://a',
    apiKey: 'k',
    loginFile: '/home/ann/.conf/pressledger/login.json',
  });
  t.equal(readClientConfig({ PRESSLEDGER_KEY: 'l' }).apiKey, 'l');
  const empty = { PRESSLEDGER_SERVER: '', PRESSLEDGER_API_KEY: '', XDG_CONFIG_HOME: 'relative' };
  t.strictSame(readClientConfig(empty), {
    server: undefined,
    apiKey: undefined,
    loginFile: join(homedir(), '.config/pressledger/login.json'),
  });
  t.throws(() => readConfig({ PRESSLEDGER_API_KYE: 'k' }), /Did you mean PRESSLEDGER_API_KEY\?/);
  t.end();
});

void test('everything that cannot be used is told at once, a line each', (t) => {
  try {
    readConfig({ PORT: 'x', PRESSLEDGER_FROB: '1', HOST: 'h', LOG_LEVEL: 'loud', MASTER_KEY: 'k' });
    t.fail('not refused');
  } catch (error) {
    t.ok(error instanceof ConfigError);
    const problems = error instanceof ConfigError ? error.problems : [];
    t.strictSame(
      problems.map((line) => line.split(' ')[0]),
      ['PRESSLEDGER_FROB', 'PORT', 'MASTER_KEY', 'LOG_LEVEL'],
    );
    t.equal(String(error), `ConfigError: ${problems.join('\n')}`);
  }
  t.end();
});
