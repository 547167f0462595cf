/**
 * TLS and credentials, against a server that speaks both and holds nothing: a real one refuses TLS that
 * was taken off in front of it, and would need certificates when it starts.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { testDirectory } from '../support/directory.ts';
import { openEventStoreServer } from '../support/event-store-server.ts';

interface Encrypted {
  readonly place: string;
  readonly certificate: string;
  /** What each call brought as its credentials. */
  readonly authorizations: (string | undefined)[];
}

async function encrypted(t: Test): Promise<Encrypted> {
  const directory = testDirectory(t);
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, ...names];
  execFileSync('openssl', [...args, '-out', certificate], { stdio: 'pipe' });
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(certificate) });
  const authorizations: (string | undefined)[] = [];
  server.on('stream', (stream, headers) => {
    authorizations.push(headers.authorization);
    const empty = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': 0 };
    stream.respond(empty, { endStream: true });
  });
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.on('tlsClientError', () => {});
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const place = `localhost:${typeof address === 'object' ? address?.port : ''}`;
  return { place, certificate, authorizations };
}

void test('sends its credentials through TLS that it trusts', async (t) => {
  const { place, certificate, authorizations } = await encrypted(t);
  const file = encodeURIComponent(certificate);
  for (const trust of [`tlsCAFile=${file}`, 'tls=true&tlsVerifyCert=false']) {
    const store = await openEventStoreServer(`esdb://admin:ch%40ngeit@${place}?${trust}`);
    t.equal(await store.head(), 0n, trust);
    await store.close();
  }
  const basic = `Basic ${Buffer.from('admin:ch@ngeit').toString('base64')}`;
  t.strictSame(new Set(authorizations), new Set([basic]));
});

void test('refuses what it cannot trust or understand', async (t) => {
  const { place, authorizations } = await encrypted(t);
  await t.rejects(openEventStoreServer(`esdb://admin:changeit@${place}`), {
    message: /has a certificate that is not trusted: name its authority by tlsCAFile/,
  });
  await t.rejects(openEventStoreServer(`esdb://admin:changeit@${place}?tls=false`), {
    message: /that tls in EVENT_STORE_URL is as it needs\.$/,
  });
  t.strictSame(authorizations, []);
});
