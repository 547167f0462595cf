import { createHash, hash, randomBytes, randomInt } from 'node:crypto';

// Crockford's base 32 in lower case: sorts like the number it stands for, has no i, l, o, u.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

function base32(bytes: Uint8Array, length: number): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5 && text.length < length) {
      bits -= 5;
      text += ALPHABET[(held >>> bits) & 31];
      held &= (1 << bits) - 1;
    }
  }
  return text;
}

/** A time-ordered random id: 48 bits of milliseconds, 80 bits from the CSPRNG, 26 characters. */
export function timeOrderedId(nowMs: number): string {
  const bytes = Buffer.alloc(17);
  bytes.writeUIntBE(nowMs, 0, 6);
  randomBytes(10).copy(bytes, 6);
  return base32(bytes, 26);
}

/** Returns the time when a time-ordered id was made, in milliseconds since the epoch. */
export function timeOfId(id: string): number {
  const start = id.indexOf('_') + 1;
  let first50Bits = 0;
  for (const digit of id.slice(start, start + 10)) {
    first50Bits = first50Bits * 32 + ALPHABET.indexOf(digit);
  }
  return Math.floor(first50Bits / 4);
}

export const newConversionId = (nowMs: number): string => `conv_${timeOrderedId(nowMs)}`;
export const newBatchId = (nowMs: number): string => `batch_${timeOrderedId(nowMs)}`;
export const newLinkId = (nowMs: number): string => `link_${timeOrderedId(nowMs)}`;
export const newAccountId = (nowMs: number): string => `acct_${timeOrderedId(nowMs)}`;
export const newSessionId = (nowMs: number): string => `sess_${timeOrderedId(nowMs)}`;
export const newWebhookId = (nowMs: number): string => `webhook_${timeOrderedId(nowMs)}`;
export const newTemplateId = (nowMs: number): string => `tmpl_${timeOrderedId(nowMs)}`;
export const newDeliveryId = (nowMs: number): string => `delivery_${timeOrderedId(nowMs)}`;
export const newCertificateId = (nowMs: number): string => `cert_${timeOrderedId(nowMs)}`;
export const newPersonId = (nowMs: number): string => `person_${timeOrderedId(nowMs)}`;
export const newCommandId = (nowMs: number): string => `cmd_${timeOrderedId(nowMs)}`;

/** SHA-256 of the token of a link, hex: all that is kept of it. */
export const tokenHashOf = (token: string): string => hash('sha256', token, 'hex');

/** 80 bits from the CSPRNG, in groups that people can copy: `4kx2-m0dq-9b7z-1c3v`. */
export const newRecoveryCode = (): string =>
  base32(randomBytes(10), 16).replaceAll(/.{4}(?=.)/g, '$&-');

/** The hash of a recovery code as somebody types it: without what only parts it, and with the letters that look like digits. */
export const recoveryCodeHash = (code: string): string =>
  tokenHashOf(
    code
      .toLowerCase()
      .replaceAll(/[^0-9a-z]/g, '')
      .replaceAll(/[il]/g, '1')
      .replaceAll('o', '0'),
  );

/** SHA-256 of the full key: all that is kept of it. (By way of hex: twice as fast as to a buffer.) */
export const apiKeyDigest = (key: string): Buffer => Buffer.from(hash('sha256', key, 'hex'), 'hex');

/**
 * A key's id, computed from the key itself, so that its stream is found without an index that may lag:
 * 130 bits of the digest.
 */
export const apiKeyIdOf = (digest: Uint8Array): string => `key_${base32(digest, 26)}`;

/** A passkey's id, computed from the keyed hash of its credential's as a key's is. */
export const passkeyIdOf = (digest: Uint8Array): string => `passkey_${base32(digest, 26)}`;

// The namespace of our event ids (RFC 9562, section 5.5 asks for a fixed one).
const EVENT_NAMESPACE = Buffer.from('6f0d2b4e1c6a4f0e9a3f5d8c7b21e640', 'hex');

/** A UUIDv5 of what caused an event, so that a retry produces the same event. */
export function eventId(cause: string): string {
  const digest = createHash('sha1').update(EVENT_NAMESPACE).update(cause, 'utf8').digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Text of [0-9A-Za-z] from the CSPRNG, every character equally likely: 5.95 bits each. */
export function randomAlphanumeric(length: number): string {
  return Array.from({ length }, () => ALPHANUMERIC[randomInt(ALPHANUMERIC.length)]).join('');
}
