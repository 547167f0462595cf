/**
 * Proofs that an address is that of the person who signs in with it. Without a mail server, whoever has the link of an
 * invitation becomes the person of its address: until there is a proof, that may be somebody else.
 */
import type { AddressProof } from './choices.ts';
import type { EventOf } from './events.ts';
import type { Passkeys } from './passkeys.ts';
import type { SecondFactor } from './second-factor.ts';

export interface ProvenAddress {
  /** Undefined: nothing proves it. Once it is proven, only a proven address takes its place. */
  readonly provenBy: AddressProof | undefined;
}

export interface FirstProof {
  readonly personId: string;
  /** The account in whose history it is, if the person belongs to one. */
  readonly accountId?: string;
  readonly provenBy: AddressProof;
  /** The number of memberships that were ended for it. */
  readonly memberships: number;
}

interface Credentials extends ProvenAddress, Passkeys, SecondFactor {
  readonly passwordHash: string;
}

/** The event of the first proof, which drops all credentials; none where the address is proven already. */
export function proveAddress(
  { provenBy: known, passwordHash, passkeys, authenticator }: Credentials,
  { personId, accountId, provenBy, memberships }: FirstProof,
): readonly EventOf<'PersonAddressProven'>[] {
  if (known !== undefined) return [];
  const dropped = {
    ...(passwordHash !== '' && { password: true as const }),
    passkeys: Object.keys(passkeys).length,
    ...(authenticator !== undefined && { secondFactor: true as const }),
    memberships,
  };
  const where = accountId === undefined ? {} : { accountId };
  return [{ type: 'PersonAddressProven', data: { personId, ...where, provenBy, dropped } }];
}

/** The refusal of what an unproven address does not open. */
export const UNPROVEN_ADDRESS =
  "Nobody has proven that this address is that of the person who signs in with it. An operator of the service can: on the page Accounts, or with 'pressledger account prove EMAIL --reason TEXT'.";

const PROOFS: Readonly<Record<AddressProof, string>> = {
  mail: 'a link that was mailed to it',
  provider: 'the identity provider',
  operator: 'an operator of the service',
};

export function provenText({ provenBy, dropped }: EventOf<'PersonAddressProven'>['data']): string {
  const { password, passkeys, secondFactor, memberships } = dropped;
  const what = [
    password && 'password',
    passkeys > 0 && `passkeys (${passkeys})`,
    secondFactor && 'authenticator and recovery codes',
    'sessions',
    memberships > 0 && `memberships (${memberships})`,
  ].filter((each) => typeof each === 'string');
  return `The address of a person was proven for the first time, by ${PROOFS[provenBy]}. What was there before is dropped: ${what.join(', ')}.`;
}
