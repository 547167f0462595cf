/** CMS signatures (RFC 5652) of a PDF's bytes, as PAdES has them: baseline B-B, and B-T with a timestamp (ETSI EN 319 142-1). */
import { createHash, sign } from 'node:crypto';
import { fromBER, type Sequence } from 'asn1js';
import type { Identity } from './identity.ts';

const OID = {
  data: '06092a864886f70d010701',
  signedData: '06092a864886f70d010702',
  contentType: '06092a864886f70d010903',
  messageDigest: '06092a864886f70d010904',
  signingCertificateV2: '060b2a864886f70d010910022f',
  timestamp: '060b2a864886f70d010910020e',
  sha256: '0609608648016503040201',
  sha256WithRsa: '06092a864886f70d01010b0500',
  sha256WithEcdsa: '06082a8648ce3d040302',
} as const;
const oid = (name: keyof typeof OID): Buffer => Buffer.from(OID[name], 'hex');

const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const SEQUENCE = 0x30;
const SET = 0x31;
const constructed = (n: number): number => 0xa0 + n;

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
/** DER orders what a set holds. */
const setOf = (tag: number, ...items: readonly Buffer[]): Buffer =>
  der(tag, ...items.toSorted((a, b) => a.compare(b)));
const attribute = (name: keyof typeof OID, value: Buffer): Buffer =>
  der(SEQUENCE, oid(name), der(SET, value));

/** Issuer and serial number, as the certificate has them. */
function issuerAndSerial(certificate: Buffer): Buffer {
  const { result } = fromBER(new Uint8Array(certificate).buffer);
  const [body] = (result as Sequence).valueBlock.value as Sequence[];
  const fields = body?.valueBlock.value ?? [];
  // A version is not in certificates of the first one.
  const serialAt = fields[0]?.idBlock.tagClass === 3 ? 1 : 0;
  const raw = [fields[serialAt + 2], fields[serialAt]].map((each) =>
    Buffer.from(each?.valueBeforeDecodeView ?? new Uint8Array()),
  );
  return der(SEQUENCE, ...raw);
}

/**
 * @param digest SHA-256 of what is signed
 * @param timestamp gets a token of RFC 3161, DER, for the SHA-256 of some bytes
 * @returns a `ContentInfo`, DER
 */
export async function signDigest(
  { key, certificates }: Identity,
  digest: Buffer,
  timestamp?: (bytes: Buffer) => Promise<Buffer>,
): Promise<Buffer> {
  const own = certificates[0] ?? Buffer.alloc(0);
  const hash = createHash('sha256').update(own).digest();
  const attributes = [
    attribute('contentType', oid('data')),
    attribute('messageDigest', der(OCTET_STRING, digest)),
    // Its hash algorithm is SHA-256 where it names none (RFC 5035).
    attribute(
      'signingCertificateV2',
      der(SEQUENCE, der(SEQUENCE, der(SEQUENCE, der(OCTET_STRING, hash)))),
    ),
  ];
  // They are signed as a set, and stored under another tag (RFC 5652, 5.4).
  const signature = sign('sha256', setOf(SET, ...attributes), key);
  const token = await timestamp?.(signature);
  const isRsa = key.asymmetricKeyType === 'rsa';
  const sha256 = der(SEQUENCE, oid('sha256'));
  const one = der(INTEGER, Buffer.from([1]));
  const signer = der(
    SEQUENCE,
    one,
    issuerAndSerial(own),
    sha256,
    setOf(constructed(0), ...attributes),
    der(SEQUENCE, oid(isRsa ? 'sha256WithRsa' : 'sha256WithEcdsa')),
    der(OCTET_STRING, signature),
    ...(token === undefined ? [] : [der(constructed(1), attribute('timestamp', token))]),
  );
  const signed = der(
    SEQUENCE,
    one,
    der(SET, sha256),
    der(SEQUENCE, oid('data')),
    setOf(constructed(0), ...certificates),
    der(SET, signer),
  );
  return der(SEQUENCE, oid('signedData'), der(constructed(0), signed));
}
