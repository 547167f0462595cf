/**
 * The webhook endpoints of one account, and the secret that signs what goes to the URLs of its requests. They share
 * a stream: how many there may be is decided where all of them are seen.
 */
import type { WebhookType } from './choices.ts';
import type { AggregateType, Decider, Rejection } from './decider.ts';
import type { EventOf } from './events.ts';

export const webhooksStream = (accountId: string): string => `webhooks-${accountId}`;

export type WebhooksEvent = EventOf<
  | 'WebhookCreated'
  | 'WebhookChanged'
  | 'WebhookSecretRotated'
  | 'WebhookDisabled'
  | 'WebhookDeleted'
  | 'WebhookTested'
  | 'RedeliveriesRequested'
>;

export const MAX_WEBHOOKS = 20;
/** Deliveries that one request sends again. Readers of the log count by it: another number needs another event. */
export const MAX_REDELIVERIES = 1000;
/** The time in which a former secret signs beside the new one. */
export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000;
/** Secrets that sign at a time: an account that rotates more often loses the oldest. */
const MAX_SECRETS = 5;

export interface Secret {
  /** Sealed. */
  readonly secret: string;
  /** A former one signs until then. */
  readonly until?: number;
}

export interface Endpoint {
  readonly id: string;
  /** Sealed. */
  readonly url: string;
  readonly types: readonly WebhookType[];
  readonly enabled: boolean;
  /** The newest first. */
  readonly secrets: readonly Secret[];
  /** The time when its owner last changed it: what failed before says nothing of it. */
  readonly changedAt: number;
}

export interface WebhooksState {
  readonly endpoints: readonly Endpoint[];
  /** Those that sign what goes to the URLs of requests; none before they are needed. */
  readonly secrets: readonly Secret[];
}

const initialState: WebhooksState = { endpoints: [], secrets: [] };

/** A secret that was made: sealed, and the part of it that may be shown. */
export interface NewSecret {
  readonly secret: string;
  readonly secretPrefix: string;
}

/** Texts are sealed. */
export interface EndpointChange {
  readonly url?: string;
  readonly description?: string;
  readonly types?: readonly WebhookType[];
  readonly enabled?: boolean;
}

interface CommandOf {
  readonly accountId: string;
  readonly webhookId: string;
  readonly now: number;
}

export type WebhooksCommand =
  | ({
      readonly type: 'CreateWebhook';
      readonly url: string;
      readonly description?: string;
      readonly types: readonly WebhookType[];
    } & NewSecret &
      CommandOf)
  | ({ readonly type: 'ChangeWebhook'; readonly change: EndpointChange } & CommandOf)
  | ({ readonly type: 'RotateSecret' } & NewSecret & CommandOf)
  | ({
      readonly type: 'RotateDefaultSecret';
      /** Leaves one that is there as it is. */
      readonly onlyFirst?: boolean;
    } & NewSecret &
      Omit<CommandOf, 'webhookId'>)
  | ({
      readonly type: 'DisableWebhook';
      readonly reason: 'gone' | 'failing';
      readonly since: number;
    } & CommandOf)
  | ({ readonly type: 'DeleteWebhook' } & CommandOf)
  | ({ readonly type: 'TestWebhook'; readonly deliveryId: string } & CommandOf)
  | ({ readonly type: 'RequestRedeliveries'; readonly since: number } & CommandOf);

export const endpointOf = (
  { endpoints }: WebhooksState,
  webhookId: string | undefined,
): Endpoint | undefined => endpoints.find(({ id }) => id === webhookId);

/** The secrets that sign now, the newest first. */
export const secretsInForce = (secrets: readonly Secret[], now: number): readonly Secret[] =>
  secrets.filter(({ until }) => until === undefined || now < until);

function rotated(secrets: readonly Secret[], secret: string, at: number): readonly Secret[] {
  const former = secrets
    .map((each) => ({ secret: each.secret, until: each.until ?? at + SECRET_OVERLAP_MS }))
    .filter(({ until }) => until > at);
  return [{ secret }, ...former].slice(0, MAX_SECRETS);
}

const changeEndpoint = (
  state: WebhooksState,
  webhookId: string,
  change: (endpoint: Endpoint) => Endpoint,
): WebhooksState => ({
  ...state,
  endpoints: state.endpoints.map((each) => (each.id === webhookId ? change(each) : each)),
});

function evolve(state: WebhooksState, event: WebhooksEvent): WebhooksState {
  switch (event.type) {
    case 'WebhookCreated': {
      const { webhookId: id, url, types, secret, createdAt } = event.data;
      const endpoint = { id, url, types, enabled: true, secrets: [{ secret }] };
      return { ...state, endpoints: [...state.endpoints, { ...endpoint, changedAt: createdAt }] };
    }
    case 'WebhookChanged': {
      const { webhookId, url, types, enabled, changedAt } = event.data;
      return changeEndpoint(state, webhookId, (endpoint) => ({
        ...endpoint,
        url: url ?? endpoint.url,
        types: types ?? endpoint.types,
        enabled: enabled ?? endpoint.enabled,
        changedAt,
      }));
    }
    case 'WebhookSecretRotated': {
      const { webhookId, secret, rotatedAt } = event.data;
      if (webhookId === undefined) {
        return { ...state, secrets: rotated(state.secrets, secret, rotatedAt) };
      }
      return changeEndpoint(state, webhookId, (endpoint) => ({
        ...endpoint,
        secrets: rotated(endpoint.secrets, secret, rotatedAt),
      }));
    }
    case 'WebhookDisabled':
      return changeEndpoint(state, event.data.webhookId, (endpoint) => ({
        ...endpoint,
        enabled: false,
      }));
    case 'WebhookDeleted':
      return {
        ...state,
        endpoints: state.endpoints.filter(({ id }) => id !== event.data.webhookId),
      };
    case 'WebhookTested':
    case 'RedeliveriesRequested':
      return state;
  }
}

const notFound: Rejection = {
  rejected: 'not_found',
  message: 'There is no such webhook endpoint.',
};
const switchedOff: Rejection = {
  rejected: 'validation_error',
  message: 'The endpoint is switched off. Switch it on first.',
};

/** The reason why nothing can be sent to an endpoint again, if any. */
export function redeliveryRefused(state: WebhooksState, webhookId: string): Rejection | undefined {
  const endpoint = endpointOf(state, webhookId);
  if (endpoint === undefined) return notFound;
  return endpoint.enabled ? undefined : switchedOff;
}

const tooMany: Rejection = {
  rejected: 'validation_error',
  message: `An account has at most ${MAX_WEBHOOKS} webhook endpoints. Delete one first.`,
};

const decide: Decider<WebhooksState, WebhooksCommand, WebhooksEvent>['decide'] = (
  command,
  state,
) => {
  const { accountId, now } = command;
  if (command.type === 'RotateDefaultSecret') {
    if (command.onlyFirst === true && state.secrets.length > 0) return [];
    const { secret, secretPrefix } = command;
    const data = { accountId, secret, secretPrefix, rotatedAt: now };
    return [{ type: 'WebhookSecretRotated', data }];
  }
  const { webhookId } = command;
  const endpoint = endpointOf(state, webhookId);
  if (command.type === 'CreateWebhook') {
    if (endpoint !== undefined) return [];
    if (state.endpoints.length >= MAX_WEBHOOKS) return tooMany;
    const { url, description, secret, secretPrefix } = command;
    const data = { accountId, webhookId, url, types: [...command.types], secret, secretPrefix };
    const described = description === undefined ? data : { ...data, description };
    return [{ type: 'WebhookCreated', data: { ...described, createdAt: now } }];
  }
  if (endpoint === undefined) return notFound;
  switch (command.type) {
    case 'ChangeWebhook': {
      const { types, ...change } = command.change;
      if (Object.keys(command.change).length === 0) return [];
      const data = { accountId, webhookId, ...change, ...(types && { types: [...types] }) };
      return [{ type: 'WebhookChanged', data: { ...data, changedAt: now } }];
    }
    case 'RotateSecret': {
      const { secret, secretPrefix } = command;
      const data = { accountId, webhookId, secret, secretPrefix, rotatedAt: now };
      return [{ type: 'WebhookSecretRotated', data }];
    }
    case 'DisableWebhook': {
      const { reason, since } = command;
      // Its owner may have mended it meanwhile.
      if (!endpoint.enabled || endpoint.changedAt > since) return [];
      const data = { accountId, webhookId, reason, since, disabledAt: now };
      return [{ type: 'WebhookDisabled', data }];
    }
    case 'DeleteWebhook':
      return [{ type: 'WebhookDeleted', data: { accountId, webhookId, deletedAt: now } }];
    case 'TestWebhook': {
      const { deliveryId } = command;
      return [{ type: 'WebhookTested', data: { accountId, webhookId, deliveryId, testedAt: now } }];
    }
    case 'RequestRedeliveries': {
      const data = { accountId, webhookId, since: command.since, requestedAt: now };
      const refused = redeliveryRefused(state, webhookId);
      return refused ?? [{ type: 'RedeliveriesRequested', data }];
    }
  }
};

export const webhooks: Decider<WebhooksState, WebhooksCommand, WebhooksEvent> = {
  initialState,
  evolve,
  decide,
};

export const webhooksAggregate: AggregateType<WebhooksState, WebhooksCommand, WebhooksEvent> = {
  name: 'webhooks',
  stream: webhooksStream,
  decider: webhooks,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as WebhooksState,
  },
};
