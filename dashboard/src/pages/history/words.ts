/** Events and those who caused them, in words. */
import type { components } from '../../api/schema.d.ts';
import { ROLE_NAMES } from '../../ui/format.ts';
import { t } from '../../words/words.ts';

type Entry = components['schemas']['HistoryEntry'];
type Actor = Entry['actor'];

/** ConversionRequested → Conversion requested. */
export function typeText(type: string): string {
  if (type === 'SignInsLeftOut') return t('Refused sign-ins, not listed one by one');
  const words = type.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const ACTOR_KINDS = {
  key: t('An API key'),
  session: t('A person who is signed in'),
  account: t('A person with the password'),
  renderer: t('A renderer'),
  operator: t('The operator of the service'),
  service: t('The service itself'),
  anonymous: t('Somebody who is not signed in'),
} as const satisfies Record<Actor['kind'], string>;

/** The member who acted, with the role of that time; older events name none. */
export const memberText = ({ name, role }: Actor): string | undefined =>
  name === undefined ? undefined : `${name}${role === undefined ? '' : ` (${ROLE_NAMES[role]})`}`;

/** Names those who have a name that says something; the ids of others are of no use to a person. */
export function actorText(actor: Actor): string {
  const { kind, id, key_name: name, key_prefix: prefix } = actor;
  const who = memberText(actor);
  if (kind === 'renderer' && id !== undefined)
    return t('Renderer {value}', { value: id.replace(/^renderer-/, '') });
  const value = who === undefined ? '' : t(' of {who}', { who });
  if (name !== undefined) return t('The API key “{name}”{value}', { name, value });
  if (prefix !== undefined) return t('The API key {prefix}…{value}', { prefix, value });
  return who ?? ACTOR_KINDS[kind];
}

/** Events of the log itself, and of accounts that nobody can sign in to. */
const IS_OF_LOG =
  /^(Log|Checkpoint|SigningKey|MailSwitched|AccountErased|ErasureCompleted|UnknownSignIn|PersonResetOffered)/;

/** Those of an account, of all types that there are. */
export const typesOfAccount = (types: readonly string[]): readonly string[] =>
  types.filter((type) => !IS_OF_LOG.test(type));
