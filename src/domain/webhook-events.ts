/** Events of webhook endpoints and of their deliveries. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { DELIVERY_FAILURES, WEBHOOK_TYPES } from './choices.ts';
import {
  AccountId,
  ConversionId,
  Count,
  DeliveryId,
  maximum,
  Sealed,
  Time,
  WebhookId,
} from './event-fields.ts';

const Types = Type.Array(Type.Enum([...WEBHOOK_TYPES]), { minItems: 1 });
/** The first characters of a secret, as its owner sees it in lists. */
const SecretPrefix = Type.String({ pattern: '^whsec_[A-Za-z0-9+/]{4}$' });

const ofEndpoint = { accountId: AccountId, webhookId: WebhookId };
const ofDelivery = {
  accountId: AccountId,
  deliveryId: DeliveryId,
  /** The endpoint; absent where the URL came with a request. */
  webhookId: Type.Optional(WebhookId),
  /** The conversion that it is about, if any. */
  conversionId: Type.Optional(ConversionId),
  /** Counts the redeliveries, from 0 for the first delivery. */
  round: Type.Integer({ minimum: 0, maximum }),
};

export const WEBHOOK_EVENT_SCHEMAS = {
  WebhookCreated: Type.Object({
    ...ofEndpoint,
    url: Sealed,
    description: Type.Optional(Sealed),
    types: Types,
    secret: Sealed,
    secretPrefix: SecretPrefix,
    createdAt: Time,
  }),
  /** Fields that are absent stay as they are. */
  WebhookChanged: Type.Object({
    ...ofEndpoint,
    url: Type.Optional(Sealed),
    description: Type.Optional(Sealed),
    types: Type.Optional(Types),
    enabled: Type.Optional(Type.Boolean()),
    changedAt: Time,
  }),
  /** The former secret signs beside it for a day. */
  WebhookSecretRotated: Type.Object({
    accountId: AccountId,
    /** Absent: the secret of the account that signs what goes to the URLs of requests. */
    webhookId: Type.Optional(WebhookId),
    secret: Sealed,
    secretPrefix: SecretPrefix,
    rotatedAt: Time,
  }),
  /** The service switched it off: it answered 410, or every try failed for days. */
  WebhookDisabled: Type.Object({
    ...ofEndpoint,
    reason: Type.Enum(['gone', 'failing']),
    /** The first of the tries that failed. */
    since: Time,
    disabledAt: Time,
  }),
  WebhookDeleted: Type.Object({ ...ofEndpoint, deletedAt: Time }),
  /** Its owner asked for a delivery that is about nothing. */
  WebhookTested: Type.Object({ ...ofEndpoint, deliveryId: DeliveryId, testedAt: Time }),
  /** What failed of the deliveries since then is to be sent again. */
  RedeliveriesRequested: Type.Object({ ...ofEndpoint, since: Time, requestedAt: Time }),

  DeliveryAttempted: Type.Object({
    ...ofDelivery,
    message: Type.Enum([...WEBHOOK_TYPES, 'webhook.test']),
    /** Counts the tries of the round, from 1. */
    attempt: Count,
    outcome: Type.Enum(['delivered', 'retry', 'failed']),
    /** The status of the answer, if there was one. */
    status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
    /** The reason why there was no answer. */
    failure: Type.Optional(Type.Enum([...DELIVERY_FAILURES])),
    durationMs: Type.Integer({ minimum: 0, maximum }),
    /** The first bytes of the answer's body. */
    answer: Type.Optional(Sealed),
    attemptedAt: Time,
    /** The time of the next try, where there is to be one. */
    nextAt: Type.Optional(Time),
  }),
  RedeliveryRequested: Type.Object({ ...ofDelivery, requestedAt: Time }),
} as const;
