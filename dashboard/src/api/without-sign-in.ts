/** What people who are not signed in ask the service: no session is sent, because somebody else may be signed in to this browser. */
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from './error.ts';
import type { components } from './schema.d.ts';

/** @throws {ApiError} the service refused the request */
async function send(path: string, request?: RequestInit): Promise<Response> {
  const response = await fetch(path, request);
  if (!response.ok) throw await ApiError.from(response);
  return response;
}

async function answerTo<Body>(path: string, request?: RequestInit): Promise<Body> {
  return (await (await send(path, request)).json()) as Body;
}

const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

interface Offers {
  readonly public_verify: boolean;
  readonly sign_up: 'closed' | 'invitation' | 'open';
  /** The identity provider; null: none. */
  readonly provider: string | null;
  /** The service sends mail. */
  readonly mail: boolean;
}

/** What this deployment offers to people without an account. */
export const offersQuery = queryOptions({
  queryKey: ['offers'],
  queryFn: ({ signal }) => answerTo<Offers>('/dashboard/offers', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Asks whether the service made a PDF, by its SHA-256 alone. */
export const askInPublic = (sha256: string, signal: AbortSignal) =>
  answerTo<components['schemas']['PublicVerification']>('/verify/public', {
    ...post({ sha256 }),
    signal,
  });

/** What the browser is to be asked for, to sign in with a passkey. */
export const passkeyOptions = () =>
  answerTo<components['schemas']['PasskeyRequest']>('/api/v1/auth/passkey/options/', post({}));

const invitationPath = (token: string): string =>
  `/api/v1/invitations/${encodeURIComponent(token)}/`;

/** What the link of an invitation is for. */
export const invitationOf = (token: string, signal: AbortSignal) =>
  answerTo<components['schemas']['OpenInvitation']>(invitationPath(token), { signal });

/** Joins the account that the link of an invitation is for. */
export const acceptInvitation = (
  token: string,
  who: { readonly name: string; readonly password: string },
) => send(`${invitationPath(token)}accept/`, post(who));

/** Asks for the mail with a link that opens an account. */
export const askToSignUp = (email: string) => send('/api/v1/sign-up/', post({ email }));

const signUpPath = (token: string): string => `/api/v1/sign-up/${encodeURIComponent(token)}/`;

/** The account that a link opens. */
export const signUpOf = (token: string, signal: AbortSignal) =>
  answerTo<components['schemas']['OpenSignUp']>(signUpPath(token), { signal });

/** Opens the account that a link is for. */
export const signUp = (token: string, password: string) =>
  send(`${signUpPath(token)}accept/`, post({ password }));

/** Has a link mailed that sets a password. The answer is the same for every address. */
export const forgotPassword = (email: string) =>
  answerTo<components['schemas']['ForgottenPasswordAnswer']>(
    '/api/v1/auth/password/forgot/',
    post({ email }),
  );

/** Sets a password with the token of a link, mailed or made by an operator. */
export const resetPassword = (token: string, password: string) =>
  send('/api/v1/auth/password/reset/', post({ token, password }));
