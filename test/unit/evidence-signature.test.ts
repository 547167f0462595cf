import { test } from 'tap';
import { digestAround, fillSignature } from '../../src/pdf/signature.ts';
import { signDigest } from '../../src/signing/cms.ts';
import { type Identity, openPkcs12 } from '../../src/signing/identity.ts';
import { mustBearSignature, mustBeSignedAsAsked } from '../../verifier/verify-evidence.mjs';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { pdfToSign } from '../support/signed-pdf.ts';

const signature = { level: 'B-B', certificate: 'c' };

const check = (asked: object, ended: object, made?: object) => () => {
  mustBeSignedAsAsked('events.jsonl', [
    { type: 'ConversionRequested', data: asked },
    ...(made === undefined ? [] : [{ type: 'SignatureMade', data: made }]),
    { type: 'ConversionCompleted', data: { attempt: 2, ...ended } },
  ]);
};

void test('evidence of a PDF has the signature that its request asks for, made for its try', (t) => {
  const asked = { signedBy: 'account' };
  const made = { attempt: 2, ...signature };
  t.doesNotThrow(check({}, {}));
  t.doesNotThrow(check(asked, { signature }, made));
  t.throws(check({}, { signature }, made), { message: /is signed/ }, 'nobody asked for it');
  t.throws(check(asked, {}, made), { message: /is signed/ }, 'it lacks');
  t.throws(check(asked, { signature }), { message: /made for its try/ }, 'nobody made it');
  for (const other of [{ attempt: 1 }, { level: 'B-T' }, { certificate: 'd' }]) {
    const wrong = check(asked, { signature }, { ...made, ...other });
    t.throws(wrong, { message: /made for its try/ }, JSON.stringify(other));
  }
  t.end();
});

async function signedBy(identity: Identity, said = 'a contract') {
  const { pdf, ...place } = pdfToSign(said);
  const digest = digestAround(pdf, place);
  fillSignature(pdf, place, await signDigest(identity, digest));
  return { pdf, place, digest: digest.toString('hex') };
}

/** The events of a PDF that is signed, at its second try. */
const events = (certificate: string, ...digests: readonly string[]) => {
  const facts = { level: 'B-B', certificate };
  return [
    ...digests.map((digest) => ({
      type: 'SignatureMade',
      data: { attempt: 2, digest, ...facts },
    })),
    { type: 'ConversionCompleted', data: { attempt: 2, signature: facts } },
  ];
};

void test('a PDF at hand has the signature that the log names, of exactly its bytes', async (t) => {
  const keys = ['p256', 'p384', 'rsa2048'] as const;
  const identities = await Promise.all(
    keys.map((key) => openPkcs12(makeSigner(t, { key }).p12, P12_PASSWORD)),
  );
  const [own, other] = identities;
  if (own === undefined || other === undefined) throw new Error('no identities');
  for (const [n, identity] of identities.entries()) {
    const { pdf, digest } = await signedBy(identity);
    const made = events(identity.sha256, 'f'.repeat(64), digest);
    await t.resolves(mustBearSignature('a.pdf', pdf, made), keys[n] ?? '');
  }
  const { pdf, place, digest } = await signedBy(own);
  const made = events(own.sha256, digest);
  const refuses = async (what: string, given: Buffer, of: string, log = made) => {
    const message = new RegExp(`^a\\.pdf, ${of}: expected \\S+, found \\S+$`);
    await t.rejects(mustBearSignature('a.pdf', given, log), { message }, what);
  };

  const changed = Buffer.from(pdf);
  changed.write('A', place.from - 60, 'latin1');
  await refuses(
    'a byte that was changed',
    changed,
    'SHA-256 of the bytes that its signature is of',
  );
  const longer = Buffer.concat([pdf, Buffer.from('more')]);
  await refuses('bytes behind what is signed', longer, 'has a signature of the whole file');
  await refuses(
    'no signature',
    Buffer.from('%PDF-1.7\n%%EOF\n'),
    'has a signature of the whole file',
  );

  const replaced = async (cms: Buffer): Promise<Buffer> => {
    const content = Buffer.from(pdf);
    fillSignature(content, place, cms);
    return content;
  };
  const hash = Buffer.from(digest, 'hex');
  const foreign = await replaced(await signDigest(other, hash));
  await refuses('another signer', foreign, 'certificate of its signature');
  const ofOther = await replaced(await signDigest(own, Buffer.alloc(32, 7)));
  await refuses('a signature of other bytes', ofOther, 'SHA-256 that its signature says');
  await refuses('no CMS', await replaced(Buffer.from('not CMS')), 'signature that can be read');
  const cms = await signDigest(own, hash);
  // The last bytes are those of the number that was signed.
  cms[cms.length - 1] = (cms.at(-1) ?? 0) ^ 1;
  await refuses('a signature that does not hold', await replaced(cms), 'signature that holds');
  // The certificate of the log beside another signer's key.
  const borrowed = { ...other, certificates: own.certificates };
  const forged = await replaced(await signDigest(borrowed, hash));
  await refuses('the certificate without its key', forged, 'signature that holds');
  await refuses(
    'a document of another try',
    pdf,
    'SHA-256 of the bytes that its signature is of',
    events(own.sha256, '0'.repeat(64)),
  );
  await t.resolves(
    mustBearSignature('a.pdf', changed, [{ type: 'ConversionCompleted', data: {} }]),
  );
});
