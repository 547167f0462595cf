import Type from 'typebox';
import { EVENT_TYPES } from '../../domain/events.ts';
import { type OperationDoc, type ParameterDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';
import { periodParameters } from '../period.ts';

const closed = { additionalProperties: false } as const;
const ACCOUNT = 'acct_06f3k8r1v2w9x4y5z6a7b8c9d0';
const CONVERSION = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';

/** One item of a history. Its examples are those of one event, which a renderer has caused. */
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
      { ...closed, description: 'Who caused it.', examples: [{ kind: 'renderer', id: 'node-1' }] },
    ),
    client_address: Type.Optional(
      Type.String({ description: 'The address that the request came from, if any.' }),
    ),
    request_id: Type.Optional(
      Type.String({ description: 'The X-Request-Id of the request that caused it, if any.' }),
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
  },
  closed,
);

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
  answers: { 200: pageOfItems(HistoryEntry) },
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
  answers: { 200: { ...pageOfItems(HistoryEntry), description: 'One page, oldest first.' } },
  errors: {
    validation_error: WRONG_QUERY,
    not_found: {
      when: 'The account has no conversion with this id.',
      message: 'There is no such conversion.',
    },
  },
};
