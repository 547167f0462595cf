/**
 * Signed notes (c2sp.org/signed-note): a text and the signatures of named keys, here Ed25519 ones, and
 * the cosignatures of witnesses on checkpoints (c2sp.org/tlog-cosignature). With them stand the base64 and decimal numbers
 * of the C2SP formats: one text for one value, and no other.
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';

/** The type byte of Ed25519 signatures over the text. */
const ED25519 = 0x01;
/** The type byte of Ed25519 cosignatures, which have a time. */
export const COSIGNATURE = 0x04;

const PUBLIC_KEY_SIZE = 32;
const SIGNATURE_SIZE = 64;
const KEY_ID_SIZE = 4;
const TIME_SIZE = 8;
/** Enough for every witness there may be; the standard wants at least 16. */
const MOST_SIGNATURES = 100;

export type SignatureType = typeof ED25519 | typeof COSIGNATURE;

export interface VerifierKey {
  readonly name: string;
  /** Eight hex digits. */
  readonly keyId: string;
  readonly type: SignatureType;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

export interface Signer {
  readonly name: string;
  /** 32 bytes. */
  readonly publicKey: Buffer;
  /** The Ed25519 signature of a message. */
  readonly sign: (message: Buffer) => Buffer;
}

export interface NoteSignature {
  readonly name: string;
  /** Eight hex digits. */
  readonly keyId: string;
  /** The bytes after the key's id. */
  readonly signature: Buffer;
  /** The line as it stands in the note, without its line feed. */
  readonly line: string;
}

export interface Note {
  /** The text with its last line feed. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** Says whether a key may have this name: no white space, no plus, and what a note may hold. */
export const isKeyName = (name: string): boolean =>
  name !== '' && isPlain(name) && !/[\p{White_Space}+]/u.test(name);

/** Says whether a note may hold the text: Unicode, and below U+0020 the line feed alone. */
const isPlain = (text: string): boolean =>
  text.isWellFormed() && !/[^\P{Cc}\n\x7f-\x9f]/u.test(text);

function keyIdOf(name: string, type: SignatureType, publicKey: Buffer): string {
  const key = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey]);
  return hash('sha256', key, 'hex').slice(0, 2 * KEY_ID_SIZE);
}

/** The key as verifiers take it: `name+id+key`. */
export function verifierKey(
  name: string,
  publicKey: Buffer,
  type: SignatureType = ED25519,
): string {
  if (!isKeyName(name)) throw new Error('The name of a key has no spaces and no plus.');
  if (publicKey.length !== PUBLIC_KEY_SIZE) throw new Error('An Ed25519 key has 32 bytes.');
  const material = Buffer.concat([Buffer.from([type]), publicKey]).toString('base64');
  return `${name}+${keyIdOf(name, type, publicKey)}+${material}`;
}

/** @throws {Error} it is not a verifier key, or not of a type that this module verifies */
export function parseVerifierKey(text: string): VerifierKey {
  const [, name, keyId, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/s.exec(text) ?? [];
  const material = encoded === undefined ? undefined : fromBase64(encoded);
  if (!name || !keyId || !material || !isKeyName(name)) {
    throw new Error('A verifier key has the form name+id+key, with 8 hex digits and base64.');
  }
  const [type] = material;
  const publicKey = material.subarray(1);
  if (type !== ED25519 && type !== COSIGNATURE) {
    throw new Error(`The verifier key ${name}+${keyId} is not an Ed25519 key.`);
  }
  if (publicKey.length !== PUBLIC_KEY_SIZE || keyIdOf(name, type, publicKey) !== keyId) {
    throw new Error(`The id of the verifier key ${name}+${keyId} does not fit its key.`);
  }
  return { name, keyId, type, publicKey };
}

/** Signs under a name with an Ed25519 private key. */
export function ed25519Signer(name: string, secret: KeyObject): Signer {
  const { x = '' } = createPublicKey(secret).export({ format: 'jwk' });
  return {
    name,
    publicKey: Buffer.from(x, 'base64url'),
    sign: (message) => sign(null, message, secret),
  };
}

/** @throws {Error} the text can be in no note */
export function signNote(text: string, signers: readonly Signer[]): string {
  if (!text.endsWith('\n') || !isPlain(text)) {
    throw new Error('The text of a note ends with a line feed and has no control characters.');
  }
  const message = Buffer.from(text);
  const lines = signers.map((signer) => {
    const { name, publicKey } = signer;
    const { keyId } = parseVerifierKey(verifierKey(name, publicKey));
    return signatureLine(name, keyId, signer.sign(message));
  });
  return `${text}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** A line of a note, without its line feed. */
export function signatureLine(name: string, keyId: string, signature: Buffer): string {
  const bytes = Buffer.concat([Buffer.from(keyId, 'hex'), signature]);
  return `— ${name} ${bytes.toString('base64')}`;
}

/**
 * Takes a note apart. Nothing is verified.
 * @throws {Error} it is not a signed note
 */
export function openNote(note: string): Note {
  if (!isPlain(note)) throw new Error('The note has control characters or is not UTF-8.');
  const end = note.lastIndexOf('\n\n');
  const lines = note.slice(end + 2).split('\n');
  if (end < 0 || lines.pop() !== '') throw new Error('The note has no lines of signatures.');
  if (lines.length === 0) throw new Error('The note has no signature.');
  if (lines.length > MOST_SIGNATURES) {
    throw new Error(`The note has more than ${MOST_SIGNATURES} signatures.`);
  }
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): NoteSignature {
  const [, name, encoded] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
  const bytes = encoded === undefined ? undefined : fromBase64(encoded);
  if (!name || !isKeyName(name) || !bytes || bytes.length <= KEY_ID_SIZE) {
    throw new Error('A line of a signature in the note is malformed.');
  }
  const keyId = bytes.toString('hex', 0, KEY_ID_SIZE);
  return { name, keyId, signature: bytes.subarray(KEY_ID_SIZE), line };
}

/** The message that a witness signs at `time`, in seconds, about a checkpoint's text. */
export const cosignedMessage = (text: string, time: bigint): Buffer =>
  Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);

/** The time of a witness's cosignature, in seconds since the Unix epoch; undefined for other signatures. */
export const cosignedAt = ({ signature }: NoteSignature): bigint | undefined =>
  signature.length === TIME_SIZE + SIGNATURE_SIZE ? signature.readBigUInt64BE() : undefined;

function isValid(text: string, { type, publicKey }: VerifierKey, signature: Buffer): boolean {
  const times = type === COSIGNATURE ? TIME_SIZE : 0;
  if (signature.length !== times + SIGNATURE_SIZE) return false;
  const message = times ? cosignedMessage(text, signature.readBigUInt64BE()) : Buffer.from(text);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return verify(null, message, key, signature.subarray(times));
}

/**
 * Gives those of the verifier keys whose signature the note has. Signatures of other keys are ignored.
 * None is given where the signature of any of the keys does not hold: the standard rejects such a note.
 * @throws {Error} the note or a key is malformed
 */
export function verifiedBy(note: string, verifierKeys: readonly string[]): string[] {
  const { text, signatures } = openNote(note);
  const verified: string[] = [];
  for (const each of verifierKeys) {
    const key = parseVerifierKey(each);
    const own = signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId);
    if (!own.every(({ signature }) => isValid(text, key, signature))) return [];
    if (own.length > 0) verified.push(each);
  }
  return verified;
}

/** Decodes base64 (RFC 4648, section 4); undefined where `text` is not what its bytes encode to. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Reads a size or index: ASCII digits without leading zeroes; undefined for anything else. */
export function fromDecimal(text: string): number | undefined {
  const value = Number(text);
  return /^(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
}

/** RFC 8410: what stands before the seed in a PKCS #8 Ed25519 private key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param seed 32 bytes */
export function ed25519Key(seed: Buffer): KeyObject {
  const key = Buffer.concat([PKCS8_PREFIX, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}
