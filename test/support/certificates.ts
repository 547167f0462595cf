/** Certificates with their keys as PKCS#12 files, made by openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

export const P12_PASSWORD = 'geheim und lang: äöü';

export interface Signer {
  /** The PKCS#12 file, under `P12_PASSWORD`: the certificate, its key and the certificate authority. */
  readonly p12: Buffer;
  /** The certificate of the authority that issued it, PEM. */
  readonly authority: string;
  readonly directory: string;
}

const KEYS = {
  rsa2048: 'rsa:2048',
  rsa1024: 'rsa:1024',
  p256: 'ec -pkeyopt ec_paramgen_curve:P-256',
  p384: 'ec -pkeyopt ec_paramgen_curve:P-384',
  ed25519: 'ed25519',
} as const;

interface SignerOptions {
  readonly key?: keyof typeof KEYS;
  readonly days?: number;
  readonly usage?: string;
  /** More options of `openssl pkcs12 -export`. */
  readonly export?: readonly string[];
}

export function makeSigner(t: Test, options: SignerOptions = {}): Signer {
  const directory = mkdtempSync(join(tmpdir(), 'pressledger-certificate-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const p12 = makeP12(directory, options);
  return { p12, authority: join(directory, 'ca.pem'), directory };
}

/** Makes a PKCS#12 file under `P12_PASSWORD`, and what it is made of, in the directory. */
export function makeP12(
  directory: string,
  { key = 'p256', days = 30, usage = 'digitalSignature', export: more = [] }: SignerOptions = {},
): Buffer {
  const openssl = (line: string, ...args: readonly string[]) =>
    execFileSync('openssl', [...line.split(' '), ...args], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const request = 'req -x509 -nodes -utf8 -newkey';
  openssl(
    `${request} ${KEYS.p256} -keyout ca.key -out ca.pem -addext keyUsage=critical,keyCertSign`,
    '-subj',
    '/CN=Test CA',
  );
  openssl(
    `${request} ${KEYS[key]} -keyout own.key -out own.pem -CA ca.pem -CAkey ca.key -days ${days}` +
      ` -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,${usage}`,
    '-subj',
    '/C=DE/O=Müller GmbH/CN=Ada Lovelace',
  );
  openssl(
    'pkcs12 -export -inkey own.key -in own.pem -certfile ca.pem -out own.p12 -passout',
    `pass:${P12_PASSWORD}`,
    ...more,
  );
  return readFileSync(join(directory, 'own.p12'));
}
