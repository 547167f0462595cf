/** Judges sign-ins by the streams of the session, the account and the person, so that an end holds at once. */
import { loginOf } from '../../accounts/logins.ts';
import { type AccountState, accountAggregate } from '../../domain/account.ts';
import type { SignInMethod } from '../../domain/choices.ts';
import type { SessionKind } from '../../domain/event-fields.ts';
import { founderOf, type Member } from '../../domain/members.ts';
import { sessionAggregate } from '../../domain/session.ts';
import type { HttpDependencies } from '../dependencies.ts';
import type { TokenClaims } from '../tokens.ts';

export interface SessionInForce {
  readonly account: AccountState;
  readonly personId: string;
  readonly member: Member;
  readonly kind: SessionKind;
  /** What the person proved. */
  readonly methods: readonly SignInMethod[];
}

/** The sign-in that a token came from, with its open account, if it still holds. */
export async function sessionInForce(
  { actors, clock }: Pick<HttpDependencies, 'actors' | 'clock'>,
  { accountId, sessionId }: TokenClaims,
  asOf?: bigint,
): Promise<SessionInForce | undefined> {
  const { state: session } = await actors.read(sessionAggregate, sessionId, asOf);
  const holds =
    session.status === 'open' && session.accountId === accountId && clock.now() < session.expiresAt;
  if (!holds) return undefined;
  const { state: account } = await actors.read(accountAggregate, accountId, asOf);
  const member = account.members[session.personId];
  if (account.status !== 'open' || member?.epoch !== session.epoch) return undefined;
  const { personId, kind, methods } = session;
  if (personId !== founderOf(accountId)) {
    const login = await loginOf({ actors }, personId, asOf);
    if (login?.passwords !== session.passwords) return undefined;
  }
  return { account, personId, member, kind, methods };
}
