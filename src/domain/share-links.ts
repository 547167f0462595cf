/** Links by which anybody can download a conversion's file, each until its own end. */
import type { Decision } from './decider.ts';
import type { EventOf } from './events.ts';

/** So that nobody loses track of who can download a file, and the state of a conversion stays small. */
export const MAX_LINKS = 20;

export interface ShareLinks {
  /** Those that were not revoked, and had not expired when the last one was created. */
  readonly links: readonly { readonly linkId: string; readonly expiresAt: number }[];
}

export const noLinks: ShareLinks = { links: [] };

interface LinkOf {
  readonly accountId: string;
  readonly conversionId: string;
  readonly linkId: string;
  readonly at: number;
}

export interface CreateLink extends LinkOf {
  readonly type: 'CreateLink';
  /** SHA-256 of the secret in the link, hex. */
  readonly linkHash: string;
  readonly expiresAt: number;
}

export interface RevokeLink extends LinkOf {
  readonly type: 'RevokeLink';
}

interface Shared extends ShareLinks {
  readonly status: 'pending' | 'processing' | 'completed' | 'failed';
  readonly deleted: boolean;
  readonly expired: boolean;
}

const inForce = ({ links }: ShareLinks, at: number) =>
  links.filter(({ expiresAt }) => expiresAt > at);

export function withLink(
  state: ShareLinks,
  { linkId, expiresAt, createdAt }: EventOf<'LinkCreated'>['data'],
): ShareLinks {
  return { links: [...inForce(state, createdAt), { linkId, expiresAt }] };
}

export function withoutLink(
  { links }: ShareLinks,
  { linkId }: EventOf<'LinkRevoked'>['data'],
): ShareLinks {
  return { links: links.filter((each) => each.linkId !== linkId) };
}

export function createLink(
  { accountId, conversionId, linkId, linkHash, expiresAt, at }: CreateLink,
  state: Shared,
): Decision<EventOf<'LinkCreated'>> {
  if (state.status === 'failed') return { rejected: 'conversion_failed' };
  if (state.status !== 'completed') return { rejected: 'not_ready' };
  if (state.deleted || state.expired) return { rejected: 'gone' };
  if (inForce(state, at).length >= MAX_LINKS) {
    const message = `A conversion has at most ${MAX_LINKS} links at a time. Revoke one that is not needed first.`;
    return { rejected: 'validation_error', message };
  }
  const data = { accountId, conversionId, linkId, linkHash, createdAt: at, expiresAt };
  return [{ type: 'LinkCreated', data }];
}

export function revokeLink(
  { accountId, conversionId, linkId, at }: RevokeLink,
  state: ShareLinks,
): Decision<EventOf<'LinkRevoked'>> {
  if (!inForce(state, at).some((each) => each.linkId === linkId)) {
    return { rejected: 'not_found', message: 'There is no such link.' };
  }
  return [{ type: 'LinkRevoked', data: { accountId, conversionId, linkId, revokedAt: at } }];
}
