/** A certificate with its private key, that PDFs are signed with. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { BitString, fromBER } from 'asn1js';
import { Certificate } from 'pkijs';
import { type Pkcs12, readPkcs12, UnreadableKey } from './pkcs12.ts';

export interface Identity {
  readonly key: KeyObject;
  /** DER: the key's own first, then those of its issuers, as far as they are known, without the root. */
  readonly certificates: readonly Buffer[];
  /** Distinguished names in one line. */
  readonly subject: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** SHA-256 of its certificate, hex. */
  readonly sha256: string;
}

/** A signature must fit into the room that a PDF leaves for it. */
const MAX_CERTIFICATES_BYTES = 7 * 1024;
const CURVES: ReadonlySet<unknown> = new Set(['prime256v1', 'secp384r1']);
const KEY_USAGE = '2.5.29.15';
/** digitalSignature and nonRepudiation, the first bits. */
const SIGNS = 0b1100_0000;

const nameLine = (lines: string): string => lines.split('\n').toReversed().join(', ');

const opened = (pkcs8: Buffer): KeyObject =>
  createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });

/** @throws {UnreadableKey} */
function keyOf(pkcs8: Buffer): KeyObject {
  let key: KeyObject;
  try {
    key = opened(pkcs8);
  } catch (cause) {
    throw new UnreadableKey('The private key of the file cannot be read.', { cause });
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} } =
    key;
  const isUsable =
    type === 'rsa'
      ? modulusLength >= 2048 && modulusLength <= 4096
      : type === 'ec' && CURVES.has(namedCurve);
  if (isUsable) return key;
  const found =
    type === 'rsa' ? `RSA of ${modulusLength} bits` : `${type} ${namedCurve ?? ''}`.trim();
  throw new UnreadableKey(
    `The key is ${found}. Use RSA of 2048 to 4096 bits, or ECDSA with P-256 or P-384.`,
  );
}

function maySign(certificate: Buffer): boolean {
  const { result: schema } = fromBER(new Uint8Array(certificate).buffer);
  const { extensions = [] } = new Certificate({ schema });
  const usage = extensions.find(({ extnID }) => extnID === KEY_USAGE)?.parsedValue;
  if (!(usage instanceof BitString)) return true;
  return ((usage.valueBlock.valueHexView[0] ?? 0) & SIGNS) !== 0;
}

/** The certificates from the key's own up to its root, which is left out: who verifies has it. */
function chainOf(own: X509Certificate, all: readonly X509Certificate[]): readonly Buffer[] {
  const chain = [own];
  for (let last = own; ; ) {
    const issuer = all.find((each) => !chain.includes(each) && last.checkIssued(each));
    if (issuer === undefined || issuer.checkIssued(issuer)) break;
    chain.push(issuer);
    last = issuer;
  }
  return chain.map(({ raw }) => raw);
}

const described = (
  key: KeyObject,
  own: X509Certificate,
  certificates: readonly Buffer[],
): Identity => ({
  key,
  certificates,
  subject: nameLine(own.subject),
  issuer: nameLine(own.issuer),
  notBefore: own.validFromDate.getTime(),
  notAfter: own.validToDate.getTime(),
  sha256: own.fingerprint256.replaceAll(':', '').toLowerCase(),
});

/** @throws {UnreadableKey} */
export function identityOf({ keys: [pkcs8, ...others], certificates }: Pkcs12): Identity {
  if (pkcs8 === undefined) throw new UnreadableKey('The file has no private key.');
  if (others.length > 0) {
    throw new UnreadableKey('The file has several private keys. Give one with a single key.');
  }
  const key = keyOf(pkcs8);
  try {
    const all = certificates.map((each) => new X509Certificate(each));
    // A renewed certificate may be of the same key.
    const [own] = all
      .filter((each) => each.checkPrivateKey(key))
      .toSorted((a, b) => b.validToDate.getTime() - a.validToDate.getTime());
    if (own === undefined) throw new UnreadableKey('The file has no certificate of its key.');
    if (!maySign(own.raw)) {
      throw new UnreadableKey(
        'The certificate is not for signatures: its key usage has neither digitalSignature nor nonRepudiation.',
      );
    }
    const chain = chainOf(own, all);
    const size = chain.reduce((sum, each) => sum + each.length, 0);
    if (size > MAX_CERTIFICATES_BYTES) {
      throw new UnreadableKey(
        `The certificate and those of its issuers take ${size} bytes, of at most ${MAX_CERTIFICATES_BYTES}. Leave issuers out.`,
      );
    }
    return described(key, own, chain);
  } catch (cause) {
    if (cause instanceof UnreadableKey) throw cause;
    throw new UnreadableKey('A certificate of the file cannot be read.', { cause });
  }
}

/** @throws {UnreadableKey} the message says why */
export async function openPkcs12(file: Buffer, password: string): Promise<Identity> {
  return identityOf(await readPkcs12(file, password));
}

/** The text that holds all of it: a secret. */
export const identityText = ({ key, certificates }: Identity): string =>
  JSON.stringify({
    key: key.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    certificates: certificates.map((each) => each.toString('base64')),
  });

/** @param text of `identityText`: what it holds was checked when it was written, and checking takes time for each PDF */
export function identityOfText(text: string): Identity {
  const { key, certificates } = JSON.parse(text) as {
    readonly key: string;
    readonly certificates: readonly string[];
  };
  const chain = certificates.map((each) => Buffer.from(each, 'base64'));
  return described(
    opened(Buffer.from(key, 'base64')),
    new X509Certificate(chain[0] ?? Buffer.alloc(0)),
    chain,
  );
}
