/** The documents of the routes of deliveries. */
import Type from 'typebox';
import { DELIVERY_FAILURES, DELIVERY_STATUSES, WEBHOOK_TYPES } from '../../domain/choices.ts';
import { MAX_REDELIVERIES } from '../../domain/webhooks.ts';
import {
  Closed,
  CONVERSION,
  Count,
  DELIVERY,
  example,
  Text,
  Timestamp,
  WEBHOOK,
} from '../openapi/fields.ts';
import { inQuery, type OperationDoc, wrongField } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems } from '../pagination.ts';

export const WEBHOOK_TAG = 'Webhooks';
const tag = WEBHOOK_TAG;

const URL = 'https://example.com/hooks/pdf';

/** One item of `GET /webhooks/deliveries/`. */
export const WebhookDelivery = Closed({
  id: Text(DELIVERY, 'The value of webhook-id, the same for each try.'),
  type: Type.Enum([...WEBHOOK_TYPES, 'webhook.test'], {
    description: 'The event that it tells of.',
    examples: ['conversion.completed'],
  }),
  status: Type.Enum([...DELIVERY_STATUSES], {
    description: 'waiting: there will be a try; failed: there is no other one.',
    examples: ['delivered'],
  }),
  webhook_id: Type.Optional(
    Text(WEBHOOK, 'The endpoint. Absent where the URL came with the request.'),
  ),
  conversion_id: Type.Optional(Text(CONVERSION, 'The conversion that it is about.')),
  name: Type.Optional(Text('invoice-4711.pdf', 'The name of that conversion, as lists show it.')),
  batch_id: Type.Optional(Type.String({ description: 'The batch that it is about.' })),
  url: Type.Optional(
    Text(
      URL,
      'Where it goes. Auditors, and members but for a webhook_url of their own requests, see it without its query. Absent where the endpoint was deleted.',
    ),
  ),
  tries: Count('The number of tries so far.', 1),
  last_status: Type.Optional(
    Type.Integer({ description: 'The status of the last answer.', examples: [204] }),
  ),
  last_failure: Type.Optional(
    Type.Enum([...DELIVERY_FAILURES], {
      description: 'The reason why the last try got no answer.',
    }),
  ),
  dropped: Type.Optional(
    Type.Enum(['deleted', 'disabled'], {
      description:
        'It failed without a further try, because its endpoint was deleted or switched off.',
    }),
  ),
  created_at: Timestamp('The time of the event.'),
  last_try_at: Type.Optional(Timestamp('The time of the last try.')),
  next_try_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'The time of the next try, while it waits.' }),
  ),
});

const Try = Closed({
  at: Timestamp('The time of the answer.'),
  status: Type.Optional(
    Type.Integer({ description: 'The status of the answer.', examples: [204] }),
  ),
  failure: Type.Optional(
    Type.Enum([...DELIVERY_FAILURES], { description: 'The reason why there was no answer.' }),
  ),
  duration_ms: Count('The milliseconds that it took.', 45),
  answer: Type.Optional(
    Type.String({
      description:
        'The first bytes of the body of the answer, as text. Absent for callers who may not read documents: it may repeat what was sent.',
    }),
  ),
});

/** The answer of `GET /webhooks/deliveries/{id}/`. */
export const DeliveryWithTries = Closed({
  ...WebhookDelivery.properties,
  attempts: Type.Array(Try, { description: 'The tries, oldest first: at most the last 100.' }),
});

const next = { next_try_at: '2026-11-21T08:15:30.123Z' };
const delivered = example(WebhookDelivery);
const { last_status: _, last_try_at: __, conversion_id: ___, name: ____, ...untried } = delivered;
export const deliveryOfTest = {
  ...untried,
  ...next,
  type: 'webhook.test',
  status: 'waiting',
  tries: 0,
};

export const listDeliveriesDoc: OperationDoc = {
  id: 'listWebhookDeliveries',
  tag,
  summary: 'List deliveries',
  description:
    'Deliveries to all endpoints and URLs of the account, newest first, as long as documents are kept.',
  parameters: [
    ...PAGE_PARAMETERS,
    inQuery('webhook', 'Only those to this endpoint.'),
    inQuery('conversion', 'Only those about this conversion.'),
    inQuery('status', 'Only those in this state.', Type.Enum([...DELIVERY_STATUSES])),
  ],
  answers: { 200: pageOfItems(WebhookDelivery) },
};

export const getDeliveryDoc: OperationDoc = {
  id: 'getWebhookDelivery',
  tag,
  summary: 'Retrieve a delivery',
  description: 'With each of its tries.',
  answers: {
    200: {
      description: 'The delivery.',
      schema: DeliveryWithTries,
    },
  },
};

export const redeliverDoc: OperationDoc = {
  id: 'redeliver',
  tag,
  summary: 'Send a delivery again',
  description:
    'Under the same webhook-id, with all tries. One that waits for its next try is sent now.',
  answers: {
    202: {
      description: 'The delivery, which is sent at once.',
      schema: WebhookDelivery,
      examples: { waiting: { ...delivered, ...next, status: 'waiting' } },
    },
  },
  errors: {
    validation_error: {
      when: 'Its endpoint is switched off.',
      message: 'The endpoint is switched off. Switch it on first.',
    },
  },
};

export const redeliverFailedDoc: OperationDoc = {
  id: 'redeliverFailed',
  tag,
  summary: 'Send again what failed',
  description: `Sends failed deliveries to the endpoint again, of events since a time: the oldest, at most ${MAX_REDELIVERIES}. Ask again for the rest.`,
  parameters: [
    {
      ...inQuery('since', 'Events from this time on, in ISO 8601 with the offset from UTC.'),
      required: true,
    },
  ],
  answers: {
    202: {
      description: 'They are sent again.',
      schema: Closed({ deliveries: Count('The number of deliveries.', 12) }),
    },
  },
  errors: {
    validation_error: wrongField(
      'since',
      'Must be an ISO 8601 time with its offset, such as 2026-11-21T08:15:30Z.',
      'since is missing or is not a time, a query parameter is unknown, or the endpoint is switched off.',
    ),
  },
};
