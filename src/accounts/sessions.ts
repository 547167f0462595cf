/** Opening sessions, no more than a person may have in an account. */
import { type SessionsOf, sessionQueries } from '../../projections/sessions.ts';
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { SessionKind } from '../domain/event-fields.ts';
import { founderOf } from '../domain/members.ts';
import { sessionAggregate } from '../domain/session.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Budgets } from '../limits/budgets.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { plainText } from '../text/plain-text.ts';
import { newCommandId, newSessionId } from '../time/ids.ts';
import type { SignedIn } from './sign-in.ts';

/** Names a browser and its system. Longer ones are cut: each is kept in the log for ever. */
const MAX_USER_AGENT_CHARACTERS = 256;

interface SessionDependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly budgets: Budgets;
  readonly vault: Pick<Vault, 'seal'>;
}

/**
 * Ends the person's oldest sessions of the account until no more are open than they may have. Each sign-in looks after
 * its own session is in the log, so of several at the same time the last one sees them all.
 */
async function endOldest(
  deps: SessionDependencies,
  whose: SessionsOf,
  context: CommandContext,
): Promise<void> {
  const { limit } = deps.budgets.get('maxAccountSessions');
  const { time } = context.metadata;
  const open = (await consistentQuery(deps, sessionQueries)).open(whose, time);
  // The session that is being opened may be one of them: its two events must not have one id.
  const revocation = { ...context, commandId: newCommandId(time) };
  await Promise.all(
    open.slice(limit).map(async (sessionId) => {
      // Refused where it has ended meanwhile, which is as good.
      const command = { type: 'RevokeSession', sessionId } as const;
      await deps.actors.send(sessionAggregate, sessionId, command, revocation);
    }),
  );
}

async function sealedUserAgent(
  { vault }: SessionDependencies,
  accountId: string,
  given: string,
): Promise<{ readonly userAgent?: string }> {
  const userAgent = plainText(given).slice(0, MAX_USER_AGENT_CHARACTERS);
  return userAgent === '' ? {} : { userAgent: await vault.seal(accountId, userAgent) };
}

export interface OpenedSession extends Pick<SignedIn, 'accountId' | 'personId' | 'role'> {
  readonly sessionId: string;
  readonly expiresAt: number;
}

export interface SessionTerms {
  readonly kind: SessionKind;
  readonly lifetimeMs: number;
  /** That of a session which may be opened once; absent: a new one. */
  readonly sessionId?: string;
}

/**
 * @param userAgent the client's own, or empty
 * @throws {ServiceError} `unauthorized` where the session has been opened before
 */
export async function openSession(
  deps: SessionDependencies,
  { accountId, personId, role, sessionEpoch: epoch, passwords, client, methods }: SignedIn,
  { kind, lifetimeMs, userAgent, ...terms }: SessionTerms & { readonly userAgent: string },
  context: CommandContext,
): Promise<OpenedSession> {
  const { time } = context.metadata;
  const { sessionId = newSessionId(time) } = terms;
  const expiresAt = time + lifetimeMs;
  // A founder's passwords are counted in the epoch of the account.
  const whose = personId === founderOf(accountId) ? {} : { personId, passwords };
  const session = { accountId, sessionId, expiresAt, epoch, client, kind, methods, ...whose };
  const sealed = await sealedUserAgent(deps, accountId, userAgent);
  const command = { type: 'OpenSession', ...session, ...sealed } as const;
  const { events } = orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
  if (events.length === 0) throw new ServiceError('unauthorized');
  await endOldest(deps, { accountId, personId }, context);
  return { accountId, personId, role, sessionId, expiresAt };
}
