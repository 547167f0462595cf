/** What accounts do, for operators: all of them over time, and one in particular. Nothing in it names a document. */
import Type from 'typebox';
import { type ActivityStep, activityQueries } from '../../../projections/activity.ts';
import { apiKeyQueries } from '../../../projections/api-keys.ts';
import { DAY_MS, usageQueries } from '../../../projections/usage.ts';
import { assertOpen } from '../../accounts/account-details.ts';
import { recordLook } from '../../accounts/accounts.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { Closed, Count, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, inQuery, wrongField } from '../openapi/operation.ts';
import { operatorContext } from '../operator.ts';
import { checkQuery } from '../pagination.ts';
import { periodOf, periodParameters } from '../period.ts';
import { accountIdOf, REASON, reasonOf, WRONG_REASON } from './operator-acts.ts';
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
    await recordLook(deps, accountId, context);
    const queries = await consistentQuery(deps, apiKeyQueries);
    const { rows } = queries.page(accountId, { offset: 0, limit: MOST_KEYS });
    const today = Math.floor(context.metadata.time / DAY_MS);
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

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The lengths of a step, in minutes: each divides a day, so that a step begins when one in UTC does. */
const STEPS = [1, 5, 10, 30, 60, 180, 360, 1440] as const;
/** Steps of an answer for which no length was asked. */
const USUAL_STEPS = 180;
const MOST_STEPS = 1_500;
const WRONG_STEP = `Must be one of ${STEPS.join(', ')}: minutes.`;

/** The answer of `GET /operator/activity/`. */
export const ServiceActivity = Closed({
  step_minutes: Type.Enum([...STEPS], { description: 'The length of a step.', examples: [10] }),
  steps: Type.Array(
    Closed({
      time: Timestamp('The time when the step begins. It is a multiple of its length in UTC.'),
      accepted: Count('The conversions that were accepted in it.', 12),
      completed: Count('The conversions that completed in it.', 11),
      failed: Count('The conversions that failed in it, without the cancelled.', 1),
      cancelled: Count('The conversions that their accounts cancelled in it.', 0),
      waiting: Count('The conversions that waited at its end, or now.', 3),
      rendering: Count('The conversions that were being rendered at its end, or now.', 2),
      completion_ms: OrNull(
        Closed(
          {
            median: Count('Half of them took at most so long.', 900),
            p95: Count('95 % of them took at most so long.', 2_400),
          },
          {
            description:
              'The time from the acceptance to the completion of those that completed in it, within 5 %; null: none did.',
          },
        ),
      ),
    }),
    { description: 'All steps, oldest first, also those in which nothing happened.' },
  ),
});

const stepRecord = ({ from, completion, ...step }: ActivityStep) => ({
  time: isoTime(from),
  ...step,
  completion_ms: completion ?? null,
});

export const getServiceActivity: Endpoint = {
  doc: {
    id: 'getServiceActivity',
    tag: 'Operators',
    summary: 'See what the service did over time',
    description:
      'Conversions of all accounts by steps of time, counted from the log: the same on every node, after each start, and for any time in the past. Minutes are kept for 3 days and hours for 400; before that there are days.',
    parameters: [
      ...periodParameters('The steps'),
      inQuery(
        'step',
        `The length of a step in minutes: ${STEPS.join(', ')}. Default: one that gives at most ${USUAL_STEPS} steps.`,
      ),
    ],
    answers: { 200: { description: 'The steps.', schema: ServiceActivity } },
    errors: {
      validation_error: wrongField(
        'step',
        WRONG_STEP,
        `A query parameter is unknown or invalid, the steps are more than ${MOST_STEPS}, or they are shorter than what is kept of that time.`,
      ),
    },
  },
  handler: (deps) => async (ctx) => {
    const issues = new ValidationIssues();
    checkQuery(ctx, issues, ['from', 'to', 'step']);
    const now = deps.clock.now();
    const { from: since, to: until = now } = periodOf(ctx, issues);
    const to = Math.min(until, now);
    const from = since ?? to - HOUR_MS;
    if (from >= to) issues.add('from', 'Must be earlier than to, and than now.');
    const { step: text } = ctx.query;
    const asked = STEPS.find((each) => String(each) === text);
    if (text !== undefined && asked === undefined) issues.add('step', WRONG_STEP);
    issues.throwIfAny();
    const queries = await consistentQuery(deps, activityQueries, ctx.state.asOf);
    const shortest = queries.shortest(from);
    const stepsOf = (step: number): number => Math.ceil((to - from) / MINUTE_MS / step);
    const usual = STEPS.find((each) => each >= shortest && stepsOf(each) <= USUAL_STEPS);
    const step = asked ?? usual ?? 1440;
    if (step < shortest) {
      issues.add('step', `Must be at least ${shortest}: of that time no shorter steps are kept.`);
    }
    if (stepsOf(step) > MOST_STEPS) {
      const remedy = step === 1440 ? 'a shorter time' : 'a longer step or a shorter time';
      issues.add(
        'step',
        `Gives ${stepsOf(step)} steps, more than ${MOST_STEPS}: ask for ${remedy}.`,
      );
    }
    issues.throwIfAny();
    ctx.body = { step_minutes: step, steps: queries.steps(from, to, step).map(stepRecord) };
  },
};
