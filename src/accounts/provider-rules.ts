/** Rules of the settings for people whom the identity provider knows: who may come, and as what. */
import { type ProviderRefusalReason, ROLES } from '../domain/choices.ts';
import type { Role } from '../domain/member-events.ts';
import type { ProviderPerson } from '../oidc/port.ts';

/** Settings that say who may come, and as what. */
export interface ProviderRules {
  /** `*`: all. */
  readonly oidcDomains: readonly string[];
  readonly oidcGroups: readonly string[];
  readonly oidcGroupsClaim: string;
  readonly oidcRoleClaim?: string | undefined;
  /** An id or an address; undefined: the first account. */
  readonly oidcAccount?: string | undefined;
  /** The person is told of a first proof of their address by mail: without it an operator has to prove it. */
  readonly sendsMail: boolean;
}

export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly reason: ProviderRefusalReason;

  constructor(reason: ProviderRefusalReason, cause?: unknown) {
    super(`A person whom the identity provider knows is not let in: ${reason}.`, { cause });
    this.reason = reason;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const inside = (at: unknown, part: string): unknown =>
  isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined;

/** @param name of a claim, or a path of names with dots, such as `realm_access.roles` */
function textsOf(claims: ProviderPerson['claims'], name: string): readonly string[] {
  const value = inside(claims, name) ?? name.split('.').reduce<unknown>(inside, claims);
  return [value].flat().filter((each) => typeof each === 'string');
}

/** The role that the claims give; of several, the one that may do most. */
export function roleIn(
  claims: ProviderPerson['claims'],
  { oidcRoleClaim: name }: Pick<ProviderRules, 'oidcRoleClaim'>,
): Role | undefined {
  if (name === undefined) return undefined;
  const given = textsOf(claims, name);
  return ROLES.find((role) => given.includes(role));
}

/** @throws {ProviderRefusal} `unverified`, `not-admitted` */
export function assertAdmitted(
  { email, claims }: Pick<ProviderPerson, 'email' | 'claims'>,
  { oidcDomains, oidcGroups, oidcGroupsClaim }: ProviderRules,
): void {
  if (oidcDomains.length > 0 && !oidcDomains.includes('*')) {
    if (email === undefined) throw new ProviderRefusal('unverified');
    const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
    if (!oidcDomains.includes(domain)) throw new ProviderRefusal('not-admitted');
  }
  const groups = oidcGroups.length === 0 ? [] : textsOf(claims, oidcGroupsClaim);
  if (oidcGroups.length > 0 && !groups.some((each) => oidcGroups.includes(each))) {
    throw new ProviderRefusal('not-admitted');
  }
}

/** Without a rule, the provider lets in those who are here already, and nobody else: it may know the whole world. */
export const takesNewPeople = ({ oidcDomains, oidcGroups }: ProviderRules): boolean =>
  oidcDomains.length + oidcGroups.length > 0;
