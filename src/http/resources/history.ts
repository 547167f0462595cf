/** Lists the events of the account, and of one of its conversions or batches, for the account itself. */
import Type from 'typebox';
import {
  type HistoryFilter,
  historyQueries,
  MAX_FILTERED_EVENTS,
} from '../../../projections/history.ts';
import { type HistoryPage, readHistory } from '../../conversions/history.ts';
import { REMOVED_PERSON } from '../../documents/keys/vault.ts';
import { ROLES } from '../../domain/choices.ts';
import { EVENT_TYPES } from '../../domain/events.ts';
import { BATCH_ID, CONVERSION_ID, PERSON_ID } from '../../domain/ids.ts';
import { fieldError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { callerOf, type HttpContext, pathParameter, readerOf } from '../context.ts';
import { AS_OF, momentOf, WRONG_MOMENT } from '../as-of.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { Closed, Count, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, inQuery, type ParameterDoc } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage } from '../pagination.ts';
import { periodOf, periodParameters } from '../period.ts';
import { ownBatch } from './batches.ts';
import { ownConversion } from './conversions.ts';

const ACCOUNT = 'acct_06f3k8r1v2w9x4y5z6a7b8c9d0';
const CONVERSION = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';

/** One item of a history. Its examples are those of one event, which a renderer has caused. */
export const HistoryEntry = Closed({
  id: Text('0ba1f0c2-6d2c-5a8e-9a53-1f1f0f8c1d11'),
  type: Type.Enum([...EVENT_TYPES], { examples: ['ConversionStarted'] }),
  summary: Text('Attempt 1 started on node-1.', 'What happened, in one sentence.'),
  time: Timestamp('When it happened.'),
  position: Text('4711', 'The place of the event in the log, in decimal.', { pattern: '^[0-9]+$' }),
  stream: Text(`conversion-${CONVERSION}`),
  revision: Count('The place of the event in its stream.', 0),
  actor: Closed(
    {
      kind: Type.Enum([
        'key',
        'session',
        'account',
        'renderer',
        'operator',
        'service',
        'anonymous',
      ]),
      id: Type.Optional(Text('node-1')),
      person: Type.Optional(
        Type.String({
          description:
            'The member who acted, by that session or by that key, which they made. Older events have none.',
        }),
      ),
      role: Type.Optional(
        Type.Enum([...ROLES], { description: 'The role that the member had then.' }),
      ),
      name: Type.Optional(
        Type.String({
          description: `What the member is called now; ${REMOVED_PERSON} if they were erased.`,
        }),
      ),
      key_name: Type.Optional(
        Type.String({ description: 'The name of the API key; absent if its account was erased.' }),
      ),
      key_prefix: Type.Optional(
        Type.String({ description: 'The beginning of the API key, as lists of keys show it.' }),
      ),
    },
    { description: 'Who caused it.', examples: [{ kind: 'renderer', id: 'node-1' }] },
  ),
  client_address: Type.Optional(
    Type.String({ description: 'The address that the request came from, if any.' }),
  ),
  request_id: Type.Optional(
    Type.String({ description: 'The X-Request-Id of the request that caused it, if any.' }),
  ),
  reason: Type.Optional(
    Type.String({ description: 'Why an operator of the service did it, in their words, if any.' }),
  ),
  correlation_id: Text(CONVERSION, 'The same for all events of one conversion.'),
  causation_id: Text(`${CONVERSION}/node-1/1/started`, 'The command or event that caused it.'),
  name: Type.Optional(
    Text(
      'Invoice 4711.pdf',
      'The name of the conversion, if it is about one, as the list of conversions has it.',
    ),
  ),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The fields of the event, as the log has them, decrypted. Hashes of passwords and keys are left out.',
    examples: [
      {
        accountId: ACCOUNT,
        conversionId: CONVERSION,
        renderer: 'node-1',
        delivery: '2f4b15bf-3c85-4568-80a1-65bd41b2186d',
        attempt: 1,
        startedAt: 1795248930123,
      },
    ],
  }),
});

const FILTER_PARAMETERS: readonly ParameterDoc[] = [
  inQuery('type', 'Events of this type.', Type.Enum([...EVENT_TYPES])),
  inQuery(
    'actor',
    'Events that this actor caused: a kind (key, session, renderer, operator, …), or a kind and an id (key:key_…).',
  ),
  inQuery('person', 'Events that this member caused, by a session or a key: a person_ id.'),
  ...periodParameters('Events'),
];

const FILTERS = ['type', 'actor', 'person', 'from', 'to'] as const;
const SUBJECTS = ['conversion_id', 'batch_id'] as const;
const ACTOR = /^[a-z]+(:[\x21-\x7e]{1,200})?$/;
const WHOLE_CONVERSION_ID = new RegExp(`^${CONVERSION_ID}$`);
const WHOLE_PERSON_ID = new RegExp(`^${PERSON_ID}$`);
const WHOLE_BATCH_ID = new RegExp(`^${BATCH_ID}$`);

export function filterOf(ctx: HttpContext, issues: ValidationIssues): HistoryFilter {
  const { type, actor, person, conversion_id: conversionId, batch_id: batchId } = ctx.query;
  const knownType = EVENT_TYPES.find((each) => each === type);
  if (type !== undefined && knownType === undefined) {
    issues.add('type', `Must be one of ${EVENT_TYPES.join(', ')}.`);
  }
  const isActor = typeof actor === 'string' && ACTOR.test(actor);
  if (actor !== undefined && !isActor) {
    issues.add('actor', 'Must be a kind such as key, or a kind and an id such as key:key_1a2b3c.');
  }
  const isPerson = typeof person === 'string' && WHOLE_PERSON_ID.test(person);
  if (person !== undefined && !isPerson) issues.add('person', 'Must be the id of a person.');
  const isConversion = typeof conversionId === 'string' && WHOLE_CONVERSION_ID.test(conversionId);
  if (conversionId !== undefined && !isConversion) {
    issues.add('conversion_id', 'Must be the id of a conversion.');
  }
  const isBatch = typeof batchId === 'string' && WHOLE_BATCH_ID.test(batchId);
  if (batchId !== undefined && !isBatch) issues.add('batch_id', 'Must be the id of a batch.');
  return {
    ...(knownType && { type: knownType }),
    ...(isActor && { actor }),
    ...(isPerson && { person }),
    ...(isConversion && { conversionId }),
    ...(isBatch && { batchId }),
    ...periodOf(ctx, issues),
  };
}

/** @throws {ServiceError} `validation_error` where the filter would look at too many events */
async function assertBounded(
  ctx: HttpContext,
  deps: RouteDependencies,
  filter: HistoryFilter,
): Promise<void> {
  const queries = await consistentQuery(deps, historyQueries, ctx.state.asOf);
  const earliest = queries.earliestFrom(callerOf(ctx).accountId, filter);
  if (earliest === undefined) return;
  const message =
    `With type, actor or person, no more than ${MAX_FILTERED_EVENTS} events are searched. ` +
    `Give from=${isoTime(earliest)} or later; with that time as to, the next request goes on before it.`;
  throw fieldError('from', message);
}

async function sendHistory(
  ctx: HttpContext,
  deps: RouteDependencies,
  order: HistoryPage['order'],
  of: HistoryFilter = {},
): Promise<void> {
  const issues = new ValidationIssues();
  const isOfAccount = Object.keys(of).length === 0;
  const page = pageOf(ctx, issues, isOfAccount ? [...FILTERS, ...SUBJECTS, 'as_of'] : FILTERS);
  const moment = isOfAccount ? momentOf(ctx, deps, issues) : undefined;
  const filter = { ...filterOf(ctx, issues), ...of, ...(moment && { asOf: moment }) };
  issues.throwIfAny();
  const { accountId } = callerOf(ctx);
  await assertBounded(ctx, deps, filter);
  const { asOf } = ctx.state;
  if (moment !== undefined) {
    const queries = await consistentQuery(deps, historyQueries, asOf);
    const last = queries.position(accountId, queries.countUpTo(accountId, moment)) ?? 0n;
    ctx.set('Pressledger-As-Of', String(last));
  }
  const { entries, total } = await readHistory(
    deps,
    accountId,
    filter,
    { ...page, order, asOf },
    readerOf(ctx),
  );
  sendPage(ctx, deps.publicUrl, page, total, entries);
}

export const listAccountEvents: Endpoint = {
  doc: {
    id: 'listAccountEvents',
    tag: 'Account',
    summary: 'List the events of the account',
    description:
      'Everything that the log holds about the account, newest first: credits, requests, renderings, downloads, keys, sessions and refused sign-ins. With type, actor or person, no more than 250000 events are searched: where there are more, the answer is 400 and names the from that may be asked for.',
    parameters: [
      ...PAGE_PARAMETERS,
      ...FILTER_PARAMETERS,
      inQuery('conversion_id', 'Events of this conversion.'),
      inQuery('batch_id', 'Events of this batch and of its conversions.'),
      AS_OF,
    ],
    answers: { 200: pageOfItems(HistoryEntry, ['Pressledger-As-Of']) },
    errors: { validation_error: WRONG_MOMENT },
  },
  handler: (deps) => (ctx) => sendHistory(ctx, deps, 'newest first'),
};

export const listConversionEvents: Endpoint = {
  doc: {
    id: 'listConversionEvents',
    tag: 'Conversions',
    summary: 'List the events of a conversion',
    description:
      'What happened to the conversion, oldest first: its debit and request, each attempt, its outcome, a refund, downloads and the deletion of its documents. Of downloads, one is recorded for each network and minute, and 100 in all.',
    parameters: [...PAGE_PARAMETERS, ...FILTER_PARAMETERS],
    answers: { 200: { ...pageOfItems(HistoryEntry), description: 'One page, oldest first.' } },
  },
  handler: (deps) => async (ctx) => {
    const conversionId = pathParameter(ctx, 'id');
    await ownConversion(ctx, deps, conversionId, ctx.state.asOf);
    await sendHistory(ctx, deps, 'oldest first', { conversionId });
  },
};

export const listBatchEvents: Endpoint = {
  doc: {
    id: 'listBatchEvents',
    tag: 'Batches',
    summary: 'List the events of a batch',
    description:
      'What happened to the batch and to its conversions, oldest first: its request, what each conversion went through, a cancellation, and the end of the batch.',
    parameters: [...PAGE_PARAMETERS, ...FILTER_PARAMETERS],
    answers: { 200: { ...pageOfItems(HistoryEntry), description: 'One page, oldest first.' } },
  },
  handler: (deps) => async (ctx) => {
    const { id: batchId } = await ownBatch(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await sendHistory(ctx, deps, 'oldest first', { batchId });
  },
};
