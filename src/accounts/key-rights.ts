/** The bounds of an API key: how they are asked for, sealed, passed on and shown. */
import type { Vault } from '../documents/keys/vault.ts';
import { KEY_SCOPES, type KeyScope } from '../domain/choices.ts';
import type { KeyRights } from '../domain/event-fields.ts';
import { ServiceError } from '../errors/errors.ts';
import { isoTime } from '../time/clock.ts';
import { contains, hasBitsBeyond, networkIn, networkText } from './networks.ts';

export const MAX_ADDRESSES = 50;

/** Rights whose addresses can be read. */
export interface OpenRights extends Omit<KeyRights, 'addresses'> {
  /** Networks in CIDR notation. */
  readonly addresses?: readonly string[];
}

export const scopesOf = ({ scopes }: Pick<KeyRights, 'scopes'>): readonly KeyScope[] =>
  scopes ?? KEY_SCOPES;

/** Opens the addresses. @throws {KeyErased} */
export async function openRights(
  vault: Pick<Vault, 'unseal'>,
  accountId: string,
  { addresses: sealed, ...rights }: KeyRights,
): Promise<OpenRights> {
  if (sealed === undefined) return rights;
  const addresses = JSON.parse(await vault.unseal(accountId, sealed)) as readonly string[];
  return { ...rights, addresses };
}

export async function sealRights(
  vault: Pick<Vault, 'seal'>,
  accountId: string,
  { addresses, ...rights }: OpenRights,
): Promise<KeyRights> {
  if (addresses === undefined) return rights;
  return { ...rights, addresses: await vault.seal(accountId, JSON.stringify(addresses)) };
}

/** The one form of an address or network. @param refuse gets what is wrong with the text */
export function networkOf(text: string, refuse: (problem: string) => void): string | undefined {
  const network = networkIn(text);
  if (network === undefined) {
    refuse(
      'Must be an address or a network in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32.',
    );
    return undefined;
  }
  if (!hasBitsBeyond(network)) return networkText(network);
  refuse(`Has bits beyond its prefix: the network is ${networkText(network)}.`);
  return undefined;
}

/** True where the address is in one of the networks, or where there are none to be in. */
export function isAllowedAddress({ addresses }: OpenRights, clientAddress: string): boolean {
  if (addresses === undefined) return true;
  const client = networkIn(clientAddress);
  return client !== undefined && isWithin(addresses, client);
}

const isWithin = (addresses: readonly string[], inner: ReturnType<typeof networkIn>): boolean =>
  inner !== undefined &&
  addresses.some((each) => {
    const outer = networkIn(each);
    return outer !== undefined && contains(outer, inner);
  });

/**
 * A key makes none that may do more than itself.
 * @param own the rights of the key that asks for another
 * @throws {ServiceError} `forbidden`, with all that the other would have beyond it
 */
export function assertWithin(own: OpenRights, asked: OpenRights): void {
  const details: Record<string, readonly string[]> = {};
  const has = scopesOf(own);
  if (scopesOf(asked).some((scope) => !has.includes(scope))) {
    details['scopes'] = [
      `An API key cannot create one with more scopes than its own: ${has.join(', ')}.`,
    ];
  }
  if (own.expiresAt !== undefined && (asked.expiresAt ?? Infinity) > own.expiresAt) {
    details['expires_at'] = [
      `An API key cannot create one that is valid longer than itself: give a time up to ${isoTime(own.expiresAt)}.`,
    ];
  }
  const { addresses } = own;
  if (addresses && !asked.addresses?.every((each) => isWithin(addresses, networkIn(each)))) {
    details['addresses'] = [
      'An API key that is bound to addresses cannot create one for others: give some of its own.',
    ];
  }
  // Many keys would have the limit many times.
  for (const [field, limit] of [
    ['rate_limit', own.rateLimit],
    ['credit_limit', own.creditLimit],
  ] as const) {
    if (limit !== undefined)
      details[field] = ['An API key with a limit of its own cannot create others.'];
  }
  if (own.isTest && !asked.isTest) details['test'] = ['A test key can create only test keys.'];
  const [first] = Object.values(details).flat();
  if (first !== undefined) throw new ServiceError('forbidden', first, { details });
}

/** The rights as the API shows them: those that a key has been given, so nothing for a key without bounds. */
export function rightsRecord(rights: OpenRights) {
  const { scopes, expiresAt, addresses, rateLimit, creditLimit, isTest } = rights;
  return {
    ...(scopes && { scopes }),
    ...(expiresAt !== undefined && { expires_at: isoTime(expiresAt) }),
    ...(addresses && { addresses }),
    ...(rateLimit !== undefined && { rate_limit: rateLimit }),
    ...(creditLimit !== undefined && { credit_limit: creditLimit }),
    ...(isTest && { test: isTest }),
  };
}
