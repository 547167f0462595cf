import { generateKeyPairSync } from 'node:crypto';
import { type Signer, signerOf } from '../../src/transparency-log/signed-note.ts';

export const newSigner = (name: string): Signer =>
  signerOf(name, generateKeyPairSync('ed25519').privateKey);
