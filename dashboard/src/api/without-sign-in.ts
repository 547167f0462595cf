/** What people who are not signed in ask the service: no session is sent, because somebody else may be signed in to this browser. */
import { queryOptions } from '@tanstack/react-query';
import createClient from 'openapi-fetch';
import { dataOf, FOR_EVER } from './client.ts';
import type { paths } from './schema.d.ts';

const open = createClient<paths>({ baseUrl: globalThis.location.origin });

/** What this deployment offers to people without an account. */
export const offersQuery = queryOptions({
  queryKey: ['offers'],
  queryFn: ({ signal }) => dataOf(open.GET('/dashboard/offers', { signal })),
  ...FOR_EVER,
});

/** Asks whether the service made a PDF, by its SHA-256 alone. */
export const askInPublic = (sha256: string, signal: AbortSignal) =>
  dataOf(open.POST('/verify/public', { body: { sha256 }, signal }));

/** What the browser is to be asked for, to sign in with a passkey. */
export const passkeyOptions = () =>
  dataOf(open.POST('/api/v1/auth/passkey/options/', { body: {} }));

const withToken = (token: string) => ({ params: { path: { token } } });

/** What the link of an invitation is for. */
export const invitationOf = (token: string, signal: AbortSignal) =>
  dataOf(open.GET('/api/v1/invitations/{token}/', { ...withToken(token), signal }));

/** Joins the account that the link of an invitation is for. */
export const acceptInvitation = (
  token: string,
  body: { readonly name: string; readonly password: string },
) => dataOf(open.POST('/api/v1/invitations/{token}/accept/', { ...withToken(token), body }));

/** Asks for the mail with a link that opens an account. */
export const askToSignUp = (email: string) =>
  dataOf(open.POST('/api/v1/sign-up/', { body: { email } }));

/** The account that a link opens. */
export const signUpOf = (token: string, signal: AbortSignal) =>
  dataOf(open.GET('/api/v1/sign-up/{token}/', { ...withToken(token), signal }));

/** Opens the account that a link is for. */
export const signUp = (token: string, password: string) =>
  dataOf(open.POST('/api/v1/sign-up/{token}/accept/', { ...withToken(token), body: { password } }));

/** Has a link mailed that sets a password. The answer is the same for every address. */
export const forgotPassword = (email: string) =>
  dataOf(open.POST('/api/v1/auth/password/forgot/', { body: { email } }));

/** Sets a password with the token of a link, mailed or made by an operator. */
export const resetPassword = (token: string, password: string) =>
  dataOf(open.POST('/api/v1/auth/password/reset/', { body: { token, password } }));
