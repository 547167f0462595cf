/**
 * The table of mails: what each kind says, and to which address. A new kind needs a name in `MAIL_KINDS`, an entry here, its
 * words in `domain/event-summary.ts`, and the event that it tells of in `projections/mails.ts`.
 */
import type { MailRow } from '../../projections/mails.ts';
import type { ActorSystem } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import type { MailKind } from '../domain/choices.ts';
import { isEmailAddress } from '../domain/email.ts';
import type { Letter } from '../mail/letter.ts';
import type { ReadModel } from '../read-model/database.ts';
import type { Clock } from '../time/clock.ts';
import { invitationToken } from './invitations.ts';
import { loginOf, personName } from './logins.ts';
import { accountName } from './members.ts';

/** Pages of the dashboard, as mails link to them. */
export interface PageLinks {
  invitation(token: string): string;
}

export interface LetterDependencies {
  readonly actors: Pick<ActorSystem, 'read'>;
  readonly vault: Pick<Vault, 'unseal' | 'unsealExactly' | 'linkSecret'>;
  readonly readModel: ReadModel;
  readonly clock: Clock;
  readonly links: PageLinks;
}

/** Resolves to undefined where there is nothing to tell any more. */
type Write = (deps: LetterDependencies, row: MailRow) => Promise<Letter | undefined>;

const dateText = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ', ')} UTC`;

const ROLE_TEXTS = { owner: 'an owner', member: 'a member', auditor: 'an auditor' } as const;

const LETTERS: Readonly<Record<MailKind, Write>> = {
  async invitation(deps, { accountId = '', personId }) {
    const { state } = await deps.actors.read(accountAggregate, accountId);
    const invitation = state.invitations[personId];
    const isOpen = invitation !== undefined && invitation.expiresAt > deps.clock.now();
    if (state.status !== 'open' || state.suspension !== undefined || !isOpen) return undefined;
    const { invitedBy, role, expiresAt } = invitation;
    const by =
      invitedBy === undefined ? 'The operator of the service' : await personName(deps, invitedBy);
    const account = (await accountName(deps, accountId)) ?? accountId;
    return {
      subject: 'You are invited to an account of Pressledger',
      paragraphs: [`${by} invites you to an account as ${ROLE_TEXTS[role]}.`],
      facts: [
        ['Account', account],
        ['The invitation ends', dateText(expiresAt)],
      ],
      action: {
        label: 'Accept the invitation',
        url: deps.links.invitation(await invitationToken(deps, accountId, personId)),
      },
      notes: [
        'The link works once. Whoever has it can take the invitation: do not pass this mail on.',
      ],
      why: 'You get this mail because somebody entered your address. If you do not know who, leave it: nothing happens.',
    };
  },
};

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
  const letter = await LETTERS[row.kind](deps, row);
  return letter && { to, letter };
}

async function addressOf(
  deps: LetterDependencies,
  { personId, email }: MailRow,
): Promise<string | undefined> {
  if (email !== undefined) return await deps.vault.unsealExactly(personId, email);
  const login = await loginOf(deps, personId);
  return login && (await deps.vault.unsealExactly(login.sealedBy, login.email));
}
