/** Lists and ends the sessions of the account. */
import Type from 'typebox';
import { sessionQueries } from '../../../projections/sessions.ts';
import { endSessions } from '../../accounts/accounts.ts';
import { sessionRecord } from '../../accounts/records.ts';
import { orThrow } from '../../actors/command-context.ts';
import { SESSION_KINDS, SIGN_IN_METHODS } from '../../domain/choices.ts';
import { SESSION_ID } from '../../domain/ids.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { validated } from '../../requests/validation.ts';
import { callerOf, commandContext, pathParameter } from '../context.ts';
import { sessionInForce } from '../middleware/session-in-force.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import { Closed, Flag, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage } from '../pagination.ts';

const Client = Closed(
  {
    user_agent: OrNull(
      Text(
        'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
        'The User-Agent that it sent, at most 256 characters; null if it sent none.',
      ),
    ),
    address: OrNull(Text('192.0.2.7', 'Its address when it signed in.')),
  },
  { description: 'The client that signed in; null for an old session without a record.' },
);

/** One item of `GET /sessions/`. */
export const Session = Closed({
  id: Type.String({
    pattern: `^${SESSION_ID}$`,
    examples: ['sess_06f3k8r1v2w9x4y5z6a7b8c9d0'],
  }),
  kind: Type.Enum([...SESSION_KINDS], {
    description: 'dashboard: held by a cookie of a browser; api: held by a refresh token.',
    examples: ['dashboard'],
  }),
  methods: Type.Array(Type.Enum([...SIGN_IN_METHODS]), {
    description: 'What the person proved when they signed in, or later in the session.',
    examples: [['password']],
  }),
  opened_at: Timestamp('The time of the sign-in.'),
  expires_at: Timestamp('The time when the session ends at the latest.'),
  current: Flag('true for the session that the request was sent with.', true),
  client: OrNull(Client),
});

const wholeId = new RegExp(`^${SESSION_ID}$`);

export const listSessions: Endpoint = {
  doc: {
    id: 'listSessions',
    tag: 'Authentication',
    summary: 'List sessions',
    description:
      'All sessions that are open, newest first, with the client that each was opened by.',
    parameters: PAGE_PARAMETERS,
    answers: { 200: pageOfItems(Session) },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const page = validated((issues) => pageOf(ctx, issues));
    const queries = await consistentQuery(deps, sessionQueries, ctx.state.asOf);
    const { id: current, person: personId } = signedInOf(caller);
    const { accountId } = caller;
    const { rows, total } = queries.page({ accountId, personId }, deps.clock.now(), page);
    const sessions = rows.map(async (row) => ({
      ...(await sessionRecord(deps.vault, row)),
      current: row.id === current,
    }));
    sendPage(ctx, deps.publicUrl, page, total, await Promise.all(sessions));
  },
};

export const deleteSession: Endpoint = {
  doc: {
    id: 'endSession',
    tag: 'Authentication',
    summary: 'End a session',
    description:
      'Takes effect at once: the next request with any of its tokens is refused with 401.',
    answers: { 204: { description: 'The session has ended. There is no body.' } },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const { accountId } = caller;
    const { person: personId } = signedInOf(caller);
    const sessionId = pathParameter(ctx, 'id');
    // One that ended with all others, or by its time, is still open in its stream.
    const session =
      wholeId.test(sessionId) &&
      (await sessionInForce(deps, { accountId, sessionId }, ctx.state.asOf));
    if (!session || session.personId !== personId)
      throw new ServiceError('not_found', 'There is no such session.');
    const context = await commandContext(ctx, deps, caller);
    const command = { type: 'RevokeSession', sessionId, accountId, personId } as const;
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
    ctx.status = 204;
  },
};

export const deleteSessions: Endpoint = {
  doc: {
    id: 'endAllSessions',
    tag: 'Authentication',
    summary: 'End all sessions',
    description:
      'Ends all sessions that you have in the account at once, this one too. API keys stay valid.',
    answers: { 204: { description: 'All sessions have ended. There is no body.' } },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const whose = { accountId: caller.accountId, personId: signedInOf(caller).person };
    await endSessions(deps, whose, await commandContext(ctx, deps, caller));
    ctx.status = 204;
  },
};
