import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Signer } from '../../src/transparency-log/signed-note.ts';

/** A signer of notes with a key of its own. */
export function signerOf(name: string): Signer & { readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return {
    name,
    publicKey: Buffer.from(x, 'base64url'),
    privateKey,
    sign: (message) => sign(null, message, privateKey),
  };
}
