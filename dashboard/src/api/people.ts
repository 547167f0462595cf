/** The person who is signed in, and the people of the account. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import { session } from '../session/session.ts';
import { ACCOUNT, queryClient } from './queries.ts';
import type { components } from './schema.d.ts';
import { t } from '../words/words.ts';

export type Person = components['schemas']['Person'];
export type Member = components['schemas']['Member'];
export type Role = Person['role'];

export const ROLES = [
  { value: 'owner', label: t('Owner: everything') },
  { value: 'member', label: t('Member: converts, makes own keys') },
  { value: 'auditor', label: t('Auditor: reads') },
] as const satisfies readonly { value: Role; label: string }[];

/** The key of all lists of members. */
export const MEMBERS = ['members'];

/** Below the key of the account: both are of the person who is signed in. */
export const PERSON = [...ACCOUNT, 'person'];

export const personQuery = queryOptions({
  queryKey: PERSON,
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/account/person/', { signal })),
});

/** Names those who may have acted. An account has at most 200 members: its newest hundred are offered. */
export const membersQuery = queryOptions({
  queryKey: [...MEMBERS, 'all'],
  queryFn: ({ signal }) =>
    dataOf(api.GET('/api/v1/account/members/', { params: { query: { page_size: 100 } }, signal })),
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
export const authenticatorQuery = queryOptions({
  queryKey: ['authenticator'],
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/account/person/totp/', { signal })),
});

/** The person who is signed in, with their role in this account. */
export const usePerson = () => useQuery(personQuery);

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
