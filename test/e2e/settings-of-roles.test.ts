/** What help says that a role reads, held against what the role really reads. */

import { pino } from 'pino';
import { type Test, test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { type Role, SETTINGS } from '../../src/config/settings.ts';
import { startApiNode, startRenderer } from '../../src/service/roles.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { createPlace } from '../support/place.ts';

const KEYS = Object.keys(SETTINGS) as readonly (keyof Config)[];

/** What the entry point reads, and what only S3 needs. */
const ELSEWHERE = ['logLevel', 'awsAccessKeyId', 'awsSecretAccessKey', 'awsSessionToken'];

/** The same settings, and the names of those that somebody asked for. */
function watched(config: Config): { config: Config; read: Set<string> } {
  const read = new Set<string>();
  const get = (target: Config, key: string | symbol): unknown => {
    read.add(String(key));
    return Reflect.get(target, key);
  };
  return { config: new Proxy(config, { get }), read };
}

const listed = (role: Role): readonly string[] =>
  KEYS.filter((key) => SETTINGS[key].roles?.includes(role) ?? true);

function without(all: Iterable<string>, those: Iterable<string>): readonly string[] {
  const rest = new Set(all);
  for (const each of those) rest.delete(each);
  return [...rest];
}

async function settingsOf(t: Test): Promise<Config> {
  const nats = await startNatsServer(t);
  // Not inherited: the settings of the person who runs the tests are not meant here.
  const { env, dataDir } = createPlace(t);
  const provider = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'pressledger' };
  const shared = { BLOB_STORE_URL: `file:${dataDir}`, MASTER_KEY: '0'.repeat(64), ...provider };
  return readConfig({ ...env, ...shared, NATS_URL: nats.url });
}

void test('an API node and a renderer read the settings that their help lists', async (t) => {
  const settings = await settingsOf(t);
  const logger = pino({ level: 'silent' });
  const api = watched(settings);
  const renderer = watched(settings);
  const service = await startApiNode(api.config, logger);
  t.teardown(() => service.stop());
  const owner = await service.ready;
  const node = await startRenderer(renderer.config, logger);
  t.teardown(() => node.stop());

  const apiKey = owner?.apiKey ?? '';
  const client = new PressledgerClient({ server: service.publicUrl, apiKey });
  const { id } = await client.create({ html: '<h1>Read</h1>' });
  const record = await client.wait(id);
  t.equal(record.status, 'completed');
  await (await client.download(record)).cancel();
  await t.rejects(client.create({ url: 'http://localhost/' }), { code: 'validation_error' });
  // What the sign-in page offers is read when the page asks.
  t.equal((await fetch(`${service.publicUrl}/dashboard/offers`)).status, 200);
  // It names the limits of all plans, and is made when it is first asked for.
  t.equal((await fetch(`${service.publicUrl}/openapi.json`)).status, 200);

  t.strictSame(without(api.read, listed('api')), [], 'all are listed');
  t.strictSame(without(renderer.read, listed('renderer')), [], 'all are listed');
  t.strictSame(without(listed('api'), [...api.read, ...ELSEWHERE]), [], 'no other is');
  t.strictSame(without(listed('renderer'), [...renderer.read, ...ELSEWHERE]), [], 'no other is');
});
