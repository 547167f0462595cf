/**
 * Access tokens, refresh tokens and the cookies of dashboard sessions: JWTs that are told apart by type and
 * audience, and name their session. The links under which PDFs are downloaded: PASETO v4.public, so that no
 * list of links is kept.
 */
import { createPublicKey, hash, type KeyObject, randomUUID, sign } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { PublicProtocol } from 'paseto';
import { ImportPublicKeyFactory, VerifyFactory } from 'paseto/v4/public';
import type { Format } from '../domain/choices.ts';
import type { Role } from '../domain/member-events.ts';
import type { Clock } from '../time/clock.ts';
import { ed25519Key } from '../transparency-log/signed-note.ts';

export const ACCESS_LIFETIME_MS = 5 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
export const REFRESH_LIFETIME_MS = DAY_MS;
/** A cookie is good for a day after it was last renewed, and its session ends after a week. */
export const COOKIE_LIFETIME_MS = DAY_MS;
export const DASHBOARD_SESSION_LIFETIME_MS = 7 * DAY_MS;

const ALGORITHM = 'EdDSA';

const KINDS = {
  access: { typ: 'at+jwt', audience: 'pressledger:api' },
  refresh: { typ: 'rt+jwt', audience: 'pressledger:refresh' },
  cookie: { typ: 'ct+jwt', audience: 'pressledger:dashboard' },
} as const;

export interface TokenClaims {
  readonly accountId: string;
  readonly sessionId: string;
}

/** Claims for the reader of a token. What the service lets somebody do is read from the account at each request. */
export interface IssuedClaims extends TokenClaims {
  readonly personId: string;
  readonly role: Role;
}

export interface Tokens {
  /** @param expiresAt milliseconds since the epoch */
  issue(kind: keyof typeof KINDS, claims: IssuedClaims, expiresAt: number): Promise<string>;
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
    issue: (kind, { accountId, sessionId, personId: person, role }, expiresAt) =>
      new SignJWT({ sid: sessionId, person, role })
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

/** Some 300 bytes each. */
const MOST = 10_000;

/** Remembers the claims of tokens whose signature was found good, under their SHA-256, until they expire. */
export class VerifiedTokens<Claims extends { readonly expiresAt: number }> {
  readonly #claims = new Map<string, Claims>();

  /** @param check undefined: not valid, which is not remembered */
  async verify(
    token: string,
    now: number,
    check: () => Promise<Claims | undefined>,
  ): Promise<Claims | undefined> {
    const digest = hash('sha256', token, 'base64');
    const known = this.#claims.get(digest);
    if (known !== undefined && now < known.expiresAt) return known;
    const found = await check();
    if (found !== undefined) this.#remember(digest, found);
    else this.#claims.delete(digest);
    return found;
  }

  #remember(digest: string, claims: Claims): void {
    this.#claims.set(digest, claims);
    if (this.#claims.size <= MOST) return;
    const [oldest] = this.#claims.keys();
    if (oldest !== undefined) this.#claims.delete(oldest);
  }
}

const PURPOSE = 'download';
const HEADER = 'v4.public.';
const v4 = new PublicProtocol(ImportPublicKeyFactory, VerifyFactory);

export interface FileTokens {
  /** A token for one file, good for `ttlSeconds` from now. */
  mint(fileId: string, ttlSeconds: number): string;
  /** Checks that the token is ours, for this file and not expired. Never throws. */
  verify(token: string, fileId: string): Promise<boolean>;
}

/** Makes links to PDFs that need no other credential. */
export const fileLinks =
  ({ mint }: Pick<FileTokens, 'mint'>, ttlSeconds: number, publicUrl: () => string) =>
  (conversionId: string, format: Format = 'pdf'): string =>
    `${publicUrl()}/files/${conversionId}.${format}?token=${mint(conversionId, ttlSeconds)}`;

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
