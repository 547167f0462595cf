/** The links under which PDFs are downloaded: PASETO v4.public, so that no list of links is kept. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { PublicProtocol } from 'paseto';
import { ImportPublicKeyFactory, VerifyFactory } from 'paseto/v4/public';
import type { Clock } from '../clock.ts';
import { ed25519Key } from './ed25519.ts';

const PURPOSE = 'download';
const HEADER = 'v4.public.';
const v4 = new PublicProtocol(ImportPublicKeyFactory, VerifyFactory);

export interface FileTokens {
  /** A token for one file, good for `ttlSeconds` from now. */
  mint(fileId: string, ttlSeconds: number): string;
  /** Whether the token is ours, for this file and not expired. Never throws. */
  verify(token: string, fileId: string): Promise<boolean>;
}

/** RFC 3339 in whole seconds, as the library writes dates. */
const wholeSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function length(bytes: number): Buffer {
  const le64 = Buffer.alloc(8);
  le64.writeUInt32LE(bytes);
  return le64;
}

const BEFORE_MESSAGE = Buffer.concat([length(4), length(HEADER.length), Buffer.from(HEADER)]);
const NO_FOOTER_NO_ASSERTION = Buffer.concat([length(0), length(0)]);

/**
 * PASETO v4.public (https://github.com/paseto-standard/paseto-spec): what the library would make, which
 * a test compares. It signs in a thread of the pool, at three times the cost of signing here.
 */
function signed(key: KeyObject, claims: object): string {
  const message = Buffer.from(JSON.stringify(claims));
  const encoded = [BEFORE_MESSAGE, length(message.length), message, NO_FOOTER_NO_ASSERTION];
  const signature = sign(null, Buffer.concat(encoded), key);
  return HEADER + Buffer.concat([message, signature]).toString('base64url');
}

/**
 * @param seed 32 bytes, the Ed25519 private key
 * @param issuer names the deployment: links of another one with the same key are refused
 */
export function createFileTokens(seed: Buffer, issuer: string, clock: Clock): FileTokens {
  const key = ed25519Key(seed);
  const point = createPublicKey(key).export({ format: 'jwk' }).x ?? '';
  const open = v4.ImportPublicKey(`k4.public.${point}`);
  // Ed25519 is deterministic: within one second the same file's link comes out the same.
  const minted = new Map<string, string>();
  let mintedIn = '';

  function mintNew(fileId: string, iat: string, exp: string): string {
    const token = signed(key, { iss: issuer, sub: fileId, purpose: PURPOSE, iat, exp });
    minted.set(`${fileId} ${exp}`, token);
    return token;
  }

  return {
    mint(fileId, ttlSeconds) {
      const now = clock.now();
      const iat = wholeSeconds(now);
      const exp = wholeSeconds(now + ttlSeconds * 1000);
      if (iat !== mintedIn) minted.clear();
      mintedIn = iat;
      return minted.get(`${fileId} ${exp}`) ?? mintNew(fileId, iat, exp);
    },
    async verify(token, fileId) {
      const options = { now: new Date(clock.now()), issuer, subject: fileId };
      try {
        const { claims } = await v4.Verify(await open, token, options);
        return claims['purpose'] === PURPOSE;
      } catch {
        return false;
      }
    },
  };
}
