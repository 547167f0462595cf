/** The person who is signed in, and the people of the account. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { ACCOUNT, answerQuery, api, dataOf, PERSON, queryClient } from './client.ts';
import { session } from '../session/session.ts';
import type { components } from './schema.d.ts';
import { ROLE_NAMES } from '../ui/format.ts';
import { t } from '../words/words.ts';

export type Person = components['schemas']['Person'];
export type Member = components['schemas']['Member'];
export type Role = Person['role'];

export const ROLES = [
  { value: 'owner', label: t('Owner: everything') },
  { value: 'member', label: t('Member: converts, makes own keys') },
  { value: 'auditor', label: t('Auditor: reads') },
] as const satisfies readonly { value: Role; label: string }[];

/** The name of a role within a text. */
export const roleName = (role: Role): string => ROLE_NAMES[role];

/** The key of all lists of members. */
export const MEMBERS = ['members'];

export const personQuery = answerQuery(PERSON, '/api/v1/account/person/');

/** Names those who may have acted. An account has at most 200 members: its newest hundred are offered. */
export const membersQuery = answerQuery([...MEMBERS, 'all'], '/api/v1/account/members/', {
  query: { page_size: 100 },
});

/** The person whose session this browser has open; null: nobody's. */
export const openPersonQuery = queryOptions({
  queryKey: [...PERSON, 'open'],
  queryFn: async () =>
    (await session.isOpen()) ? await queryClient.fetchQuery(personQuery) : null,
});

/** Joins the account that the link of an invitation is for, as who is signed in. */
export const joinSignedIn = (token: string) => {
  const params = { path: { token } };
  return dataOf(api.POST('/api/v1/invitations/{token}/accept/', { params, body: {} }));
};

/** The second factor of the person who is signed in. */
export const authenticatorQuery = answerQuery(['authenticator'], '/api/v1/account/person/totp/');

/** The person who is signed in, with their role in this account. */
export const usePerson = () => useQuery(personQuery);

/** What the account requires at sign-in and the session has not proved; undefined: nothing. */
export function useLacking(): 'second_factor' | 'oidc' | undefined {
  const { lacks = 'none' } = usePerson().data ?? {};
  return lacks === 'none' ? undefined : lacks;
}

interface Rights {
  readonly isOwner: boolean;
  /** Convert, cancel and delete, and make keys. */
  readonly mayWork: boolean;
  readonly mayReadDocuments: boolean;
}

/** What the person may do; nothing until that is known. */
export function useRights(): Rights {
  const { role, documents: mayReadDocuments = false } = usePerson().data ?? {};
  const isOwner = role === 'owner';
  return { isOwner, mayWork: isOwner || role === 'member', mayReadDocuments };
}

export type Account = components['schemas']['Account'];

export const accountQuery = answerQuery(ACCOUNT, '/api/v1/account/');

/** The account of the person who is signed in, with its plan and credits. */
export function useAccount() {
  const enabled = useLacking() === undefined;
  return useQuery({ ...accountQuery, enabled });
}

export type ApiKey = components['schemas']['ApiKey'];

/** An account has no more keys than this, so that one page holds them all. */
const MOST_KEYS = 100;

/** The keys that are not revoked. */
export const keysQuery = answerQuery(['api-keys'], '/api/v1/api-keys/', {
  query: { page_size: MOST_KEYS },
});
