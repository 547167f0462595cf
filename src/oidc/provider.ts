/** A client of one OpenID provider: authorization code with PKCE, state and nonce, by the library `openid-client`. */
import type * as openidClient from 'openid-client';
import type { Configuration } from 'openid-client';
import { errorMessage, errorReason } from '../errors/error-message.ts';
import { type IdentityProvider, ProviderError, type ProviderPerson } from './port.ts';

export interface ProviderSettings {
  readonly oidcIssuer?: string | undefined;
  readonly oidcClientId?: string | undefined;
  readonly oidcClientSecret?: string | undefined;
  readonly oidcName?: string | undefined;
  readonly oidcScopes: string;
}

/** What the provider says of itself is asked for again after that. An older answer is used while it is away. */
const RENEW_MS = 60 * 60 * 1000;
/** The longest that the provider may take for one answer, its body included. */
const ANSWER_MS = 5000;
/** More than the longest answer of a provider: the keys of one that keeps many. */
const MOST_BYTES = 1024 * 1024;

interface Known {
  readonly config: Configuration;
  readonly at: number;
}

export interface ProviderOptions {
  readonly now?: () => number;
  readonly answerMs?: number;
}

/** The provider of the settings, if they name one. It is asked when somebody first needs it. */
export function openIdentityProvider(
  { oidcIssuer, oidcClientId = '', oidcClientSecret, oidcName, oidcScopes }: ProviderSettings,
  { now = Date.now, answerMs = ANSWER_MS }: ProviderOptions = {},
): IdentityProvider | undefined {
  if (oidcIssuer === undefined) return undefined;
  const issuer = new URL(oidcIssuer);
  let known: Known | undefined;
  let asking: Promise<Known> | undefined;

  async function ask(): Promise<Known> {
    const library = await import('openid-client');
    const config = await library.discovery(
      issuer,
      oidcClientId,
      undefined,
      authentication(library, oidcClientSecret),
      {
        timeout: answerMs / 1000,
        [library.customFetch]: fetchBounded,
        execute: [
          library.enableNonRepudiationChecks,
          // The settings take such an issuer on this machine alone.
          ...(issuer.protocol === 'http:' ? [library.allowInsecureRequests] : []),
        ],
      },
    );
    known = { config, at: now() };
    return known;
  }

  /** One question at a time, however many people wait for its answer. */
  const askOnce = (): Promise<Known> =>
    (asking ??= ask().finally(() => {
      asking = undefined;
    }));

  async function configuration(): Promise<Configuration> {
    if (known !== undefined && now() - known.at < RENEW_MS) return known.config;
    const before = known;
    try {
      return (await askOnce()).config;
    } catch (error) {
      if (before !== undefined) return before.config;
      throw failureOf(error);
    }
  }

  return {
    label: oidcName ?? issuer.host,
    look: async () => {
      await askOnce().catch((error: unknown) => {
        throw failureOf(error);
      });
    },
    async begin(redirectUri) {
      const config = await configuration();
      const library = await import('openid-client');
      const kept = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      };
      try {
        const url = library.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: oidcScopes,
          state: kept.state,
          nonce: kept.nonce,
          code_challenge: await library.calculatePKCECodeChallenge(kept.verifier),
          code_challenge_method: 'S256',
        });
        return { url: url.href, kept };
      } catch (error) {
        throw failureOf(error);
      }
    },
    async finish(callback, { state, nonce, verifier }) {
      const config = await configuration();
      const library = await import('openid-client');
      try {
        const tokens = await library.authorizationCodeGrant(config, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new Error('It sent no ID token.');
        const { iss, sub } = claims;
        // Two people without one would be the same person.
        if (sub.trim() === '') throw new Error('Its ID token names nobody.');
        // Many providers put what they know of a person there alone.
        const more =
          config.serverMetadata().userinfo_endpoint === undefined
            ? {}
            : await library.fetchUserInfo(config, tokens.access_token, sub);
        return { issuer: iss, subject: sub, ...textsOf(claims, { ...more }) };
      } catch (error) {
        throw failureOf(error);
      }
    },
  };
}

/** By the header, as every provider must allow, unless it says that it takes the secret in the body alone. */
function authentication(library: typeof openidClient, secret: string | undefined) {
  if (secret === undefined) return library.None();
  const byHeader = library.ClientSecretBasic(secret);
  const inBody = library.ClientSecretPost(secret);
  return ((server, ...others) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isBodyOnly =
      methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
    return isBodyOnly ? inBody(server, ...others) : byHeader(server, ...others);
  }) satisfies typeof byHeader;
}

type Claims = Readonly<Record<string, unknown>>;

/** Text of a claim; other values say nothing. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

function textsOf(claims: Claims, more: Claims): Pick<ProviderPerson, 'claims' | 'email' | 'name'> {
  const all = { ...more, ...claims };
  // An address and what is said of it come from one answer.
  const { email, email_verified: isVerified }: Claims = 'email' in claims ? claims : more;
  // Nothing that only looks like it: who could write a false address here would be somebody else.
  const verified = isVerified === true ? textOf(email) : undefined;
  const name = textOf(all['name']) ?? textOf(all['preferred_username']);
  return { claims: all, ...(verified && { email: verified }), ...(name && { name }) };
}

/** Fetches as `fetch` does, and ends an answer that does not end itself. */
async function fetchBounded(url: string, init: object): Promise<Response> {
  const response = await fetch(url, init);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection, so the rest is never received.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new TypeError(`Its answer is longer than ${MOST_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  const hasBody = ![204, 205, 304].includes(status) && status >= 200;
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers });
}

const AWAY: ReadonlySet<unknown> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);

/** Tells a provider that is away, or says no, from one that must not be believed. */
function failureOf(error: unknown): ProviderError {
  const {
    name = '',
    code,
    cause,
    status,
  } = error as Partial<Error> & {
    readonly code?: unknown;
    readonly status?: unknown;
  };
  if (name === 'AuthorizationResponseError') {
    return new ProviderError('refused', errorMessage(error), error);
  }
  const answered = cause instanceof Response ? cause.status : status;
  const text = cause instanceof Response ? `It answers with status ${cause.status}.` : undefined;
  const isAway =
    AWAY.has(code) ||
    // `fetch` says so where it got no answer.
    (error instanceof TypeError && cause !== undefined) ||
    (typeof answered === 'number' && answered >= 500);
  return new ProviderError(isAway ? 'away' : 'invalid', text ?? reasonOf(error), error);
}

/** The innermost error says most; what is not an error says nothing. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? errorReason(error) : errorMessage(error);
