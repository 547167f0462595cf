/** A timestamp authority on loopback: `openssl ts` behind HTTP, with a certificate authority of its own. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Test } from 'tap';

const run = promisify(execFile);

const CONFIG = `
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:true
[tsa]
basicConstraints = critical, CA:false
extendedKeyUsage = critical, timeStamping
[ts]
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.3.6.1.4.1.13762.3
digests = DIGESTS
ess_cert_id_alg = sha256
`;

export interface TestAuthority {
  readonly url: string;
  /** Queries so far. */
  readonly queries: readonly Buffer[];
  /** Answers instead of openssl, if set. It gets the query. */
  instead: ((query: Buffer, response: ServerResponse) => void | Promise<void>) | undefined;
  /** The certificate of its authority, a file. */
  readonly certificate: string;
  /** The answer that openssl gives to a query. */
  reply(query: Buffer): Promise<Buffer>;
  /** Verifies a token of a text with `openssl ts -verify`. @throws {Error} with what openssl says */
  verify(text: string, token: Buffer): Promise<void>;
}

/** @param digests those that it takes, by openssl's names */
export async function startTimestampAuthority(t: Test, digests = 'sha256'): Promise<TestAuthority> {
  const directory = await mkdtemp(join(tmpdir(), 'pressledger-tsa-'));
  await writeFile(join(directory, 'ts.cnf'), CONFIG.replace('DIGESTS', digests));
  await writeFile(join(directory, 'serial'), '01');
  /** @param line its arguments, which have no spaces */
  const openssl = async (line: string): Promise<Buffer> => {
    const options = { cwd: directory, encoding: 'buffer' } as const;
    return (await run('openssl', line.split(' '), options)).stdout;
  };
  const newCertificate = (name: string, issuer = '') =>
    openssl(
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config ts.cnf ' +
        `-keyout ${name}.key -out ${name}.pem -subj /CN=test-${name} -extensions ${name}${issuer}`,
    );
  await newCertificate('ca');
  await newCertificate('tsa', ' -CA ca.pem -CAkey ca.key');
  let files = 0;
  const file = async (content: Buffer | string): Promise<string> => {
    const name = `file-${(files += 1)}`;
    await writeFile(join(directory, name), content);
    return name;
  };

  const queries: Buffer[] = [];
  const authority: TestAuthority = {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsr`;
    },
    queries,
    instead: undefined,
    certificate: join(directory, 'ca.pem'),
    reply: async (query) =>
      openssl(
        `ts -reply -config ts.cnf -section ts -queryfile ${await file(query)} ` +
          '-signer tsa.pem -inkey tsa.key -chain ca.pem',
      ),
    verify: async (text, token) => {
      const input = `-data ${await file(text)} -in ${await file(token)} -token_in`;
      await openssl(`ts -verify ${input} -CAfile ca.pem`);
    },
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const query = await buffer(request);
    queries.push(query);
    if (authority.instead) return await authority.instead(query, response);
    response.setHeader('content-type', 'application/timestamp-reply');
    response.end(await authority.reply(query));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true, maxRetries: 5 });
  });
  return authority;
}
