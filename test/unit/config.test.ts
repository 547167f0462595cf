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

/** Each setting: what it is called, its default, values that work and values that do not. */
const SETTINGS: readonly {
  readonly key: keyof Config;
  readonly name: string;
  readonly unset: unknown;
  readonly good: Readonly<Record<string, unknown>>;
  readonly bad: readonly string[];
}[] = [
  {
    key: 'port',
    name: 'PORT',
    unset: 8080,
    good: { '0': 0, '65535': 65_535, '0080': 80 },
    bad: ['65536', '-1', '80.5', '8e3', '0x50', 'http', ' 80', 'tcp://10.0.0.1:80'],
  },
  { key: 'host', name: 'HOST', unset: '127.0.0.1', good: { '0.0.0.0': '0.0.0.0' }, bad: [] },
  {
    key: 'publicUrl',
    name: 'PUBLIC_URL',
    unset: undefined,
    good: {
      'https://pdf.example.com': 'https://pdf.example.com',
      'http://localhost:8080/': 'http://localhost:8080',
      'HTTPS://PDF.example.com:443': 'https://pdf.example.com',
    },
    bad: [
      'pdf.example.com',
      'ftp://pdf.example.com',
      'https://pdf.example.com/base',
      'https://pdf.example.com/?a=1',
      'https://pdf.example.com/#a',
      'https://user@pdf.example.com',
      'https://:secret@pdf.example.com',
    ],
  },
  {
    key: 'dataDir',
    name: 'DATA_DIR',
    unset: resolve('data'),
    good: { '/var/lib/x': '/var/lib/x', here: resolve('here') },
    bad: [],
  },
  {
    key: 'eventStoreUrl',
    name: 'EVENT_STORE_URL',
    unset: undefined,
    good: { 'kurrentdb://host:2113?tls=false': 'kurrentdb://host:2113?tls=false' },
    bad: [],
  },
  {
    key: 'natsUrl',
    name: 'NATS_URL',
    unset: undefined,
    good: { 'nats://host:4222': 'nats://host:4222' },
    bad: [],
  },
  {
    key: 'blobStoreUrl',
    name: 'BLOB_STORE_URL',
    unset: undefined,
    good: {
      'nats:': { kind: 'nats' },
      's3://bucket': { kind: 's3', url: 's3://bucket' },
      'file:/srv/shared': { kind: 'folder', path: '/srv/shared' },
      'file:///srv/a%20b': { kind: 'folder', path: '/srv/a b' },
      'file:shared': { kind: 'folder', path: resolve('shared') },
    },
    bad: ['nats', 'nats://host', 'file:', 'file://host/srv', '/srv/shared', 'ftp://u:secret@x/y'],
  },
  {
    key: 'awsAccessKeyId',
    name: 'AWS_ACCESS_KEY_ID',
    unset: undefined,
    good: { a1: 'a1' },
    bad: [],
  },
  {
    key: 'awsSecretAccessKey',
    name: 'AWS_SECRET_ACCESS_KEY',
    unset: undefined,
    good: { a1: 'a1' },
    bad: [],
  },
  {
    key: 'awsSessionToken',
    name: 'AWS_SESSION_TOKEN',
    unset: undefined,
    good: { a1: 'a1' },
    bad: [],
  },
  {
    key: 'renderConcurrency',
    name: 'RENDER_CONCURRENCY',
    unset: navigator.hardwareConcurrency,
    good: { '1': 1, '256': 256 },
    bad: ['0', '257', 'auto'],
  },
  {
    key: 'renderTimeoutMs',
    name: 'RENDER_TIMEOUT_MS',
    unset: 30_000,
    good: { '100': 100, '3600000': 3_600_000 },
    bad: ['99', '3600001', '30s'],
  },
  {
    key: 'maxBodyBytes',
    name: 'MAX_BODY_BYTES',
    unset: 10_485_760,
    good: { '1': 1 },
    bad: ['0', '10MB'],
  },
  {
    key: 'maxHtmlBytes',
    name: 'MAX_HTML_BYTES',
    unset: 5_242_880,
    good: { '1': 1 },
    bad: ['0', '5MB'],
  },
  { key: 'rateLimitFree', name: 'RATE_LIMIT_FREE', unset: 10, good: { '1': 1 }, bad: ['0', 'x'] },
  {
    key: 'rateLimitStarter',
    name: 'RATE_LIMIT_STARTER',
    unset: 30,
    good: { '1': 1 },
    bad: ['0', 'x'],
  },
  { key: 'rateLimitPro', name: 'RATE_LIMIT_PRO', unset: 100, good: { '1': 1 }, bad: ['0', 'x'] },
  {
    key: 'rateLimitAnonymous',
    name: 'RATE_LIMIT_ANONYMOUS',
    unset: 30,
    good: { '1': 1 },
    bad: ['0', 'x'],
  },
  {
    key: 'rateLimitDashboard',
    name: 'RATE_LIMIT_DASHBOARD',
    unset: 300,
    good: { '1': 1 },
    bad: ['0', 'x'],
  },
  {
    key: 'trustProxy',
    name: 'TRUST_PROXY',
    unset: false,
    good: { true: true, false: false, '1': true, '0': false },
    bad: ['yes', 'TRUE', '2'],
  },
  {
    key: 'corsOrigins',
    name: 'CORS_ORIGINS',
    unset: [],
    good: {
      '*': ['*'],
      'https://app.example.com, http://localhost:3000/,': [
        'https://app.example.com',
        'http://localhost:3000',
      ],
    },
    bad: ['app.example.com', 'https://app.example.com/path', '*,https://app.example.com', 'null'],
  },
  {
    key: 'fileUrlTtlSeconds',
    name: 'FILE_URL_TTL_SECONDS',
    unset: 3600,
    good: { '1': 1 },
    bad: ['0', '1h'],
  },
  {
    key: 'retentionSeconds',
    name: 'RETENTION_SECONDS',
    unset: 604_800,
    good: { '1': 1 },
    bad: ['0', '7d'],
  },
  { key: 'chromePath', name: 'CHROME_PATH', unset: undefined, good: { '/c': '/c' }, bad: [] },
  {
    key: 'allowPrivateNetwork',
    name: 'ALLOW_PRIVATE_NETWORK',
    unset: false,
    good: { true: true },
    bad: ['on'],
  },
  {
    key: 'egressPorts',
    name: 'EGRESS_PORTS',
    unset: [],
    good: { '3000': [3000], '3000, 9000,': [3000, 9000] },
    bad: ['0', '65536', '3000-4000', '80;443'],
  },
  {
    key: 'freeCredits',
    name: 'FREE_CREDITS',
    unset: 100,
    good: { '0': 0, '1000000000000': 1e12 },
    bad: ['-1', '1000000000001', '1.5'],
  },
  {
    key: 'firstAccountEmail',
    name: 'FIRST_ACCOUNT_EMAIL',
    unset: 'admin@localhost',
    good: { 'ann@example.com': 'ann@example.com', '': '' },
    bad: ['ann', 'ann@', '@example.com', 'ann smith@example.com', 'a@b@c'],
  },
  {
    key: 'masterKey',
    name: 'MASTER_KEY',
    unset: undefined,
    good: {
      [HEX]: KEY,
      [HEX.toUpperCase()]: KEY,
      [KEY.toString('base64')]: KEY,
      [KEY.toString('base64url')]: KEY,
    },
    bad: [
      HEX.slice(2),
      `${HEX}00`,
      HEX.replace('0', 'g'),
      'a pass phrase',
      `${'x y '.repeat(21)}x`,
    ],
  },
  {
    key: 'logOrigin',
    name: 'LOG_ORIGIN',
    unset: undefined,
    good: { 'pdf.example.com/tlog': 'pdf.example.com/tlog' },
    bad: ['my log', 'a+b', 'ä', 'x'.repeat(201)],
  },
  {
    key: 'checkpointSeconds',
    name: 'CHECKPOINT_SECONDS',
    unset: 60,
    good: { '1': 1, '86400': 86_400 },
    bad: ['0', '1.5', '86401'],
  },
  {
    key: 'witnesses',
    name: 'WITNESSES',
    unset: [],
    good: {
      [`${WITNESS} https://w.example`]: [{ verifierKey: WITNESS, url: 'https://w.example' }],
      [`${WITNESS}  http://w.example/a/b//,\n`]: [
        { verifierKey: WITNESS, url: 'http://w.example/a/b' },
      ],
    },
    bad: [
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
  },
  {
    key: 'tsaUrl',
    name: 'TSA_URL',
    unset: undefined,
    good: { 'https://tsa.example/tsr?a=1': 'https://tsa.example/tsr?a=1' },
    bad: [
      'tsa.example',
      'ftp://tsa.example',
      'https://me:secret@tsa.example',
      'https://tsa.example/#a',
    ],
  },
  {
    key: 'metricsPort',
    name: 'METRICS_PORT',
    unset: undefined,
    good: { '9464': 9464, '0': 0 },
    bad: ['-1', '65536', 'nine'],
  },
  {
    key: 'metricsHost',
    name: 'METRICS_HOST',
    unset: undefined,
    good: { '0.0.0.0': '0.0.0.0' },
    bad: [],
  },
  {
    key: 'logLevel',
    name: 'LOG_LEVEL',
    unset: 'info',
    good: { silent: 'silent', trace: 'trace' },
    bad: ['INFO', 'verbose', 'constructor'],
  },
  ...(Object.keys(BUDGETS) as BudgetName[]).map((key) => {
    const { name, max, default: unset } = BUDGETS[key];
    return {
      key,
      name,
      unset,
      good: { '1': 1, [String(max)]: max },
      bad: ['0', '-1', '1.5', 'many', String(max + 1)],
    };
  }),
  ...(Object.keys(BOUNDS) as BoundSetting[]).map((key) => {
    const { name, max, default: unset } = BOUNDS[key];
    const bad = ['-1', '1.5', 'many', String(max + 1)];
    return { key, name, unset, good: { '0': 0, [String(max)]: max }, bad };
  }),
];

void test('every setting has its default', (t) => {
  const config = readConfig({});
  t.strictSame(
    Object.keys(config).toSorted(),
    SETTINGS.map(({ key }) => key).toSorted(),
    'this table knows every setting',
  );
  for (const { key, unset } of SETTINGS) t.strictSame(config[key], unset, key);
  t.ok(Object.isFrozen(config));
  t.end();
});

void test('every setting takes what it can use, also with the prefix', (t) => {
  for (const { key, name, good } of SETTINGS) {
    for (const [value, expected] of Object.entries(good)) {
      t.strictSame(readConfig({ [name]: value })[key], expected, `${name}=${value}`);
      const prefixed = `PRESSLEDGER_${name}`;
      t.strictSame(readConfig({ [prefixed]: value })[key], expected, `${prefixed}=${value}`);
    }
  }
  t.end();
});

void test('every setting refuses what it cannot use, by its name', (t) => {
  for (const { name, bad } of SETTINGS) {
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
