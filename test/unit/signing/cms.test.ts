import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { createTimestampAuthority } from '../../../src/log/attestation/timestamp-client.ts';
import { signDigest } from '../../../src/signing/cms.ts';
import { openPkcs12 } from '../../../src/signing/identity.ts';
import { makeSigner, P12_PASSWORD } from '../../support/certificates.ts';
import { startTimestampAuthority } from '../../support/timestamp-authority.ts';

const CONTENT = Buffer.from('the bytes that are signed');
const digest = createHash('sha256').update(CONTENT).digest();

void test('openssl verifies the signature of each kind of key', async (t) => {
  for (const key of ['rsa2048', 'p256', 'p384'] as const) {
    const { p12, authority, directory } = makeSigner(t, { key });
    const cms = await signDigest(await openPkcs12(p12, P12_PASSWORD), digest);
    writeFileSync(join(directory, 'cms.der'), cms);
    writeFileSync(join(directory, 'content'), CONTENT);
    const check = ['-verify', '-binary', '-cades', '-inform', 'DER', '-in', 'cms.der'];
    const trust = ['-content', 'content', '-CAfile', authority, '-purpose', 'any'];
    const verified = () =>
      execFileSync('openssl', ['cms', ...check, ...trust], {
        cwd: directory,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    t.strictSame(verified(), CONTENT, key);
    writeFileSync(join(directory, 'content'), 'other bytes');
    t.throws(verified, key);
  }
});

void test('it names no signing time, and what is timestamped is the signature', async (t) => {
  const authority = await startTimestampAuthority(t);
  const { p12 } = makeSigner(t);
  const identity = await openPkcs12(p12, P12_PASSWORD);
  const client = createTimestampAuthority(authority.url);
  let stamped: Buffer = Buffer.alloc(0);
  const cms = await signDigest(identity, digest, async (bytes) => {
    stamped = bytes;
    return await client.timestamp(bytes, AbortSignal.timeout(60_000));
  });
  const signingTime = Buffer.from('06092a864886f70d010905', 'hex');
  const ofTheSigner = cms.subarray(0, cms.indexOf(stamped));
  t.notOk(ofTheSigner.includes(signingTime));
  t.ok(cms.includes(Buffer.from('060b2a864886f70d010910020e', 'hex')), 'it has a timestamp');
});
