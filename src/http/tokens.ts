/** Access and refresh tokens: JWTs that are told apart by type and audience, and name their session. */
import { createPublicKey, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../clock.ts';
import { ed25519Key } from './ed25519.ts';
import { VerifiedTokens } from './verified-tokens.ts';

export const ACCESS_LIFETIME_MS = 5 * 60 * 1000;
export const REFRESH_LIFETIME_MS = 24 * 60 * 60 * 1000;

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

interface DatedClaims extends TokenClaims {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * @param seed 32 bytes, the Ed25519 private key
 * @param issuer names the deployment: tokens of another one with the same key are refused
 */
export function createTokens(seed: Buffer, issuer: string, clock: Clock): Tokens {
  const secret = ed25519Key(seed);
  const open = createPublicKey(secret);
  // A signature costs more to check than all the rest of a request, and its answer does not change.
  const verified = new VerifiedTokens<DatedClaims>();

  async function check(kind: keyof typeof KINDS, token: string): Promise<DatedClaims | undefined> {
    try {
      const { payload } = await jwtVerify<{ sid?: unknown }>(token, open, {
        algorithms: [ALGORITHM],
        issuer,
        ...KINDS[kind],
        currentDate: new Date(clock.now()),
        requiredClaims: ['sub', 'sid', 'jti', 'iat', 'exp'],
      });
      const { sub: accountId, sid: sessionId, exp } = payload;
      return accountId !== undefined && typeof sessionId === 'string' && exp !== undefined
        ? { accountId, sessionId, expiresAt: exp * 1000 }
        : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    issue: (kind, { accountId, sessionId }, expiresAt) =>
      new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: KINDS[kind].typ })
        .setIssuer(issuer)
        .setAudience(KINDS[kind].audience)
        .setSubject(accountId)
        .setJti(randomUUID())
        .setIssuedAt(new Date(clock.now()))
        .setExpirationTime(new Date(expiresAt))
        .sign(secret),
    verify: (kind, token) =>
      kind === 'access'
        ? verified.verify(token, clock.now(), () => check(kind, token))
        : check(kind, token),
  };
}
