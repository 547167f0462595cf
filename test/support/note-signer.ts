import { generateKeyPairSync, sign } from 'node:crypto';
import type { Signer } from '../../src/transparency-log/signed-note.ts';

/** A signer with a new key. */
export function signerOf(name: string): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return {
    name,
    publicKey: Buffer.from(x, 'base64url'),
    sign: (message) => sign(null, message, privateKey),
  };
}
