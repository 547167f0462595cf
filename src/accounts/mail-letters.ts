/**
 * The table of mails: what each kind says, and to which address. A new kind needs a name in `MAIL_KINDS`, an entry here, its
 * words in `domain/event-summary.ts`, and the event that it tells of in `projections/mails.ts`.
 */
import { apiKeyQueries } from '../../projections/api-keys.ts';
import type { MailRow } from '../../projections/mail-queries.ts';
import type { ActorSystem } from '../actors/system.ts';
import { REMOVED_PERSON, type Vault } from '../documents/keys/vault.ts';
import { type AccountState, accountAggregate } from '../domain/account.ts';
import type { MailKind } from '../domain/choices.ts';
import { isEmailAddress } from '../domain/email.ts';
import { endpointOf, webhooksAggregate } from '../domain/webhooks.ts';
import { homeOf } from '../domain/members.ts';
import { signUpAggregate } from '../domain/sign-up.ts';
import type { Letter } from '../mail/letter.ts';
import type { ReadModel } from '../read-model/database.ts';
import { unlinkedName } from '../text/plain-text.ts';
import type { Clock } from '../time/clock.ts';
import { offeredEmail } from './email-change.ts';
import { invitationToken } from './invitations.ts';
import { findLogin, loginOf, personTexts } from './logins.ts';
import { accountName } from './members.ts';
import { mailedReset } from './password-reset.ts';
import { signUpToken } from './sign-up.ts';

/** Pages of the dashboard, as mails link to them. */
export interface PageLinks {
  invitation(token: string): string;
  resetPassword(token: string): string;
  confirmEmail(token: string): string;
  page(name: 'account' | 'keys' | 'webhooks' | 'usage'): string;
  signUp(token: string): string;
  signIn(): string;
}

export interface LetterDependencies {
  readonly actors: Pick<ActorSystem, 'read'>;
  /** Keys the hash under which a sign-in address is found. */
  readonly addressKey: Buffer;
  readonly vault: Pick<Vault, 'unseal' | 'unsealExactly' | 'linkSecret'>;
  readonly readModel: ReadModel;
  readonly clock: Clock;
  readonly links: PageLinks;
}

interface About extends MailRow {
  readonly accountId: string;
  readonly account: AccountState;
  /** The address by which people know the account. */
  readonly accountCalled: string;
}

/** Resolves to undefined where there is nothing to tell any more. */
type Write<Row = About> = (deps: LetterDependencies, row: Row) => Promise<Letter | undefined>;

const dateText = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ', ')} UTC`;

const ROLE_TEXTS = { owner: 'an owner', member: 'a member', auditor: 'an auditor' } as const;

const ofOwners = (account: string): string =>
  `You get this mail as an owner of the account ${account}. The page Account says which mails you get.`;

/** A person, to a stranger: somebody who chooses a name must not choose what the stranger is led to. */
async function nameFor(deps: LetterDependencies, personId: string): Promise<string> {
  const { name, email = REMOVED_PERSON } = await personTexts(deps, personId);
  return name === undefined ? email : unlinkedName(name);
}

/** Mails about an account that is open and not suspended. */
const OF_ACCOUNT: Readonly<Record<Exclude<MailKind, keyof typeof OF_PERSON>, Write>> = {
  async invitation(deps, { accountId, personId, account, accountCalled }) {
    const invitation = account.invitations[personId];
    if (invitation === undefined || invitation.expiresAt <= deps.clock.now()) return undefined;
    const { invitedBy, role, expiresAt } = invitation;
    const by =
      invitedBy === undefined ? 'The operator of the service' : await nameFor(deps, invitedBy);
    return {
      subject: 'You are invited to a Pressledger account',
      paragraphs: [`${by} invites you to an account as ${ROLE_TEXTS[role]}.`],
      facts: [
        ['Account', accountCalled],
        ['The invitation ends', dateText(expiresAt)],
      ],
      action: {
        label: 'Accept the invitation',
        url: deps.links.invitation(await invitationToken(deps, accountId, personId)),
      },
      notes: [
        'The link works once. Whoever has it can accept the invitation: do not pass this mail on.',
      ],
      why: 'You get this mail because somebody entered your address. If you do not know who, ignore it: nothing happens.',
    };
  },

  async new_sign_in(deps, { accountId, accountCalled, since, facts }) {
    const { address, userAgent } = facts;
    const open = (text: string | number | undefined) =>
      text === undefined ? 'not known' : deps.vault.unseal(accountId, String(text));
    return {
      subject: 'A sign-in to Pressledger from a new place',
      paragraphs: [
        'Somebody signed in as you from an address that you have not signed in from lately.',
      ],
      facts: [
        ['Account', accountCalled],
        ['Time', dateText(since)],
        ['Address', await open(address)],
        ['Program', await open(userAgent)],
      ],
      action: { label: 'Look at your sessions', url: deps.links.page('account') },
      notes: [
        'If it was you, there is nothing to do. If not, change your password at once: it ends all your sessions.',
      ],
      why: 'You get this mail because it is about the security of your sign-in. It cannot be switched off.',
    };
  },

  async credits_low(deps, { account, accountCalled, facts }) {
    const { balance, below } = facts;
    return {
      subject: 'Credits of your account are low',
      paragraphs: [
        `Fewer than ${below} credits of the account are left. When there are none, conversions are refused.`,
      ],
      facts: [
        ['Account', accountCalled],
        ['Left then', String(balance)],
        ['Left now', String(account.credits)],
      ],
      action: { label: 'Look at the usage', url: deps.links.page('usage') },
      why: ofOwners(accountCalled),
    };
  },

  async webhook_disabled(deps, { accountId, about = '', accountCalled, facts }) {
    const { state } = await deps.actors.read(webhooksAggregate, accountId);
    const endpoint = endpointOf(state, about);
    // Deleted since, or switched on again.
    if (endpoint === undefined || endpoint.enabled) return undefined;
    const { reason, failingSince } = facts;
    const why =
      reason === 'gone'
        ? 'It answered 410, which means that it wants no more deliveries.'
        : `Every try since ${dateText(Number(failingSince))} failed.`;
    return {
      subject: 'A webhook endpoint was switched off',
      paragraphs: [
        `The service switched off a webhook endpoint of the account, and sends nothing to it any more. ${why}`,
      ],
      facts: [
        ['Account', accountCalled],
        ['Endpoint', await deps.vault.unseal(accountId, endpoint.url)],
      ],
      action: { label: 'Look at the webhooks', url: deps.links.page('webhooks') },
      notes: ['Once it answers again, switch it on. What failed can be delivered once more.'],
      why: ofOwners(accountCalled),
    };
  },

  async key_expiring(deps, { accountId, about = '', accountCalled }) {
    const key = deps.readModel.query(apiKeyQueries).byId(about);
    const { expiresAt = 0 } = key?.rights ?? {};
    if (key === undefined || key.revoked || expiresAt <= deps.clock.now()) return undefined;
    return {
      subject: 'An API key expires soon',
      paragraphs: ['An API key that you made expires soon. Programs that use it are refused then.'],
      facts: [
        ['Account', accountCalled],
        ['Key', `${await deps.vault.unseal(accountId, key.name)} (${key.prefix}…)`],
        ['It expires', dateText(expiresAt)],
      ],
      action: { label: 'Look at the API keys', url: deps.links.page('keys') },
      notes: ['Create another key, use it instead, and revoke this one.'],
      why: `You get this mail because you made the key. The page Account says which mails you get.`,
    };
  },
};

const passwordReset: Write<MailRow> = async (deps, { personId }) => {
  const offer = await mailedReset(deps, personId, deps.clock.now());
  if (offer === undefined) return undefined;
  return {
    subject: 'Set another password for Pressledger',
    paragraphs: ['Somebody asked for a link that sets another password for this address.'],
    action: { label: 'Set another password', url: deps.links.resetPassword(offer.token) },
    notes: [
      `The link works once, until ${dateText(offer.expiresAt)}. It ends all your sessions.`,
      'If you did not ask for it, ignore this mail: your password stays as it is.',
    ],
    why: 'You get this mail because somebody entered your address at the sign-in.',
  };
};

const emailChange: Write<MailRow> = async (deps, { personId, email = '' }) => {
  const offer = await offeredEmail(deps, personId, deps.clock.now());
  // The mail of an earlier request has another sealed address.
  if (offer === undefined || offer.email !== email) return undefined;
  const address = await deps.vault.unsealExactly(personId, email);
  const why =
    'You get this mail because somebody entered your address. If it was not you, ignore it: nothing happens.';
  // Who asked for it is told nothing of who has the address.
  if ((await findLogin(deps, address)) !== undefined) {
    return {
      subject: 'You sign in to Pressledger already',
      paragraphs: [
        'Somebody asked to sign in with your address from now on. Your address has a sign-in already, so nothing was changed.',
      ],
      action: { label: 'Sign in', url: deps.links.signIn() },
      why,
    };
  }
  return {
    subject: 'Confirm your address for Pressledger',
    paragraphs: ['Somebody asked to sign in with this address from now on, in place of another.'],
    action: { label: 'Use this address', url: deps.links.confirmEmail(offer.token) },
    notes: [
      `The link works once, until ${dateText(offer.expiresAt)}. It ends all your sessions.`,
      'Until then the other address signs in.',
    ],
    why,
  };
};

const emailChanged: Write<MailRow> = async (_, { since }) => ({
  subject: 'Your sign-in address for Pressledger was changed',
  paragraphs: [
    'You sign in with another address from now on. This one does not sign in any more, and all your sessions have ended.',
  ],
  facts: [['Time', dateText(since)]],
  notes: [
    'If it was you, there is nothing to do. If not, tell the people who run this service at once: a link to set a password does not come to this address any more.',
  ],
  why: 'You get this mail because it is about the security of your sign-in. It cannot be switched off.',
});

const addressProven: Write<MailRow> = async (deps, { since }) => ({
  subject: 'Your address is confirmed for Pressledger',
  paragraphs: [
    'Your address was confirmed for the first time. Before that, somebody else could have used it. So everything from before has ended: the password, passkeys, the second factor, sessions, and memberships in accounts.',
  ],
  facts: [['Time', dateText(since)]],
  action: { label: 'Sign in', url: deps.links.signIn() },
  notes: [
    'If you belonged to an account before, ask an owner of it to invite you again.',
    'If you have not confirmed your address, tell the people who run this service.',
  ],
  why: 'You get this mail because it is about the security of your sign-in. It cannot be switched off.',
});

const signUp: Write<MailRow> = async (deps, { personId, email }) => {
  const accountId = homeOf(personId);
  const { state } = await deps.actors.read(signUpAggregate, accountId);
  if (state.status !== 'open' || state.expiresAt <= deps.clock.now()) return undefined;
  const why =
    'You get this mail because somebody entered your address. If it was not you, ignore it: nothing happens.';
  const address = await deps.vault.unsealExactly(personId, email ?? '');
  // The page that asked for the address has said nothing of it to anybody.
  if ((await findLogin(deps, address))?.isProven) {
    return {
      subject: 'You sign in to Pressledger already',
      paragraphs: [
        'Somebody asked for a new account with your address. Your address has a sign-in already, so no other account was opened.',
      ],
      action: { label: 'Sign in', url: deps.links.signIn() },
      notes: ['If you have forgotten the password, the sign-in page can mail you a link.'],
      why,
    };
  }
  return {
    subject: 'Open your Pressledger account',
    paragraphs: ['Confirm your address, and choose a password: then the account is open.'],
    facts: [['The link ends', dateText(state.expiresAt)]],
    action: {
      label: 'Open the account',
      url: deps.links.signUp(await signUpToken(deps, personId)),
    },
    notes: ['The link works once. Whoever has it can open the account: do not pass this mail on.'],
    why,
  };
};

/** Mails about a person, whatever becomes of the account. */
const OF_PERSON = {
  password_reset: passwordReset,
  sign_up: signUp,
  email_change: emailChange,
  email_changed: emailChanged,
  address_proven: addressProven,
} as const satisfies Partial<Record<MailKind, Write<MailRow>>>;

const isOfPerson = (kind: MailKind): kind is keyof typeof OF_PERSON =>
  Object.hasOwn(OF_PERSON, kind);

/**
 * The mail, as the log is now.
 * @returns undefined where there is nobody, or nothing, to tell
 * @throws {KeyErased} the person or the account was erased
 */
export async function letterFor(
  deps: LetterDependencies,
  row: MailRow,
): Promise<{ readonly to: string; readonly letter: Letter } | undefined> {
  const to = await addressOf(deps, row);
  if (to === undefined || !isEmailAddress(to)) return undefined;
  const letter = await letterOf(deps, row);
  return letter && { to, letter };
}

async function letterOf(deps: LetterDependencies, row: MailRow): Promise<Letter | undefined> {
  const { kind, accountId } = row;
  if (isOfPerson(kind)) return await OF_PERSON[kind](deps, row);
  if (accountId === undefined) return undefined;
  const { state: account } = await deps.actors.read(accountAggregate, accountId);
  if (account.status !== 'open' || account.suspension !== undefined) return undefined;
  const accountCalled = (await accountName(deps, accountId)) ?? accountId;
  return await OF_ACCOUNT[kind](deps, { ...row, accountId, account, accountCalled });
}

async function addressOf(
  deps: LetterDependencies,
  { personId, email }: MailRow,
): Promise<string | undefined> {
  if (email !== undefined) return await deps.vault.unsealExactly(personId, email);
  const login = await loginOf(deps, personId);
  return login && (await deps.vault.unsealExactly(login.sealedBy, login.email));
}
