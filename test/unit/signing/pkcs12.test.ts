import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBER, OctetString } from 'asn1js';
import { PFX } from 'pkijs';
import { test } from 'tap';
import {
  identityOf,
  identityOfText,
  identityText,
  openPkcs12,
} from '../../../src/signing/identity.ts';
import { invalidAt } from '../../../src/domain/signature.ts';
import { decryptRc2 } from '../../../src/signing/rc2.ts';
import { makeSigner, P12_PASSWORD } from '../../support/certificates.ts';

void test('RC2 gives the plain texts of RFC 2268', (t) => {
  for (const [key, plain, cipher] of [
    ['ffffffffffffffff', 'ffffffffffffffff', '278b27e42e2f0d49'],
    ['3000000000000000', '1000000000000001', '30649edf9be7d2c2'],
    ['88bca90e90875a7f0f79c384627bafb2', '0000000000000000', '2269552ab0f85ca6'],
  ] as const) {
    const [bytes, iv] = [Buffer.from(cipher, 'hex'), Buffer.alloc(8)];
    t.equal(decryptRc2(bytes, Buffer.from(key, 'hex'), iv).toString('hex'), plain);
  }
  t.end();
});

const FORMS = {
  'new, with AES-256': { export: [] },
  'old, with RC2 of 40 bits and 3DES': { export: ['-legacy'] },
  'old, with RC2 of 128 bits': { export: ['-legacy', '-certpbe', 'PBE-SHA1-RC2-128'] },
  '3DES alone': { export: ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES'] },
  'AES-128 with a MAC of SHA-512': {
    export: ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-192-CBC', '-macalg', 'sha512'],
  },
  'without a MAC': { export: ['-nomac'] },
  'not encrypted': { export: ['-keypbe', 'NONE', '-certpbe', 'NONE'] },
} as const;

void test('files of every usual encryption are read', async (t) => {
  for (const [form, options] of Object.entries(FORMS)) {
    const { p12, directory } = makeSigner(t, options);
    const identity = await openPkcs12(p12, P12_PASSWORD);
    const own = new X509Certificate(readFileSync(join(directory, 'own.pem')));
    t.strictSame(identity.certificates, [own.raw], `${form}: the root is left out`);
    t.ok(own.checkPrivateKey(identity.key), form);
  }
});

void test('what is said of a certificate', async (t) => {
  const { p12 } = makeSigner(t);
  const identity = await openPkcs12(p12, P12_PASSWORD);
  t.match(identity, { subject: 'CN=Ada Lovelace, O=Müller GmbH, C=DE', issuer: 'CN=Test CA' });
  t.match(identity.sha256, /^[0-9a-f]{64}$/);
  const { key, ...rest } = identityOfText(identityText(identity));
  const { key: same, ...all } = identity;
  t.strictSame(rest, all);
  t.ok(key.equals(same));
  const { notBefore, notAfter } = identity;
  t.equal(notAfter - notBefore, 30 * 86_400_000);
  t.equal(invalidAt(identity, notAfter), undefined);
  t.match(invalidAt(identity, notAfter + 1), /^The certificate expired on \d{4}-\d\d-\d\d\.$/);
  t.match(invalidAt(identity, notBefore - 1), /is not valid before/);
});

const OLD = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES'] as const;
const REFUSED = [
  ['another cipher', { export: ['-legacy', '-certpbe', 'PBE-SHA1-RC4-128'] }, /cipher .* not read/],
  ['too many rounds', { export: ['-iter', '1000001', '-nomac'] }, /more than 1000000 rounds/],
  ['too many for its MAC', { export: ['-iter', '400001'] }, /more than 400000 rounds/],
  // A key of 24 bytes takes two blocks of SHA-1.
  [
    'too many for a block each',
    { export: ['-iter', '150000', '-nomac', ...OLD] },
    /more than 400000 rounds/,
  ],
  ['a small key', { key: 'rsa1024' }, /The key is RSA of 1024 bits\. Use RSA of 2048/],
  ['another kind of key', { key: 'ed25519' }, /The key is ed25519\. Use RSA/],
  ['another purpose', { usage: 'keyAgreement' }, /not for signatures/],
  ['no certificate', { export: ['-nocerts'] }, /no certificate/],
  ['no key', { export: ['-nokeys'] }, /no private key/],
] as const;

void test('a file that cannot be used is refused with its reason', async (t) => {
  for (const [what, options, message] of REFUSED) {
    const { p12 } = makeSigner(t, options);
    const refused = { name: 'UnreadableKey', message };
    await t.rejects(openPkcs12(p12, P12_PASSWORD), refused, what);
  }
  for (const form of [[], ['-nomac'], ['-legacy']]) {
    const { p12 } = makeSigner(t, { export: form });
    const refused = { name: 'UnreadableKey', message: /password does not open/ };
    await t.rejects(openPkcs12(p12, 'x'), refused, `a wrong password, ${form.join()}`);
  }
});

void test('what is not a PKCS#12 file, or is damaged, is refused', async (t) => {
  const refused = { name: 'UnreadableKey' };
  await t.rejects(openPkcs12(Buffer.from('no'), ''), { ...refused, message: /not a PKCS#12/ });
  await t.rejects(openPkcs12(Buffer.alloc(50_000), ''), { ...refused, message: /more than/ });
  const { p12 } = makeSigner(t);
  for (let at = 0; at < p12.length; at += 37) {
    const damaged = Buffer.from(p12);
    damaged[at] = (damaged[at] ?? 0) ^ 0xff;
    try {
      await openPkcs12(damaged, P12_PASSWORD);
    } catch (error) {
      t.match(error, refused, `a damaged byte ${at}`);
    }
  }
});

void test('a MAC of another length is refused without deriving a key of that length', async (t) => {
  const { p12 } = makeSigner(t);
  const { result } = fromBER(new Uint8Array(p12).buffer);
  const pfx = new PFX({ schema: result });
  if (pfx.macData === undefined) throw new Error('the file has no MAC');
  pfx.macData.iterations = 100_000;
  pfx.macData.mac.digest = new OctetString({ valueHex: new Uint8Array(40_000).buffer });
  const long = Buffer.from(pfx.toSchema().toBER());
  const refused = { name: 'UnreadableKey', message: /its MAC has 40000 bytes instead of/ };
  await t.rejects(openPkcs12(long, P12_PASSWORD), refused);
});

void test('a file with as many rounds as those of Java 11 is read', async (t) => {
  const { p12 } = makeSigner(t, { export: ['-iter', '58000', '-legacy'] });
  t.match(await openPkcs12(p12, P12_PASSWORD), { issuer: 'CN=Test CA' });
});

void test('of several certificates of the key, the one that is valid longest signs', async (t) => {
  const { p12, directory } = makeSigner(t);
  const { key, certificates, notAfter } = await openPkcs12(p12, P12_PASSWORD);
  const renew = 'req -x509 -key own.key -subj /CN=Renewed -days 60 -outform DER';
  const renewed = execFileSync('openssl', renew.split(' '), { cwd: directory, stdio: 'pipe' });
  const keys = [key.export({ format: 'der', type: 'pkcs8' })];
  for (const all of [
    [...certificates, renewed],
    [renewed, ...certificates],
  ]) {
    const identity = identityOf({ keys, certificates: all });
    t.equal(identity.subject, 'CN=Renewed');
    t.ok(identity.notAfter > notAfter);
  }
});
