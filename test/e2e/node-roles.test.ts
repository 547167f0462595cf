/** What a node says that was given too little, or what it must not have. */
import { test } from 'tap';
import { KINDS, type Kind, Nodes } from '../support/nodes.ts';

void test('roles say what they need', async (t) => {
  const kind: Kind = {
    name: 'bare',
    options: {},
    open: async (_, folder) => ({ settings: { BLOB_STORE_URL: `file:${folder}` } }),
    shared: false,
  };
  const deployment = await Nodes.start(t, kind);
  const MASTER_KEY = '0'.repeat(64);
  const cases: readonly (readonly [
    role: 'start' | 'api' | 'renderer',
    settings: Record<string, string>,
    said: RegExp,
  ])[] = [
    ['api', { NATS_URL: '' }, /^pressledger: NATS_URL is needed by pressledger api/],
    ['renderer', { NATS_URL: '' }, /^pressledger: NATS_URL is needed by pressledger renderer/],
    [
      'api',
      { MASTER_KEY, NATS_URL: 'nats://127.0.0.1:1' },
      /NATS at nats:\/\/127\.0\.0\.1:1 cannot be reached/,
    ],
    ['api', { MASTER_KEY, EVENT_STORE_URL: 'esdb://127.0.0.1:1?tls=false' }, /127\.0\.0\.1:1/],
    ['api', { EVENT_STORE_URL: 'postgres://u:secret@db/x' }, /EVENT_STORE_URL/],
    ['api', { BLOB_STORE_URL: '' }, /NATS_URL needs BLOB_STORE_URL, .*: file:PATH .*nats: or s3:/],
    ['renderer', { BLOB_STORE_URL: '' }, /NATS_URL needs BLOB_STORE_URL/],
    ['start', { BLOB_STORE_URL: '' }, /NATS_URL needs BLOB_STORE_URL/],
    ['api', {}, /MASTER_KEY is needed/],
    ['api', { BLOB_STORE_URL: 'nats:' }, /MASTER_KEY is needed/],
    ['api', { BLOB_STORE_URL: 'nats' }, /BLOB_STORE_URL must be file:PATH, nats: or/],
    [
      'renderer',
      { BLOB_STORE_URL: 'file:nowhere' },
      /There is no .*blobs: BLOB_STORE_URL names a folder that all nodes share/,
    ],
    ['renderer', { BLOB_STORE_URL: 's3://bucket' }, /AWS_ACCESS_KEY_ID/],
    ['start', { BLOB_STORE_URL: 'nats:', NATS_URL: '' }, /NATS_URL is needed/],
    ['api', { BLOB_STORE_URL: 's3://bucket' }, /AWS_ACCESS_KEY_ID/],
    ['api', { BLOB_STORE_URL: 'ftp://u:secret@x/y' }, /BLOB_STORE_URL/],
  ];
  for (const [role, settings, said] of cases) {
    const { ended, stderr } = await deployment.inVain(role, settings);
    t.match(ended, { code: 1, signal: null }, `${role} ${JSON.stringify(settings)}`);
    t.match(stderr, said);
    for (const line of stderr.trimEnd().split('\n')) t.match(line, /^pressledger: .*[.)]$/);
    t.notMatch(stderr, /secret/);
  }
});

const EMBEDDED = KINDS.find(({ shared }) => shared) as Kind;

void test('a renderer that was given what it must not have says so', async (t) => {
  const deployment = await Nodes.start(t, EMBEDDED);
  await deployment.api();
  const renderer = await deployment.renderer();
  const careless = await deployment.renderer({
    MASTER_KEY: 'ab'.repeat(32),
    EVENT_STORE_URL: 'esdb://user:secret@127.0.0.1:1?tls=false',
  });
  const { stderr } = careless.output;
  t.match(stderr, /"MASTER_KEY is set, and a renderer must not have it: /);
  t.match(stderr, /"EVENT_STORE_URL is set, and a renderer must not have it: /);
  t.notMatch(stderr, /secret/);
  t.notMatch(renderer.output.stderr, /a renderer must not have it/, 'the control');
});
