import type { SessionEnd } from './session.ts';

/** The search parameters of the sign-in page. */
export interface SignInSearch {
  /** The path to go to after signing in. */
  readonly from?: string;
  /** The end of the session before. */
  readonly reason?: SessionEnd;
  /** Why a sign-in with the identity provider was refused. */
  readonly provider?: string;
}

const REASONS: readonly unknown[] = [
  'ended',
  'password-changed',
  'all-ended',
  'other-account',
] satisfies SessionEnd[];

/** Browsers leave tabs and line ends out of an address, so that `/<tab>/host` would be another host. */
const OWN_PATH = /^\/(?![/\\])\P{Cc}*$/u;

/** Keeps nothing but a path of these pages: a link must not lead a person elsewhere after signing in. */
export const signInSearch = ({
  from,
  reason,
  provider,
}: Record<string, unknown>): SignInSearch => ({
  ...(typeof from === 'string' && OWN_PATH.test(from) && { from }),
  ...(REASONS.includes(reason) && { reason: reason as SessionEnd }),
  ...(typeof provider === 'string' && { provider }),
});
