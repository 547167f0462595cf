/** The keys, the use and the failures of an account, for operators. Nothing in it names a document. */
import Type from 'typebox';
import { apiKeyQueries } from '../../../projections/api-keys.ts';
import { DAY_MS, usageQueries } from '../../../projections/usage.ts';
import { assertOpen } from '../../accounts/account-details.ts';
import { sendToAccount } from '../../accounts/accounts.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { isoTime } from '../../time/clock.ts';
import { Closed, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { operatorContext, operatorOf } from '../operator.ts';
import { accountIdOf, reasonOf, REASON, WRONG_REASON } from './operator-acts.ts';
import { UsageDay, usageDays } from './usage.ts';

const DAYS = 30;
/** No account has more (MAX_ACCOUNT_KEYS), unless its operator allows more than a person reads. */
const MOST_KEYS = 1_000;

/** The answer of `GET /operator/accounts/{id}/activity/`. */
export const AccountActivity = Closed({
  keys: Type.Array(
    Closed({
      id: Text('key_3m5n7p9q1r3s5t7v9w1x3y5z7a'),
      prefix: Text('pk_live_Ab12', 'The first 12 characters.'),
      created_at: Timestamp('The time when it was created.'),
      last_used_at: OrNull(Timestamp('The time of its last use; null: never.')),
    }),
    { description: 'Its valid API keys, newest first. Their names are its own.' },
  ),
  days: Type.Array(UsageDay, {
    description: `The last ${DAYS} days in UTC, without those on which nothing happened.`,
  }),
});

export const getAccountActivity: Endpoint = {
  doc: {
    id: 'getAccountActivity',
    tag: 'Operators',
    summary: 'See the keys, the use and the failures of an account',
    description:
      'Prefixes of keys, and counts of conversions and of failures by their code: no name, no text and no document. The look is an event of the account, once an hour for each operator.',
    parameters: [REASON],
    answers: { 200: { description: 'What the account did.', schema: AccountActivity } },
    errors: { validation_error: WRONG_REASON },
  },
  handler: (deps) => async (ctx) => {
    const reason = reasonOf(ctx);
    const accountId = accountIdOf(ctx);
    await assertOpen(deps, accountId);
    const context = await operatorContext(ctx, deps, accountId, reason);
    const { time: now } = context.metadata;
    const actor = operatorOf(ctx);
    const by = 'id' in actor && actor.id !== undefined ? { by: actor.id } : {};
    // Before anything is shown.
    await sendToAccount(deps, { type: 'RecordLook', accountId, ...by, now }, context);
    const queries = await consistentQuery(deps, apiKeyQueries);
    const { rows } = queries.page(accountId, { offset: 0, limit: MOST_KEYS });
    const today = Math.floor(now / DAY_MS);
    const days = deps.readModel.query(usageQueries).days(accountId, today - DAYS + 1, today);
    ctx.body = {
      keys: rows.map(({ id, prefix, createdAt, lastUsedAt }) => ({
        id,
        prefix,
        created_at: isoTime(createdAt),
        last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
      })),
      days: usageDays(days),
    };
  },
};
