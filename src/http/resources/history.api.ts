import Type from 'typebox';
import { EVENT_TYPES } from '../../domain/events.ts';
import { type OperationDoc, type ParameterDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';
import { periodParameters } from '../period.ts';

const closed = { additionalProperties: false } as const;
const ACCOUNT = 'acct_06f3k8r1v2w9x4y5z6a7b8c9d0';
const CONVERSION = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';

/** One item of a history. */
export const HistoryEntry = Type.Object(
  {
    id: Type.String({ examples: ['0ba1f0c2-6d2c-5a8e-9a53-1f1f0f8c1d11'] }),
    type: Type.Enum([...EVENT_TYPES], { examples: ['ConversionStarted'] }),
    summary: Type.String({
      description: 'What happened, in one sentence.',
      examples: ['Attempt 1 started on node-1.'],
    }),
    time: Timestamp('When it happened.'),
    position: Type.String({
      description: 'The place of the event in the log, in decimal.',
      pattern: '^[0-9]+$',
      examples: ['4711'],
    }),
    stream: Type.String({ examples: [`conversion-${CONVERSION}`] }),
    revision: Type.Integer({
      minimum: 0,
      description: 'The place of the event in its stream.',
      examples: [0],
    }),
    actor: Type.Object(
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
        id: Type.Optional(Type.String({ examples: ['node-1'] })),
      },
      { ...closed, description: 'Who caused it.' },
    ),
    client_address: Type.Optional(
      Type.String({
        description: 'The address that the request came from.',
        examples: ['192.0.2.7'],
      }),
    ),
    request_id: Type.Optional(
      Type.String({
        description: 'The X-Request-Id of the request that caused it.',
        examples: ['r-4711'],
      }),
    ),
    correlation_id: Type.String({
      description: 'The same for all events of one conversion.',
      examples: [CONVERSION],
    }),
    causation_id: Type.String({
      description: 'The command or event that caused it.',
      examples: [`${CONVERSION}/node-1/1/started`],
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The fields of the event, as the log has them, decrypted. Hashes of passwords and keys are left out.',
    }),
  },
  closed,
);

const debited = {
  id: '6c56babf-fd31-528b-b64b-60ac024627a3',
  type: 'CreditDebited',
  summary: '1 credit was taken.',
  time: '2026-11-21T08:15:30.123Z',
  position: '4710',
  stream: `account-${ACCOUNT}`,
  revision: 4,
  actor: { kind: 'key', id: 'key_3m5n7p9q1r3s5t7v9w1x3y5z7a' },
  client_address: '192.0.2.7',
  request_id: 'r-4711',
  correlation_id: CONVERSION,
  causation_id: 'cmd_06f3k8r1v2w9x4y5z6a7b8c9d1',
  data: { accountId: ACCOUNT, conversionId: CONVERSION, amount: 1 },
};
const started = {
  id: '0ba1f0c2-6d2c-5a8e-9a53-1f1f0f8c1d11',
  type: 'ConversionStarted',
  summary: 'Attempt 1 started on renderer-1.',
  time: '2026-11-21T08:15:30.160Z',
  position: '4712',
  stream: `conversion-${CONVERSION}`,
  revision: 0,
  actor: { kind: 'renderer', id: 'renderer-1' },
  correlation_id: CONVERSION,
  causation_id: 'cmd_06f3k8r1v2w9x4y5z6a7b8c9d2',
  data: {
    accountId: ACCOUNT,
    conversionId: CONVERSION,
    renderer: 'renderer-1',
    delivery: '2f4b15bf-3c85-4568-80a1-65bd41b2186d',
    attempt: 1,
    startedAt: 1795248930158,
  },
};

const FILTERS: readonly ParameterDoc[] = [
  {
    name: 'type',
    in: 'query',
    description: 'Events of this type.',
    schema: Type.Enum([...EVENT_TYPES]),
  },
  {
    name: 'actor',
    in: 'query',
    description:
      'Events that this actor caused: a kind (key, session, renderer, operator, …), or a kind and an id (key:key_…).',
    schema: Type.String(),
  },
  ...periodParameters('Events'),
];

export const listAccountEventsDoc: OperationDoc = {
  id: 'listAccountEvents',
  tag: 'Account',
  summary: 'List the events of the account',
  description:
    'Everything that the log holds about the account, newest first: credits, requests, renderings, downloads, keys, sessions and refused sign-ins. With type or actor, no more than 250000 events are searched: where there are more, the answer is 400 and names the from that may be asked for.',
  parameters: [
    ...PAGE_PARAMETERS,
    ...FILTERS,
    {
      name: 'conversion_id',
      in: 'query',
      description: 'Events of this conversion.',
      schema: Type.String(),
    },
  ],
  answers: { 200: { ...pageOfItems(HistoryEntry), examples: { events: [started, debited] } } },
  errors: { validation_error: WRONG_QUERY },
};

export const listConversionEventsDoc: OperationDoc = {
  id: 'listConversionEvents',
  tag: 'Conversions',
  summary: 'List the events of a conversion',
  description:
    'What happened to the conversion, oldest first: its debit and request, each attempt, its outcome, a refund, downloads and the deletion of its documents. Of downloads, one is recorded for each network and minute, and 100 in all.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      description: 'The conversion’s id.',
      schema: Type.String({ examples: [CONVERSION] }),
    },
    ...PAGE_PARAMETERS,
    ...FILTERS,
  ],
  answers: {
    200: {
      ...pageOfItems(HistoryEntry),
      description: 'One page, oldest first.',
      examples: { events: [debited, started] },
    },
  },
  errors: {
    validation_error: WRONG_QUERY,
    not_found: {
      when: 'The account has no conversion with this id.',
      message: 'There is no such conversion.',
    },
  },
};
