/** Endpoints and deliveries in words. */
import type { Delivery, DeliveryStatus, Webhook, WebhookType } from '../../api/webhooks.ts';
import { Badge } from '../../ui/StatusBadge.tsx';
import { Time } from '../../ui/Time.tsx';

const TYPES: Readonly<Record<Delivery['type'], string>> = {
  'conversion.completed': 'A PDF is ready',
  'conversion.failed': 'A conversion failed',
  'conversion.deleted': 'A conversion was deleted',
  'batch.ended': 'A batch ended',
  'credits.low': 'Credits are running low',
  'webhook.test': 'Test',
};

export const typeText = (type: Delivery['type']): string => TYPES[type];

/** The types that an endpoint may be told of: the test is sent by a button alone. */
export const WEBHOOK_TYPES = Object.keys(TYPES).filter(
  (type): type is WebhookType => type !== 'webhook.test',
);

const FAILURES: Readonly<Record<NonNullable<Delivery['last_failure']>, string>> = {
  address_refused: 'The address is not allowed',
  https_required: 'The address must begin with https://',
  name_not_found: 'The host name does not exist',
  name_lookup_failed: 'The host name could not be looked up',
  connection_refused: 'The connection was refused',
  connection_failed: 'The connection failed',
  certificate_refused: 'The certificate is not trusted',
  invalid_answer: 'The answer was not valid HTTP',
  timeout: 'No answer within 15 seconds',
  unreadable: 'The delivery cannot be read any more',
};

/** The outcome of a try: the status of the answer, or the reason why there was none. */
export function outcomeText(
  status: number | undefined,
  failure: Delivery['last_failure'],
): string | undefined {
  if (failure !== undefined) return FAILURES[failure];
  return status === undefined ? undefined : `Status ${status}`;
}

export const DROPPED: Readonly<Record<NonNullable<Delivery['dropped']>, string>> = {
  deleted: 'The endpoint was deleted before it was delivered.',
  disabled: 'The endpoint was switched off before it was delivered.',
};

export const STATUS_TEXTS = {
  waiting: { tone: 'neutral', icon: 'clock', text: 'Waiting' },
  delivered: { tone: 'ok', icon: 'check', text: 'Delivered' },
  failed: { tone: 'danger', icon: 'cross', text: 'Failed' },
} as const;

export function DeliveryBadge({ status }: { readonly status: DeliveryStatus }) {
  const { tone, icon, text } = STATUS_TEXTS[status];
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  );
}

const OFF: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  owner: 'Off',
  gone: 'Off: answered 410',
  failing: 'Off: failed for days',
};

export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  if (!webhook.enabled) {
    return (
      <Badge tone="neutral" icon="pause">
        {webhook.disabled_reason === undefined ? 'Off' : OFF[webhook.disabled_reason]}
      </Badge>
    );
  }
  return webhook.failing_since === null ? (
    <Badge tone="ok" icon="check">
      On
    </Badge>
  ) : (
    <Badge tone="warning" icon="warning">
      Failing
    </Badge>
  );
}

const REASONS: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  owner: 'It was switched off by hand',
  gone: 'It was switched off because it answered with status 410, which means that it wants nothing more',
  failing: 'It was switched off because every try failed for 5 days',
};

/** Says why an endpoint gets nothing, or may soon get nothing; nothing while all is well. */
export function WebhookTrouble({ webhook }: { readonly webhook: Webhook }) {
  const { enabled, disabled_reason: reason, disabled_at: at, failing_since: since } = webhook;
  if (!enabled) {
    return (
      <p>
        {reason === undefined ? 'It is switched off' : REASONS[reason]}
        {at === undefined ? (
          '.'
        ) : (
          <>
            : <Time iso={at} />
          </>
        )}
      </p>
    );
  }
  if (since === null) return null;
  return (
    <p>
      Every try has failed since <Time iso={since} />. After 5 days it is switched off.
    </p>
  );
}

/** The name of an endpoint: its note, else its address. */
export const webhookName = ({ description, url }: Webhook): string => description || url;
