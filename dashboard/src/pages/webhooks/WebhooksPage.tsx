import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, dataOf } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import {
  defaultSecretQuery,
  forgetWebhooks,
  type Webhook,
  webhooksQuery,
} from '../../api/webhooks.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { DialogButton, useSecret } from '../../ui/Dialog.tsx';
import { EmptyState, Loaded, Page, Section } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { NewSecret, WebhookForm } from './WebhookForm.tsx';
import styles from './webhooks.module.css';
import { typeText, WEBHOOK_TYPES, WebhookBadge, webhookName } from './words.tsx';

const COLUMNS: readonly Column<Webhook>[] = [
  {
    header: t('Endpoint'),
    isRowHeader: true,
    cell: (webhook) => (
      <span className={`${styles.endpoint} named`}>
        <Link to="/webhooks/$id" params={{ id: webhook.id }} search={{}} dir="auto">
          {webhookName(webhook)}
        </Link>
        {webhook.description && <span className="note">{webhook.url}</span>}
      </span>
    ),
  },
  {
    header: t('Sends when'),
    isText: true,
    cell: ({ types }) =>
      types.length === WEBHOOK_TYPES.length ? (
        t('Anything happens')
      ) : (
        <ul className={styles.types}>
          {types.map((type) => (
            <li key={type}>{typeText(type)}</li>
          ))}
        </ul>
      ),
  },
  { header: t('State'), cell: (webhook) => <WebhookBadge webhook={webhook} /> },
  { header: t('Added'), cell: ({ created_at: at }) => <Time iso={at} /> },
];

export default function WebhooksPage() {
  const [showSecret, secret] = useSecret();
  const webhooks = useQuery(webhooksQuery);
  const { isOwner } = useRights();
  const add = isOwner && (
    <DialogButton look="primary" icon="plus" text={t('Add an endpoint')}>
      {(close) => <WebhookForm onClose={close} showSecret={showSecret} />}
    </DialogButton>
  );
  return (
    <Page
      title={t('Webhooks')}
      lead={t(
        'Instead of asking again and again, let the service tell your program when a PDF is ready: it sends a request to an address of yours.',
      )}
      actions={
        <>
          <ButtonLink to="/webhooks/deliveries" search={{}} icon="list">
            {t('All deliveries')}
          </ButtonLink>
          {webhooks.data?.length !== 0 && add}
        </>
      }
    >
      <Loaded query={webhooks} what={t('the endpoints')}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="send" title={t('There is no endpoint yet')} action={add}>
              {t('An endpoint is the address of your program that receives what happens.')}
            </EmptyState>
          ) : (
            <Table label={t('Endpoints')} columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <DefaultSecret />
      {secret}
    </Page>
  );
}

/** The secret for requests that name a URL of their own. */
function DefaultSecret() {
  const query = useQuery(defaultSecretQuery);
  const { isOwner } = useRights();
  return (
    <Section
      title={t('For single requests')}
      lead={rich(
        'Set {code} in a request to get a callback for that conversion. It is signed with this secret, which must be made first.',
        { code: <code>webhook_url</code> },
      )}
      actions={
        isOwner &&
        query.data !== undefined && (
          <NewSecret
            text={query.data === null ? t('Make a secret') : t('Replace the secret')}
            icon="key"
            isReplaced={query.data !== null}
            make={() => dataOf(api.POST('/api/v1/webhooks/secret/rotate/'))}
            onMade={forgetWebhooks}
          />
        )
      }
    >
      <Loaded query={query} what={t('the secret')} lines={1}>
        {(secret) =>
          secret === null ? (
            <p className="muted">{t('There is no secret yet.')}</p>
          ) : (
            <p>
              {rich('It begins with {code} and was made {time}', {
                code: <code>{secret.secret_prefix}</code>,
                time: <Time iso={secret.created_at} />,
              })}
            </p>
          )
        }
      </Loaded>
    </Section>
  );
}
