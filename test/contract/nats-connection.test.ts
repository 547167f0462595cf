import { once } from 'node:events';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { parseNatsUrl } from '../../src/nats/address.ts';
import { connectToNats } from '../../src/nats/connection.ts';
import { eventually } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { startNatsServer } from '../support/nats-server.ts';

const silent = { name: 'test', logger: pino({ level: 'silent' }) };

async function refusal(url: string): Promise<string> {
  const error = await connectToNats(url, silent).then(
    async (link) => {
      await link.close();
      return undefined;
    },
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message : 'no error';
}

/** What only greets, as a server of that version does. */
async function greeter(t: Test, version: string): Promise<string> {
  const info = { server_id: 'x', version, proto: 1, headers: true, max_payload: 1 << 20 };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (text) => {
      if (String(text).includes('PING')) socket.write('PONG\r\n');
    });
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  return `nats://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

void test('a URL names servers, encryption and credentials', (t) => {
  const several = parseNatsUrl('nats://a:1,nats://us%40er:p%2Cw@b');
  t.strictSame(several.servers, ['a:1', 'b:4222']);
  t.strictSame(several.credentials, { user: 'us@er', pass: 'p,w' });
  t.equal(several.display, 'nats://a:1,b:4222');
  t.strictSame(parseNatsUrl('tls://token@host').credentials, { token: 'token' });
  t.ok(parseNatsUrl('tls://host').encrypted);
  t.strictSame(parseNatsUrl('[::1]:4223').servers, ['[::1]:4223']);
  t.equal(several.namespace, 'pressledger');
  t.equal(parseNatsUrl('nats://a?namespace=two,nats://t@b').namespace, 'two');
  t.equal(several.replicas, 1);
  t.match(parseNatsUrl('nats://a,nats://b?namespace=two&replicas=3'), {
    namespace: 'two',
    replicas: 3,
  });
  for (const bad of [
    '',
    'http://secret@host',
    'nats://',
    'nats://a,tls://b',
    'nats://%zz:secret@a',
    'nats://secret@a?name=two',
    'nats://secret@a?namespace=Two',
    'nats://secret@a?namespace=',
    'nats://secret@a?replicas=0',
    'nats://secret@a?replicas=6',
  ]) {
    t.throws(() => parseNatsUrl(bad), /^NATS_URL (?!.*secret)/, bad);
  }
  t.end();
});

void test('a server that cannot be used is named in one line without its password', async (t) => {
  const port = await freePort();
  const nobody = await refusal(`nats://u:secret@127.0.0.1:${port}`);
  t.match(nobody, new RegExp(`^NATS at nats://127.0.0.1:${port} cannot be reached`));

  const guarded = await startNatsServer(t, {
    config: 'authorization { user: u, password: right }',
  });
  const wrong = await refusal(guarded.url.replace('//', '//u:secret@'));
  t.match(wrong, /^NATS at nats:.* refuses the credentials/);
  t.match(await refusal(guarded.url), /refuses the credentials/);

  const plain = await startNatsServer(t, { jetStream: false });
  t.match(await refusal(plain.url), /^NATS at nats:.* has JetStream not enabled/);
  t.match(await refusal(plain.url.replace('nats:', 'tls:')), /cannot be reached .*tls/);

  t.match(await refusal(await greeter(t, '2.8.4')), /is version 2\.8\.4: 2\.9\.0 or later/);
  for (const line of [nobody, wrong]) t.notMatch(line, /secret|\n/);
});

void test('a link says whether the server is there, and comes back by itself', async (t) => {
  const server = await startNatsServer(t, { config: 'authorization { token: "s3cret" }' });
  const link = await connectToNats(server.url.replace('//', '//s3cret@'), silent);
  let reconnections = 0;
  const forget = link.onReconnect(() => {
    reconnections += 1;
  });
  t.ok(link.isUp());
  await server.kill();
  await eventually('the loss', () => !link.isUp() || undefined);
  await server.restart();
  await eventually('the return', () => link.isUp() || undefined);
  await link.connection.flush();
  t.equal(reconnections, 1);
  forget();
  await server.restart();
  await eventually('the return', () => link.isUp() || undefined);
  t.equal(reconnections, 1);
  await server.kill();
  await link.close();
  t.notOk(link.isUp());
  await link.close();
});

void test('work that needs the link is refused at once while it is down', async (t) => {
  const server = await startNatsServer(t);
  const link = await connectToNats(server.url, silent);
  t.teardown(() => link.close());
  t.equal(await link.ifUp(async () => 1), 1);
  const underWay = link.ifUp(() => new Promise<never>(() => {}));
  const lost = t.rejects(underWay, { message: 'The connection to NATS was lost.' });
  await server.kill();
  await lost;
  let begun = false;
  const begin = async (): Promise<void> => void (begun = true);
  await t.rejects(link.ifUp(begin), { message: 'NATS is away.' });
  t.notOk(begun);
  await server.restart();
  await eventually('the return', () =>
    link
      .ifUp(begin)
      .catch(() => {})
      .then(() => begun),
  );
});
