/** The accounts of the service, for its operators. Each change is the one that the command line makes. */
import {
  accountDetails,
  accountPage,
  accountsByEmail,
  assertOpen,
} from '../../accounts/account-details.ts';
import {
  endSessions,
  findAccount,
  normalAddress,
  openAccount,
  recordLook,
  sendToAccount,
} from '../../accounts/accounts.ts';
import { revokeApiKey } from '../../accounts/api-keys.ts';
import { beginErasure } from '../../accounts/erasure.ts';
import { assertPlan } from '../../accounts/rate-limits.ts';
import { firstCommand } from '../../actors/command-context.ts';
import { apiKeyAggregate } from '../../domain/api-key.ts';
import { fieldError, ServiceError } from '../../errors/errors.ts';
import { compile, ValidationIssues, validated } from '../../requests/validation.ts';
import { timeIn } from '../../time/clock.ts';
import { callerOf } from '../context.ts';
import { idempotencyKeyHash, idempotencyKeyOf } from '../idempotency-key.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { operatorContext, operatorOf } from '../operator.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { keyIdOf, noSuchKey } from './api-keys.ts';
import {
  AccountOpening,
  CreditGrant,
  deleteHoldDoc,
  deleteKeyOfAccountDoc,
  deleteRetentionDoc,
  ErasureRequest,
  getOperatorAccountDoc,
  HoldRequest,
  listOperatorAccountsDoc,
  PlanChange,
  postCreditsDoc,
  postEndSessionsDoc,
  postErasureDoc,
  postHoldDoc,
  postOperatorAccountDoc,
  postPlanDoc,
  postRetentionDoc,
  RetentionChange,
  WRONG_UNTIL,
} from './operator-accounts.api.ts';
import { confirmOperator } from './confirm.ts';
import { accountIdOf, change, notOwn, reasonOf, removal } from './operator-acts.ts';

const checkOpening = compile(AccountOpening);
const checkPlan = compile(PlanChange);
const checkRetention = compile(RetentionChange);
const checkGrant = compile(CreditGrant);
const checkHold = compile(HoldRequest);
const checkErasure = compile(ErasureRequest);

const NOT_ITS_ADDRESS = 'Is not the address of this account.';
export const listOperatorAccounts: Endpoint = {
  doc: listOperatorAccountsDoc,
  handler: (deps) => async (ctx) => {
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, ['email']);
    const { email } = ctx.query;
    if (Array.isArray(email)) issues.add('email', 'Must be given once.');
    issues.throwIfAny();
    if (typeof email !== 'string') {
      const { records, total } = await accountPage(deps, page);
      sendPage(ctx, deps.publicUrl, page, total, records);
      return;
    }
    const found = await accountsByEmail(deps, email);
    sendPage(ctx, deps.publicUrl, page, found.length, found.slice(page.offset));
  },
};

export const getOperatorAccount: Endpoint = {
  doc: getOperatorAccountDoc,
  handler: (deps) => async (ctx) => {
    const accountId = accountIdOf(ctx);
    await assertOpen(deps, accountId);
    await recordLook(deps, accountId, await operatorContext(ctx, deps, accountId), 'account');
    ctx.body = await accountDetails(deps, accountId);
  },
};

export const postOperatorAccount: Endpoint = {
  doc: postOperatorAccountDoc,
  handler: (deps) => async (ctx) => {
    const given = await deps.bodies.readSmall(ctx, deps.config, checkOpening);
    const { email, plan = 'free', credits = deps.config.freeCredits, password } = given;
    assertPlan(deps.config, plan);
    if ((await findAccount(deps, email)) !== undefined) {
      throw fieldError('email', 'There is an account with this address already.');
    }
    const opened = await openAccount(
      deps,
      { email, plan, credits, ...(password === undefined ? {} : { password }) },
      // The account has no key yet that the id of the request could be sealed with.
      firstCommand(deps.clock.now(), operatorOf(ctx)),
    );
    ctx.status = 201;
    ctx.body = opened;
  },
};

export const postPlan: Endpoint = {
  doc: postPlanDoc,
  handler: (deps) =>
    change(deps, checkPlan, async (accountId, { plan }, context) => {
      assertPlan(deps.config, plan);
      return await sendToAccount(deps, { type: 'ChangePlan', accountId, plan }, context);
    }),
};

export const postRetention: Endpoint = {
  doc: postRetentionDoc,
  handler: (deps) =>
    change(
      deps,
      checkRetention,
      async (accountId, { retention_seconds: retentionSeconds }, context) => {
        const most = deps.config.retentionSeconds;
        if (retentionSeconds > most) {
          throw fieldError(
            'retention_seconds',
            `Must be at most ${most}, which is RETENTION_SECONDS.`,
          );
        }
        return await sendToAccount(
          deps,
          { type: 'ChangeRetention', accountId, retentionSeconds },
          context,
        );
      },
    ),
};

export const deleteRetention: Endpoint = {
  doc: deleteRetentionDoc,
  handler: (deps) => removal(deps, (accountId) => ({ type: 'ChangeRetention', accountId })),
};

export const postCredits: Endpoint = {
  doc: postCreditsDoc,
  handler: (deps) =>
    change(deps, checkGrant, async (accountId, { amount }, context, ctx) => {
      const key = validated((issues) => idempotencyKeyOf(ctx, issues));
      const secret = deps.idempotencySecret;
      const command = {
        type: 'GrantCredits',
        accountId,
        amount,
        ...(key !== undefined && {
          idempotencyKey: idempotencyKeyHash(secret, accountId, key, 'credits'),
        }),
        now: context.metadata.time,
      } as const;
      const granted = await sendToAccount(deps, command, context);
      if (granted.events.length === 0) ctx.set('Idempotent-Replayed', 'true');
      return granted;
    }),
};

/** @throws {ServiceError} `validation_error` if it is given and is not a future time */
function endOf(until: string | undefined, now: number): number | undefined {
  if (until === undefined) return undefined;
  const time = timeIn(until);
  if (time !== undefined && time > now) return time;
  throw fieldError('until', WRONG_UNTIL);
}

export const postHold: Endpoint = {
  doc: postHoldDoc,
  handler: (deps) =>
    change(deps, checkHold, async (accountId, { until: asked }, context) => {
      const now = context.metadata.time;
      const until = endOf(asked, now);
      const end = until === undefined ? {} : { until };
      return await sendToAccount(deps, { type: 'PlaceHold', accountId, now, ...end }, context);
    }),
};

export const deleteHold: Endpoint = {
  doc: deleteHoldDoc,
  handler: (deps) => removal(deps, (accountId, now) => ({ type: 'ReleaseHold', accountId, now })),
};

export const postEndSessions: Endpoint = {
  doc: postEndSessionsDoc,
  handler: (deps) => async (ctx) => {
    const reason = reasonOf(ctx);
    const accountId = accountIdOf(ctx);
    await assertOpen(deps, accountId);
    const context = await operatorContext(ctx, deps, accountId, reason);
    const ended = await endSessions(deps, { accountId }, context);
    ctx.body = { sessions_ended: ended };
  },
};

export const deleteKeyOfAccount: Endpoint = {
  doc: deleteKeyOfAccountDoc,
  handler: (deps) => async (ctx) => {
    const reason = reasonOf(ctx);
    const id = keyIdOf(ctx);
    const { accountId, status } = (await deps.actors.read(apiKeyAggregate, id)).state;
    // Before the account: a key that was never made has none.
    if (status === 'none') throw noSuchKey();
    await assertOpen(deps, accountId);
    const context = await operatorContext(ctx, deps, accountId, reason);
    await revokeApiKey(deps, id, { accountId }, context);
    ctx.status = 204;
  },
};

export const postErasure: Endpoint = {
  doc: postErasureDoc,
  handler: (deps) => async (ctx) => {
    const { email, ...proof } = await deps.bodies.readSmall(ctx, deps.config, checkErasure);
    const accountId = accountIdOf(ctx);
    const { accountId: operatorId } = callerOf(ctx);
    if (accountId === operatorId) throw new ServiceError('forbidden', notOwn('erase', 'erase'));
    const address = await deps.vault.unseal(accountId, await assertOpen(deps, accountId));
    // Before the password: a slip of the hand must not count as a wrong try.
    if (normalAddress(email) !== normalAddress(address)) throw fieldError('email', NOT_ITS_ADDRESS);
    await confirmOperator(ctx, deps, proof);
    await beginErasure(deps, accountId, await operatorContext(ctx, deps, accountId));
    ctx.status = 202;
    ctx.body = { id: accountId, status: 'erasing' };
  },
};
