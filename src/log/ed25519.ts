import { createPrivateKey, type KeyObject } from 'node:crypto';

/** RFC 8410: what stands before the seed in a PKCS #8 Ed25519 private key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param seed 32 bytes */
export function ed25519Key(seed: Buffer): KeyObject {
  const key = Buffer.concat([PKCS8_PREFIX, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}
