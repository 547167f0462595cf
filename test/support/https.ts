/** An https server with a certificate of its own, and a Chrome that trusts that certificate alone. */
import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installedChrome } from './renderer.ts';

export interface HttpsServer {
  readonly port: number;
  /** A program that starts Chrome so that it takes this server's certificate; production knows no such flag. */
  chrome(...flags: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** For `localhost` and 127.0.0.1, which are two sites. */
export async function startHttpsServer(listener: RequestListener): Promise<HttpsServer> {
  const directory = await mkdtemp(join(tmpdir(), 'pressledger-https-'));
  const file = (name: string): string => join(directory, name);
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const newKey = ['-newkey', 'rsa:2048', '-nodes', '-keyout', file('key')];
  execFileSync(
    'openssl',
    ['req', '-x509', ...newKey, '-out', file('cert'), '-subj', '/CN=localhost', '-addext', names],
    { stdio: 'pipe' },
  );
  const cert = await readFile(file('cert'));
  const server = createServer({ cert, key: await readFile(file('key')) }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicKey = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  const trusted = createHash('sha256').update(publicKey).digest('base64');
  return {
    port: (server.address() as AddressInfo).port,
    chrome: async (...flags) => {
      const program = file(`chrome-${flags.length}`);
      const trust = `--ignore-certificate-errors-spki-list=${trusted}`;
      const command = [await installedChrome(), trust, ...flags].join(' ');
      await writeFile(program, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
      return program;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await rm(directory, { recursive: true });
    },
  };
}
