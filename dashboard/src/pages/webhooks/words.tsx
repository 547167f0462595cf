/** Endpoints and deliveries in words. */
import type { Delivery, DeliveryStatus, Webhook, WebhookType } from '../../api/webhooks.ts';
import { Badge } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const TYPES: Readonly<Record<Delivery['type'], string>> = {
  'conversion.completed': t('A PDF is ready'),
  'conversion.failed': t('A conversion failed'),
  'conversion.deleted': t('A conversion was deleted'),
  'batch.ended': t('A batch ended'),
  'credits.low': t('Credits are running low'),
  'webhook.test': t('Test'),
};

export const typeText = (type: Delivery['type']): string => TYPES[type];

/** The types that an endpoint may be told of: the test is sent by a button alone. */
export const WEBHOOK_TYPES = Object.keys(TYPES).filter(
  (type): type is WebhookType => type !== 'webhook.test',
);

const FAILURES: Readonly<Record<NonNullable<Delivery['last_failure']>, string>> = {
  address_refused: t('The address is not allowed'),
  https_required: t('The address must begin with https://'),
  name_not_found: t('The host name does not exist'),
  name_lookup_failed: t('The host name could not be looked up'),
  connection_refused: t('The connection was refused'),
  connection_failed: t('The connection failed'),
  certificate_refused: t('The certificate is not trusted'),
  invalid_answer: t('The answer was not valid HTTP'),
  timeout: t('No answer within 15 seconds'),
  unreadable: t('The delivery cannot be read any more'),
};

/** The outcome of a try: the status of the answer, or the reason why there was none. */
export function outcomeText(
  status: number | undefined,
  failure: Delivery['last_failure'],
): string | undefined {
  if (failure !== undefined) return FAILURES[failure];
  return status === undefined ? undefined : t('Status {status}', { status });
}

export const DROPPED: Readonly<Record<NonNullable<Delivery['dropped']>, string>> = {
  deleted: t('The endpoint was deleted before it was delivered.'),
  disabled: t('The endpoint was switched off before it was delivered.'),
};

export const STATUS_TEXTS = {
  waiting: { tone: 'neutral', icon: 'clock', text: t('Waiting') },
  delivered: { tone: 'ok', icon: 'check', text: t('Delivered') },
  failed: { tone: 'danger', icon: 'cross', text: t('Failed') },
} as const;

export const DeliveryBadge = ({ status }: { readonly status: DeliveryStatus }) => (
  <Badge {...STATUS_TEXTS[status]} />
);

/** In a word, and in a sentence. */
const OFF = {
  owner: [t('Off'), t('It was switched off by hand')],
  gone: [
    t('Off: answered 410'),
    t(
      'It was switched off because it answered with status 410, which means that it wants nothing more',
    ),
  ],
  failing: [
    t('Off: failed for days'),
    t('It was switched off because every try failed for 5 days'),
  ],
  unknown: [t('Off'), t('It is switched off')],
} as const satisfies Record<NonNullable<Webhook['disabled_reason']> | 'unknown', readonly string[]>;

export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  const { enabled, disabled_reason: reason = 'unknown' } = webhook;
  if (!enabled) return <Badge tone="neutral" icon="pause" text={OFF[reason][0]} />;
  return webhook.failing_since === null ? (
    <Badge tone="ok" icon="check" text={t('On')} />
  ) : (
    <Badge tone="warning" icon="warning" text={t('Failing')} />
  );
}

/** Says why an endpoint gets nothing, or may soon get nothing; nothing while all is well. */
export function WebhookTrouble({ webhook }: { readonly webhook: Webhook }) {
  const { enabled, disabled_reason: reason = 'unknown', disabled_at: at } = webhook;
  const { failing_since: since } = webhook;
  if (!enabled) {
    return (
      <p>
        {OFF[reason][1]}
        {at === undefined ? '.' : ': '}
        {at !== undefined && <Time iso={at} />}
      </p>
    );
  }
  if (since === null) return null;
  return (
    <p>
      {rich('Every try has failed since {time}. After 5 days it is switched off.', {
        time: <Time iso={since} />,
      })}
    </p>
  );
}

/** The name of an endpoint: its note, else its address. */
export const webhookName = ({ description, url }: Webhook): string => description || url;
