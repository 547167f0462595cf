/** The links under which PDFs are downloaded: PASETO v4.public, so that no list of links is kept. */
import { PublicProtocol } from 'paseto';
import {
  ImportPublicKeyFactory,
  ImportSecretKeyFactory,
  SignFactory,
  VerifyFactory,
} from 'paseto/v4/public';
import type { Clock } from '../clock.ts';
import { ed25519Key } from './ed25519.ts';

const PURPOSE = 'download';
const v4 = new PublicProtocol(
  ImportSecretKeyFactory,
  ImportPublicKeyFactory,
  SignFactory,
  VerifyFactory,
);

export interface FileTokens {
  /** A token for one file, good for `ttlSeconds` from now. */
  mint(fileId: string, ttlSeconds: number): Promise<string>;
  /** Whether the token is ours, for this file and not expired. Never throws. */
  verify(token: string, fileId: string): Promise<boolean>;
}

async function importKeys(seed: Buffer) {
  const key = ed25519Key(seed);
  const point = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  const both = Buffer.concat([seed, point]);
  return {
    secret: await v4.ImportSecretKey(`k4.secret.${both.toString('base64url')}`),
    open: await v4.ImportPublicKey(`k4.public.${point.toString('base64url')}`),
  };
}

/** @param seed 32 bytes, the Ed25519 private key */
export function createFileTokens(seed: Buffer, clock: Clock): FileTokens {
  const keys = importKeys(seed);
  const now = () => new Date(clock.now());
  return {
    async mint(fileId, ttlSeconds) {
      const { secret } = await keys;
      const claims = { sub: fileId, purpose: PURPOSE };
      return v4.Sign(secret, claims, { now: now(), expiresIn: ttlSeconds });
    },
    async verify(token, fileId) {
      const { open } = await keys;
      try {
        const { claims } = await v4.Verify(open, token, { now: now(), subject: fileId });
        return claims['purpose'] === PURPOSE;
      } catch {
        return false;
      }
    },
  };
}
