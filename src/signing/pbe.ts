/** Password-based encryption as PKCS#12 files have it: that of PKCS#12 itself (RFC 7292, appendix B and C), and PBES2 (RFC 8018). */
import { createDecipheriv, createHash, hash as hashed, pbkdf2 } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Integer, ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import type { AlgorithmIdentifier } from 'pkijs';
import { decryptRc2 } from './rc2.ts';

/** What is wrong with a file or its password, for the person who gave it. */
export class UnreadableKey extends Error {
  override readonly name = 'UnreadableKey';
}

/** More than programs use for a whole file. One that asks for more would keep the service busy. */
const MAX_ROUNDS = 1_000_000;
/** Of the derivation of PKCS#12, which takes this thread. The files of Java 11 take 350,000: three keys in 50,000 or 100,000 each. */
const MAX_OLD_ROUNDS = 400_000;
/** Others have their turn in between. */
const SLICE = 2_000;

const HASHES: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const PRFS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const CIPHERS: Readonly<Record<string, readonly [name: string, keyBytes: number]>> = {
  '2.16.840.1.101.3.4.1.2': ['aes-128-cbc', 16],
  '2.16.840.1.101.3.4.1.22': ['aes-192-cbc', 24],
  '2.16.840.1.101.3.4.1.42': ['aes-256-cbc', 32],
  '1.2.840.113549.3.7': ['des-ede3-cbc', 24],
};
const PBES2 = '1.2.840.113549.1.5.13';
const PBKDF2 = '1.2.840.113549.1.5.12';
/** Those of PKCS#12 itself. */
const OLD: Readonly<Record<string, readonly [name: string, keyBytes: number]>> = {
  '1.2.840.113549.1.12.1.3': ['des-ede3-cbc', 24],
  '1.2.840.113549.1.12.1.5': ['rc2', 16],
  '1.2.840.113549.1.12.1.6': ['rc2', 5],
};

const notRead = (what: string): UnreadableKey =>
  new UnreadableKey(
    `The file uses ${what}, which is not read here. Write it again with AES: openssl pkcs12 -in OLD.p12 -nodes -legacy | openssl pkcs12 -export -out NEW.p12.`,
  );

export const hashOf = (oid: string): string => {
  const hash = HASHES[oid];
  if (hash === undefined) throw notRead(`the hash algorithm ${oid}`);
  return hash;
};

const bytesOf = (value: unknown): Buffer => {
  if (!(value instanceof OctetString)) throw notRead('parameters of an unknown form');
  return Buffer.from(value.getValue());
};

/** Bytes of a digest. */
export const digestBytes = (hash: string): number => hashed(hash, '', 'buffer').length;

/** The rounds of hashing that the keys of one file may take together. */
export class Rounds {
  readonly #left: Record<'all' | 'old', number> = { all: MAX_ROUNDS, old: MAX_OLD_ROUNDS };

  /**
   * @param blocks of the derived bytes: each takes all rounds
   * @throws {UnreadableKey} they are too many
   */
  take(value: unknown, blocks: number, derivation: 'all' | 'old'): number {
    const count = value instanceof Integer ? Number(value.toBigInt()) : Number(value);
    if (!Number.isInteger(count) || count < 1) throw notRead('parameters of an unknown form');
    this.#left[derivation] -= count * blocks;
    if (this.#left[derivation] >= 0) return count;
    const most = derivation === 'old' ? MAX_OLD_ROUNDS : MAX_ROUNDS;
    throw new UnreadableKey(
      `The file derives its keys in more than ${most} rounds. Write it again with fewer.`,
    );
  }
}

const itemsOf = (value: unknown): readonly unknown[] => {
  if (!(value instanceof Sequence)) throw notRead('parameters of an unknown form');
  return value.valueBlock.value;
};

/**
 * @param iterations what the file says
 * @param purpose 1 for a key, 2 for an initialization vector, 3 for a MAC's key
 * @throws {UnreadableKey}
 */
export async function derivePkcs12(
  hash: string,
  password: string,
  salt: Buffer,
  iterations: unknown,
  purpose: 1 | 2 | 3,
  length: number,
  allowed: Rounds,
): Promise<Buffer> {
  const rounds = allowed.take(iterations, Math.ceil(length / digestBytes(hash)), 'old');
  const block = hash === 'sha384' || hash === 'sha512' ? 128 : 64;
  const repeated = (bytes: Buffer): Buffer =>
    bytes.length === 0 ? bytes : Buffer.alloc(block * Math.ceil(bytes.length / block), bytes);
  const secret = Buffer.from(`${password}\0`, 'utf16le').swap16();
  const input = Buffer.concat([repeated(salt), repeated(secret)]);
  const diversifier = Buffer.alloc(block, purpose);
  const derived: Buffer[] = [];
  for (let size = 0; size < length; ) {
    let digest = createHash(hash).update(diversifier).update(input).digest();
    for (let round = 1; round < rounds; round += 1) {
      digest = createHash(hash).update(digest).digest();
      if (round % SLICE === 0) await turn();
    }
    derived.push(digest);
    size += digest.length;
    const added = BigInt(`0x${Buffer.alloc(block, digest).toString('hex')}`) + 1n;
    for (let at = 0; at < input.length; at += block) {
      const sum = BigInt(`0x${input.toString('hex', at, at + block)}`) + added;
      const hex = sum
        .toString(16)
        .padStart(2 * block, '0')
        .slice(-2 * block);
      input.write(hex, at, block, 'hex');
    }
  }
  return Buffer.concat(derived).subarray(0, length);
}

function withoutPadding(content: Buffer): Buffer {
  const last = content.at(-1) ?? 0;
  if (last < 1 || last > 8) throw new Error('the padding is wrong');
  return content.subarray(0, content.length - last);
}

function decipher(name: string, key: Buffer, iv: Buffer, encrypted: Buffer): Buffer {
  if (name === 'rc2') return withoutPadding(decryptRc2(encrypted, key, iv));
  const cipher = createDecipheriv(name, key, iv);
  return Buffer.concat([cipher.update(encrypted), cipher.final()]);
}

const derivePbkdf2 = promisify(pbkdf2);

const oid = (value: unknown): string =>
  value instanceof ObjectIdentifier ? value.valueBlock.toString() : 'unknown';

async function decryptPbes2(
  params: unknown,
  encrypted: Buffer,
  password: string,
  rounds: Rounds,
): Promise<Buffer> {
  const [derivation, encryption] = itemsOf(params).map(itemsOf);
  if (oid(derivation?.[0]) !== PBKDF2) throw notRead(`the key derivation ${oid(derivation?.[0])}`);
  const [salt, iterations, ...rest] = itemsOf(derivation?.[1]);
  const prf = rest.find((each) => each instanceof Sequence);
  const prfOid = prf === undefined ? '1.2.840.113549.2.7' : oid(itemsOf(prf)[0]);
  const hash = PRFS[prfOid];
  const cipherOid = oid(encryption?.[0]);
  const [name, keyBytes] = CIPHERS[cipherOid] ?? [];
  if (hash === undefined) throw notRead(`the key derivation with ${prfOid}`);
  if (name === undefined || keyBytes === undefined) throw notRead(`the cipher ${cipherOid}`);
  const count = rounds.take(iterations, Math.ceil(keyBytes / digestBytes(hash)), 'all');
  const key = await derivePbkdf2(password, bytesOf(salt), count, keyBytes, hash);
  return decipher(name, key, bytesOf(encryption?.[1]), encrypted);
}

/** @throws {UnreadableKey} */
export async function decryptWithPassword(
  { algorithmId, algorithmParams }: AlgorithmIdentifier,
  encrypted: Buffer,
  password: string,
  rounds: Rounds,
): Promise<Buffer> {
  if (algorithmId === PBES2) {
    return await decryptPbes2(algorithmParams, encrypted, password, rounds);
  }
  const [name, keyBytes] = OLD[algorithmId] ?? [];
  if (name === undefined || keyBytes === undefined) throw notRead(`the cipher ${algorithmId}`);
  const [salt, iterations] = itemsOf(algorithmParams);
  const derive = (purpose: 1 | 2, length: number): Promise<Buffer> =>
    derivePkcs12('sha1', password, bytesOf(salt), iterations, purpose, length, rounds);
  return decipher(name, await derive(1, keyBytes), await derive(2, 8), encrypted);
}
