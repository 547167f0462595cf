/** Reads the key and certificates of a PKCS#12 file (RFC 7292), as OpenSSL, Java and Windows write it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AsnType, fromBER, type OctetString } from 'asn1js';
import {
  AuthenticatedSafe,
  CertBag,
  type ContentInfo,
  EncryptedData,
  PFX,
  PKCS8ShroudedKeyBag,
  PrivateKeyInfo,
  type SafeBag,
  SafeContents,
} from 'pkijs';
import {
  decryptWithPassword,
  derivePkcs12,
  digestBytes,
  hashOf,
  Rounds,
  UnreadableKey,
} from './pbe.ts';

export { UnreadableKey } from './pbe.ts';

/** No certificate with its chain takes more. */
export const MAX_PKCS12_BYTES = 45_000;
/** Certificates and keys in it. */
const MAX_BAGS = 20;

const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';

const NOT_ONE = 'This is not a PKCS#12 file (.p12 or .pfx).';
export const WRONG_PASSWORD = 'The password does not open the file.';

export interface Pkcs12 {
  /** PKCS#8, DER. */
  readonly keys: readonly Buffer[];
  /** DER. */
  readonly certificates: readonly Buffer[];
}

interface Secret {
  readonly password: string;
  readonly rounds: Rounds;
}

const buffer = (bytes: ArrayBuffer): Buffer => Buffer.from(new Uint8Array(bytes));
const octets = (value: unknown): Buffer => buffer((value as OctetString).getValue());

function read<T>(work: () => T, message = NOT_ONE): T {
  try {
    return work();
  } catch (cause) {
    throw cause instanceof UnreadableKey ? cause : new UnreadableKey(message, { cause });
  }
}

/** pkijs copies what it is given: a view of a larger memory would be read whole. */
const own = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer;

function parse(bytes: Buffer, message = NOT_ONE): AsnType {
  const { offset, result } = read(() => fromBER(own(bytes)), message);
  if (offset === -1) throw new UnreadableKey(message);
  return result;
}

/** Checks the file against its password. @throws {UnreadableKey} */
async function checkMac(
  { macData }: PFX,
  content: Buffer,
  { password, rounds }: Secret,
): Promise<void> {
  // Without one, the encryption itself tells a wrong password.
  if (macData === undefined) return;
  const { digestAlgorithm, digest } = macData.mac;
  const hash = hashOf(digestAlgorithm.algorithmId);
  const expected = octets(digest);
  const salt = octets(macData.macSalt);
  const size = digestBytes(hash);
  if (expected.length !== size) {
    const message = `The file is damaged: its MAC has ${expected.length} bytes instead of ${size}. Export it again.`;
    throw new UnreadableKey(message);
  }
  const key = await derivePkcs12(hash, password, salt, macData.iterations ?? 1, 3, size, rounds);
  const mac = createHmac(hash, key).update(content).digest();
  if (!timingSafeEqual(mac, expected)) throw new UnreadableKey(WRONG_PASSWORD);
}

async function decrypted(
  algorithm: Parameters<typeof decryptWithPassword>[0],
  content: Buffer,
  { password, rounds }: Secret,
): Promise<Buffer> {
  try {
    return await decryptWithPassword(algorithm, content, password, rounds);
  } catch (cause) {
    throw cause instanceof UnreadableKey ? cause : new UnreadableKey(WRONG_PASSWORD, { cause });
  }
}

async function bagsOf(content: ContentInfo, secret: Secret): Promise<readonly SafeBag[]> {
  let plain: Buffer;
  if (content.contentType === DATA) plain = read(() => octets(content.content));
  else if (content.contentType === ENCRYPTED_DATA) {
    const { contentEncryptionAlgorithm, getEncryptedContent } = read(() => {
      const { encryptedContentInfo: info } = new EncryptedData({ schema: content.content });
      return {
        contentEncryptionAlgorithm: info.contentEncryptionAlgorithm,
        getEncryptedContent: () => buffer(info.getEncryptedContent()),
      };
    });
    plain = await decrypted(contentEncryptionAlgorithm, read(getEncryptedContent), secret);
  } else {
    throw new UnreadableKey('The file is encrypted with a key instead of a password.');
  }
  const schema = parse(plain, WRONG_PASSWORD);
  return read(() => new SafeContents({ schema }), WRONG_PASSWORD).safeBags;
}

/** @throws {UnreadableKey} the file cannot be read; its message says why */
export async function readPkcs12(file: Buffer, password: string): Promise<Pkcs12> {
  if (file.length > MAX_PKCS12_BYTES) {
    throw new UnreadableKey(`The file has more than ${MAX_PKCS12_BYTES} bytes.`);
  }
  const schema = parse(file);
  const pfx = read(() => new PFX({ schema }));
  if (pfx.authSafe.contentType !== DATA) {
    throw new UnreadableKey('The file is signed with a key instead of a password.');
  }
  const content = read(() => octets(pfx.authSafe.content));
  const secret = { password, rounds: new Rounds() };
  await checkMac(pfx, content, secret);
  const safe = parse(content);
  const { safeContents } = read(() => new AuthenticatedSafe({ schema: safe }));
  const keys: Buffer[] = [];
  const certificates: Buffer[] = [];
  for (const each of safeContents.slice(0, MAX_BAGS)) {
    for (const { bagValue } of (await bagsOf(each, secret)).slice(0, MAX_BAGS)) {
      if (bagValue instanceof PKCS8ShroudedKeyBag) {
        const { encryptionAlgorithm, encryptedData } = bagValue;
        keys.push(await decrypted(encryptionAlgorithm, octets(encryptedData), secret));
      } else if (bagValue instanceof PrivateKeyInfo) {
        keys.push(buffer(bagValue.toSchema().toBER()));
      } else if (bagValue instanceof CertBag) {
        certificates.push(read(() => octets(bagValue.certValue)));
      }
      if (keys.length + certificates.length > MAX_BAGS) {
        throw new UnreadableKey(`The file has more than ${MAX_BAGS} keys and certificates.`);
      }
    }
  }
  return { keys, certificates };
}
