/** The section `webhooks` of the document: what the service sends to endpoints, each with its body. */
import Type, { type TSchema } from 'typebox';
import type { WebhookMessage } from '../../domain/choices.ts';
import { Account } from '../resources/account.ts';
import { Batch } from '../resources/batches.api.ts';
import { Conversion } from '../resources/conversion-record.api.ts';
import { Webhook } from '../resources/webhooks.api.ts';
import { Closed, DELIVERY, exampleOf, Text, Timestamp } from './fields.ts';
import { SCHEMAS, schemaObject } from './schemas.ts';
import type { OperationObject, ParameterObject } from './types.ts';

/** Not that of the routes: openapi-generator loses what shares a tag with these. */
export const MESSAGES_TAG = 'Webhook messages';

interface Message {
  readonly summary: string;
  readonly data: TSchema;
}

const MESSAGES: Readonly<Record<WebhookMessage, Message>> = {
  'conversion.completed': { summary: 'The PDF of a conversion is stored', data: Conversion },
  'conversion.failed': { summary: 'A conversion failed or was cancelled', data: Conversion },
  'conversion.deleted': {
    summary: 'The documents of a conversion were deleted on request',
    data: Conversion,
  },
  'batch.ended': { summary: 'All conversions of a batch have ended', data: Batch },
  'credits.low': {
    summary: 'The balance has fallen below a tenth of the last grant',
    data: Account,
  },
  'webhook.test': { summary: 'A test was asked for', data: Webhook },
};

const HEADERS: readonly (readonly [name: string, example: string, description: string])[] = [
  ['webhook-id', DELIVERY, 'The delivery: the same for each try and for a redelivery.'],
  ['webhook-timestamp', '1795249530', 'The time of this try, in Unix seconds.'],
  [
    'webhook-signature',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    'v1, a comma and the signature after Standard Webhooks; after a rotation two, separated by a space.',
  ],
];

const parameters = HEADERS.map(
  ([name, example, description]): ParameterObject => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: schemaObject(Text(example)),
  }),
);

const camelCase = (type: string): string =>
  type.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase());

function operationFor(type: string, { summary, data }: Message): OperationObject {
  const schema = schemaObject(
    Closed({
      type: Type.Literal(type),
      timestamp: Timestamp('The time of the event.'),
      data,
    }),
  );
  const value = exampleOf(schema, SCHEMAS);
  return {
    operationId: camelCase(type),
    tags: [MESSAGES_TAG],
    summary,
    description:
      'Sent by POST to each endpoint that is told of this type, and to the webhook_url of the request that it is about. data is the record that the API gives.',
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema, examples: { example: { value } } } },
    },
    responses: {
      '2XX': { description: 'It was taken.' },
      '410': { description: 'The endpoint is switched off: nothing more is sent to it.' },
      default: { description: 'It is sent again, up to nine times over three days.' },
    },
  };
}

export const WEBHOOKS: Readonly<Record<string, { readonly post: OperationObject }>> =
  Object.fromEntries(
    Object.entries(MESSAGES).map(([type, message]) => [
      type,
      { post: operationFor(type, message) },
    ]),
  );
