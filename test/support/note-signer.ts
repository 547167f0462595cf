import { generateKeyPairSync } from 'node:crypto';
import { ed25519Signer, type Signer } from '../../src/transparency-log/signed-note.ts';

export const newSigner = (name: string): Signer =>
  ed25519Signer(name, generateKeyPairSync('ed25519').privateKey);
