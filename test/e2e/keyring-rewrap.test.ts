/** `keyring rewrap` on whole deployments: killed and repeated, and everything readable afterwards. */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import type { PressledgerClient } from '../../client/src/client.ts';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { newAccountId } from '../../src/time/ids.ts';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { killCommand } from '../support/killed-command.ts';
import { KINDS, type Kind, Nodes, onS3 } from '../support/nodes.ts';
import { Service, startService } from '../support/service.ts';

const REWRAP = ['keyring', 'rewrap'];
/** Enough for kills to hit the middle. */
const MORE_KEYS = 300;

/** The first letters of a conversion's file. */
async function downloaded(client: PressledgerClient, id: string): Promise<string> {
  const ended = await client.wait(id);
  if (ended.status !== 'completed') throw new Error(`${id} ended as ${ended.status}`);
  return (await (await fetch(ended.file_url)).text()).slice(0, 5);
}

void test('a new master.key takes the place of the one in DATA_DIR, with kills', {
  timeout: 240_000,
}, async (t) => {
  const service = await startService(t);
  const { place, firstStart } = service;
  const client = service.client();
  const { id } = await client.create({ html: '<p>kept</p>' }, { idempotencyKey: 'one' });
  await client.wait(id);
  const { refresh } = await client.signIn(firstStart.email, firstStart.password);
  await refuses(t, place, REWRAP, 1, /A service runs on .*: stop every node, then repeat\.$/m);
  await service.stop();

  const [keyFile, keyring] = [join(place.dataDir, 'master.key'), join(place.dataDir, 'keyring')];
  const old = readFileSync(keyFile, 'utf8');
  const more = fileKeyring(keyring, Buffer.from(old, 'hex'));
  for (let n = 0; n < MORE_KEYS; n += 1) await more.makeKey(newAccountId(Date.now()));
  const files = readdirSync(keyring).filter((name) => name.endsWith('.key'));
  const textOf = (name: string): string | undefined => {
    // The command removes each for a moment.
    try {
      return readFileSync(join(keyring, name), 'utf8');
    } catch {
      return undefined;
    }
  };
  let kills = 0;
  for (const share of [0.1, 0.5, 0.9]) {
    const before = new Map(files.map((name) => [name, textOf(name)]));
    const isDue = () =>
      files.filter((name) => textOf(name) !== before.get(name)).length >= (share * MORE_KEYS) / 3;
    if (await killCommand(place, REWRAP, isDue)) kills += 1;
    if (!existsSync(join(keyring, 'keyring.rewrap'))) break;
    for (const args of [['start'], ['backup', 'keyring', join(place.tmpDir, 'copy')]])
      await refuses(t, place, args, 1, /repeat 'pressledger keyring rewrap' with both keys/);
  }
  t.ok(kills > 0, `${kills} kills`);
  t.match(await cliJson(place, REWRAP), { keys: MORE_KEYS + 2, master_key_file: keyFile });
  const now = readFileSync(keyFile, 'utf8');
  t.not(now, old);
  t.notOk(existsSync(`${keyFile}.new`));
  const { stderr } = await runCli(place, ['account', 'list'], { env: { MASTER_KEY: old } });
  t.match(stderr, /The master key is not the one that .* was made with/, 'the old one is refused');

  await service.start();
  const again = service.client(firstStart.apiKey);
  t.equal(await downloaded(again, id), '%PDF-');
  const repeated = await again.create({ html: '<p>kept</p>' }, { idempotencyKey: 'one' });
  t.equal(repeated.id, id, 'idempotency keys are still known');
  const refused = await fetch(`${service.url}/api/v1/auth/jwt/refresh/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh }),
  });
  t.equal(refused.status, 401, 'tokens of before end');
  t.ok(await again.signIn(firstStart.email, firstStart.password), 'the address is found');
  t.ok(await again.convert({ html: '<p>new</p>' }));
  t.match(await cliJson(place, ['tlog', 'rotate']), { keys: { length: 2 } });
  t.match(await cliJson(place, ['tlog', 'rotate', '--yes']), { keys: { length: 2 } });
  await service.stop();
  t.match(await cliJson(place, ['verify', '--documents']), { ok: true });

  // As kills leave it that hit the overwriting of the old key, and of the record that keeps starts off.
  const [marker, check] = ['keyring.rewrap', 'master.check'].map((name) => join(keyring, name));
  if (!marker || !check) throw new TypeError('There are two.');
  copyFileSync(keyFile, `${keyFile}.new`);
  writeFileSync(keyFile, randomBytes(64));
  copyFileSync(check, marker);
  await cliJson(place, REWRAP);
  writeFileSync(marker, randomBytes(64));
  await cliJson(place, REWRAP);
  t.equal(readFileSync(keyFile, 'utf8'), now);
  t.notOk(existsSync(marker) || existsSync(`${keyFile}.new`));
  t.match(await cliJson(place, ['account', 'show', firstStart.email]), { email: firstStart.email });
});

const [FOLDER] = KINDS;
if (FOLDER === undefined) throw new Error('There is no kind of deployment.');
const MASTER_KEY = '5a'.repeat(32);
const REMOTE: readonly Kind[] = [
  {
    ...FOLDER,
    name: 'in NATS',
    open: async () => ({ settings: { BLOB_STORE_URL: 'nats:', MASTER_KEY } }),
  },
  { ...FOLDER, name: 'in S3', open: onS3 },
];

for (const kind of REMOTE) {
  void test(`NEW_MASTER_KEY takes the place of MASTER_KEY on nodes with keys ${kind.name}`, {
    timeout: 240_000,
  }, async (t) => {
    const nodes = await Nodes.start(t, kind);
    const api = await nodes.api();
    const renderer = await nodes.renderer();
    const { firstStart } = api;
    const { id } = await api.client().create({ html: '<p>kept</p>' });
    await api.client().wait(id);
    const next = { NEW_MASTER_KEY: 'c3'.repeat(32) };
    const place = { ...api.place, env: { ...api.place.env, PORT: '0' } };
    const running = await runCli(place, REWRAP, { env: next });
    t.match(running, { code: 1, stderr: /An API node runs on this keyring/ });
    await api.stop();
    await refuses(t, place, REWRAP, 1, /NEW_MASTER_KEY is needed: set it to 32 new random bytes/);
    t.match(await cliJson(place, REWRAP, { env: next }), { keys: 2, master_key_file: null });
    await refuses(t, place, ['api'], 1, /made with another master key; set MASTER_KEY to that one/);
    const changed = new Service({
      ...place,
      env: { ...place.env, MASTER_KEY: next.NEW_MASTER_KEY },
    });
    t.teardown(() => changed.kill());
    await changed.start();
    const client = changed.client(firstStart.apiKey);
    t.equal(await downloaded(client, id), '%PDF-');
    t.ok(await client.convert({ html: '<p>new</p>' }));
    t.ok(await client.signIn(firstStart.email, firstStart.password));
    await Promise.all([changed.stop(), renderer.stop()]);
  });
}
