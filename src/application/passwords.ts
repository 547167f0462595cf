import { hash, verify } from '@node-rs/argon2';
import { ServiceError } from '../errors.ts';

// OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const MIN_CHARACTERS = 12;
/** A longer one costs the hash more than it can add. */
const MAX_BYTES = 1024;

const base64 = (bytes: number): string =>
  Buffer.alloc(bytes, 1).toString('base64').replace(/=+$/, '');

/** Looks like a hash and fits no password; checking one against it takes as long as against any other. */
export const NOBODYS_HASH = [
  '',
  'argon2id',
  'v=19',
  `m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}`,
  base64(16),
  base64(32),
].join('$');

/** @throws {ServiceError} `validation_error`, naming the bound */
export function hashPassword(password: string): Promise<string> {
  const tooShort = Array.from(password).length < MIN_CHARACTERS;
  if (tooShort || Buffer.byteLength(password) > MAX_BYTES) {
    const text = `A password has at least ${MIN_CHARACTERS} characters and at most ${MAX_BYTES} bytes.`;
    throw new ServiceError('validation_error', text, { details: { password: [text] } });
  }
  return hash(password, PARAMETERS);
}

export function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, password);
}
