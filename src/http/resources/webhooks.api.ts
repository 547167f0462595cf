/** The documents of the webhook routes. */
import Type from 'typebox';
import { WEBHOOK_TYPES } from '../../domain/choices.ts';
import { MAX_WEBHOOKS } from '../../domain/webhooks.ts';
import { MAX_WEBHOOK_URL_CHARACTERS } from '../../requests/webhooks.ts';
import { Closed, example, Flag, OrNull, Text, Timestamp, WEBHOOK } from '../openapi/fields.ts';
import { type OperationDoc, wrongField } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems } from '../pagination.ts';
import { deliveryOfTest, WEBHOOK_TAG, WebhookDelivery } from './webhook-deliveries.api.ts';

const URL = 'https://example.com/hooks/pdf';
const MAX_DESCRIPTION_CHARACTERS = 200;

const WebhookUrl = Text(URL, 'The https address that deliveries are sent to, by POST.', {
  maxLength: MAX_WEBHOOK_URL_CHARACTERS,
});
const Description = Text('the accounting system', 'A note for people.', {
  maxLength: MAX_DESCRIPTION_CHARACTERS,
});
const typesOf = (description: string) =>
  Type.Array(Type.Enum([...WEBHOOK_TYPES]), {
    minItems: 1,
    maxItems: WEBHOOK_TYPES.length,
    uniqueItems: true,
    description,
    examples: [['conversion.completed', 'conversion.failed']],
  });
const Types = typesOf('The events that it is told of.');

/** The body of `POST /webhooks/`. */
export const WebhookRequest = Closed({
  url: WebhookUrl,
  types: Type.Optional(typesOf('The events that it is told of; all unless given.')),
  description: Type.Optional(Description),
});

/** The body of `PATCH /webhooks/{id}/`. */
export const WebhookChange = Closed({
  url: Type.Optional(WebhookUrl),
  types: Type.Optional(Types),
  description: Type.Optional(Description),
  enabled: Type.Optional(
    Flag('false switches it off: what waits for it fails, and nothing more is sent.', true),
  ),
});

const secretPrefix = Text('whsec_Ab3d', 'The first characters of its newest secret.');
const Secret = Text(
  'whsec_q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=',
  'The secret that signs deliveries. It is shown only this once.',
  { pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
);

/** One item of `GET /webhooks/`. */
export const Webhook = Closed({
  id: Text(WEBHOOK),
  url: Text(URL, 'Where deliveries are sent; without its query for members and auditors.'),
  description: Type.Optional(Description),
  types: Types,
  enabled: Flag('false where it is switched off.', true),
  disabled_reason: Type.Optional(
    Type.Enum(['owner', 'gone', 'failing'], {
      description:
        'The reason why it is off. owner: you switched it off; gone: it answered 410; failing: every try failed for 5 days.',
    }),
  ),
  disabled_at: Type.Optional(Type.String({ format: 'date-time' })),
  secret_prefix: secretPrefix,
  secret_created_at: Timestamp('The time when its newest secret was made.'),
  failing_since: OrNull(
    Timestamp('The first of the tries that have failed since the last that did not; or null.'),
  ),
  created_at: Timestamp('The time when the endpoint was created.'),
});

const webhook = { ...example(Webhook), failing_since: null };

/** The answer of `POST /webhooks/` and of a rotation. */
export const WebhookWithSecret = Closed({ ...Webhook.properties, secret: Secret });
const withSecret = { ...webhook, secret: example(Closed({ secret: Secret }))['secret'] };

export const DefaultSecret = Closed({
  secret_prefix: secretPrefix,
  created_at: Timestamp('The time when it was made.'),
});
export const NewDefaultSecret = Closed({ ...DefaultSecret.properties, secret: Secret });

const tag = WEBHOOK_TAG;

export const listWebhooksDoc: OperationDoc = {
  id: 'listWebhooks',
  tag,
  summary: 'List webhook endpoints',
  description: 'The endpoints of the account, newest first.',
  parameters: PAGE_PARAMETERS,
  answers: { 200: { ...pageOfItems(Webhook), examples: { page: [webhook] } } },
};

export const createWebhookDoc: OperationDoc = {
  id: 'createWebhook',
  tag,
  summary: 'Create a webhook endpoint',
  description:
    'Each event is sent to it by POST as {type, timestamp, data}, where data is the record that the API gives. Deliveries are signed after Standard Webhooks: store the secret at once, as this response is the only one that holds it. An answer of 2xx within 15 seconds is success; otherwise there are nine more tries over three days.',
  body: { schema: WebhookRequest },
  answers: {
    201: {
      description: 'The endpoint was created.',
      schema: WebhookWithSecret,
      examples: { created: withSecret },
    },
  },
  errors: {
    validation_error: {
      when: `The URL is not an https address on the public internet, another field is wrong, or the account has ${MAX_WEBHOOKS} endpoints.`,
    },
  },
};

export const getWebhookDoc: OperationDoc = {
  id: 'getWebhook',
  tag,
  summary: 'Retrieve a webhook endpoint',
  description: 'Its secret is never shown again: rotate it for a new one.',
  answers: {
    200: { description: 'The endpoint.', schema: Webhook, examples: { endpoint: webhook } },
  },
};

export const changeWebhookDoc: OperationDoc = {
  id: 'changeWebhook',
  tag,
  summary: 'Change a webhook endpoint',
  description:
    'Fields that are left out stay as they are. enabled: true switches an endpoint on again that failed for days.',
  body: { schema: WebhookChange },
  answers: {
    200: { description: 'The changed endpoint.', schema: Webhook, examples: { endpoint: webhook } },
  },
  errors: {
    validation_error: wrongField(
      'url',
      'Must begin with https://.',
      'The body is not a JSON object, or fields are unknown or invalid. details lists all of them.',
    ),
  },
};

export const deleteWebhookDoc: OperationDoc = {
  id: 'deleteWebhook',
  tag,
  summary: 'Delete a webhook endpoint',
  description: 'Nothing is sent to it any more, also of what waits.',
  answers: { 204: { description: 'The endpoint was deleted. There is no body.' } },
};

export const rotateWebhookDoc: OperationDoc = {
  id: 'rotateWebhookSecret',
  tag,
  summary: 'Replace the secret of a webhook endpoint',
  description: 'For 24 hours deliveries carry a signature of each of the two secrets.',
  answers: {
    200: {
      description: 'The endpoint with its new secret.',
      schema: WebhookWithSecret,
      examples: { rotated: withSecret },
    },
  },
};

export const testWebhookDoc: OperationDoc = {
  id: 'testWebhook',
  tag,
  summary: 'Test a webhook endpoint',
  description: 'Sends a delivery of the type webhook.test, also to one that is switched off.',
  answers: {
    202: {
      description: 'The delivery, which is sent at once.',
      schema: WebhookDelivery,
      examples: { waiting: deliveryOfTest },
    },
  },
};

export const getDefaultSecretDoc: OperationDoc = {
  id: 'getWebhookSecret',
  tag,
  summary: 'Retrieve the age of the default secret',
  description:
    'The default secret signs what is sent to the webhook_url of a request. A request with a webhook_url is refused before an owner has made it, which shows it once.',
  answers: { 200: { description: 'Its first characters and its age.', schema: DefaultSecret } },
  errors: {
    not_found: {
      when: 'There is no default secret yet.',
      message:
        'There is no default secret yet. POST /api/v1/webhooks/secret/rotate/ makes one and shows it.',
    },
  },
};

export const rotateDefaultSecretDoc: OperationDoc = {
  id: 'rotateDefaultWebhookSecret',
  tag,
  summary: 'Make or replace the default secret',
  description:
    'Store it at once: this response is the only one that holds it. A former one signs beside it for 24 hours.',
  answers: { 200: { description: 'The new secret.', schema: NewDefaultSecret } },
};
