/** Access and refresh tokens: JWTs that are told apart by type and audience, and name their session. */
import { createPublicKey, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../clock.ts';
import { ed25519Key } from './ed25519.ts';

export const ACCESS_LIFETIME_MS = 5 * 60 * 1000;
export const REFRESH_LIFETIME_MS = 24 * 60 * 60 * 1000;

const ISSUER = 'pressledger';
const ALGORITHM = 'EdDSA';

const KINDS = {
  access: { typ: 'at+jwt', audience: 'pressledger:api' },
  refresh: { typ: 'rt+jwt', audience: 'pressledger:refresh' },
} as const;

export interface TokenClaims {
  readonly accountId: string;
  readonly sessionId: string;
}

export interface Tokens {
  /** @param expiresAt milliseconds since the epoch */
  issue(kind: keyof typeof KINDS, claims: TokenClaims, expiresAt: number): Promise<string>;
  /** Undefined unless the token is ours, of this kind and not expired. Never throws. */
  verify(kind: keyof typeof KINDS, token: string): Promise<TokenClaims | undefined>;
}

/** @param seed 32 bytes, the Ed25519 private key */
export function createTokens(seed: Buffer, clock: Clock): Tokens {
  const secret = ed25519Key(seed);
  const open = createPublicKey(secret);
  return {
    issue: (kind, { accountId, sessionId }, expiresAt) =>
      new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: KINDS[kind].typ })
        .setIssuer(ISSUER)
        .setAudience(KINDS[kind].audience)
        .setSubject(accountId)
        .setJti(randomUUID())
        .setIssuedAt(new Date(clock.now()))
        .setExpirationTime(new Date(expiresAt))
        .sign(secret),
    async verify(kind, token) {
      try {
        const { payload } = await jwtVerify<{ sid?: unknown }>(token, open, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          ...KINDS[kind],
          currentDate: new Date(clock.now()),
          requiredClaims: ['sub', 'sid', 'jti', 'iat', 'exp'],
        });
        const { sub: accountId, sid: sessionId } = payload;
        return accountId !== undefined && typeof sessionId === 'string'
          ? { accountId, sessionId }
          : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
