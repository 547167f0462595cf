/** What all acts of operators on an account have in common: its id, the reason, and the answer. */
import Type from 'typebox';
import { accountDetails, assertOpen } from '../../accounts/account-details.ts';
import { recordLook, sendToAccount } from '../../accounts/accounts.ts';
import type { AccountCommand } from '../../domain/account.ts';
import { ACCOUNT_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile, type ValidationIssues, validated } from '../../requests/validation.ts';
import { type HttpContext, type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { Closed, Text } from '../openapi/fields.ts';
import { inQuery, wrongField } from '../openapi/operation.ts';
import { operatorContext } from '../operator.ts';
import { checkQuery, WRONG_QUERY } from '../pagination.ts';

const WHOLE_ID = new RegExp(`^${ACCOUNT_ID}$`);

/** Kept with the event, sealed: the account reads it in its history. */
export const Reason = Text(
  'The customer asked for it by telephone.',
  'Why, in words that the account reads in its history.',
  { minLength: 1, maxLength: 500, pattern: String.raw`\S` },
);
export const REASON = inQuery(
  'reason',
  'Why, in at most 500 characters that the account reads in its history.',
);

export const WRONG_REASON = wrongField('reason', 'Must not be empty.', WRONG_QUERY.when);

const checkReason = compile(Closed({ reason: Type.Optional(Reason) }));

export const notOwn = (verb: string, command: string): string =>
  `Operators cannot ${verb} their own account. Another operator can, or pressledger account ${command}.`;

/** @throws {ServiceError} `not_found` where it can be no account's */
export function accountIdOf(ctx: HttpContext): string {
  const id = pathParameter(ctx, 'id');
  if (!WHOLE_ID.test(id)) throw new ServiceError('not_found', 'There is no such account.');
  return id;
}

/** The reason in the query of a request without a body. */
export function reasonOf(ctx: HttpContext): string | undefined {
  const { reason = null } = ctx.query;
  return validated((issues) => {
    checkQuery(ctx, issues, ['reason']);
    return checkReason({ reason }, issues).reason;
  });
}

/** Ends something of an account. */
export function removal(
  deps: RouteDependencies,
  make: (accountId: string, now: number) => AccountCommand,
): HttpMiddleware {
  return async (ctx) => {
    const reason = reasonOf(ctx);
    const accountId = accountIdOf(ctx);
    await assertOpen(deps, accountId);
    const context = await operatorContext(ctx, deps, accountId, reason);
    await sendToAccount(deps, make(accountId, context.metadata.time), context);
    ctx.status = 204;
  };
}

/** A change of one account, answered with the account as it is after it. */
export function change<T extends { readonly reason?: string }>(
  deps: RouteDependencies,
  check: (body: object, issues: ValidationIssues) => T,
  make: (
    accountId: string,
    given: T,
    context: Awaited<ReturnType<typeof operatorContext>>,
    ctx: HttpContext,
  ) => Promise<{ readonly events: readonly unknown[] }>,
): HttpMiddleware {
  return async (ctx) => {
    const given = await deps.bodies.readSmall(ctx, deps.config, check);
    const accountId = accountIdOf(ctx);
    await assertOpen(deps, accountId);
    const context = await operatorContext(ctx, deps, accountId, given.reason);
    const { events } = await make(accountId, given, context, ctx);
    // The answer says how the account is, also where nothing was changed.
    if (events.length === 0) await recordLook(deps, accountId, context, 'account');
    ctx.body = await accountDetails(deps, accountId);
  };
}
