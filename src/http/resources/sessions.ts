/** Lists and ends the sessions of the account. */
import { sessionQueries } from '../../../projections/sessions.ts';
import { endSessions } from '../../accounts/accounts.ts';
import { sessionRecord } from '../../accounts/records.ts';
import { orThrow } from '../../actors/command-context.ts';
import { SESSION_ID } from '../../domain/ids.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { callerOf, commandContext, type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { sessionInForce } from '../middleware/credential.ts';
import { sessionIdOf } from '../middleware/sessions-only.ts';
import { pageOf, sendPage } from '../pagination.ts';

const wholeId = new RegExp(`^${SESSION_ID}$`);

export function listSessions(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues);
    issues.throwIfAny();
    const queries = await consistentQuery(deps, sessionQueries, ctx.state.asOf);
    const { rows, total } = queries.page(caller.accountId, deps.clock.now(), page);
    const sessions = rows.map(async (row) => ({
      ...(await sessionRecord(deps.vault, row)),
      current: row.id === sessionIdOf(caller),
    }));
    sendPage(ctx, deps.publicUrl, page, total, await Promise.all(sessions));
  };
}

export function deleteSession(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const { accountId } = caller;
    const sessionId = pathParameter(ctx, 'id');
    // One that ended with all others, or by its time, is still open in its stream.
    const isOpen =
      wholeId.test(sessionId) &&
      (await sessionInForce(deps, { accountId, sessionId }, ctx.state.asOf)) !== undefined;
    if (!isOpen) throw new ServiceError('not_found', 'There is no such session.');
    const context = await commandContext(ctx, deps, caller);
    const command = { type: 'RevokeSession', sessionId, accountId } as const;
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
    ctx.status = 204;
  };
}

export function deleteSessions(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    await endSessions(deps, caller.accountId, await commandContext(ctx, deps, caller));
    ctx.status = 204;
  };
}
