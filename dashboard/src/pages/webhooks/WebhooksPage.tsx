import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import {
  defaultSecretQuery,
  forgetWebhooks,
  type Webhook,
  webhooksQuery,
} from '../../api/webhooks.ts';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { NewSecret, SigningSecret } from './NewSecret.tsx';
import { WebhookForm } from './WebhookForm.tsx';
import styles from './webhooks.module.css';
import { typeText, WEBHOOK_TYPES, WebhookBadge, webhookName } from './words.tsx';

const COLUMNS: readonly Column<Webhook>[] = [
  {
    header: 'Endpoint',
    isRowHeader: true,
    cell: (webhook) => (
      <span className={styles.endpoint}>
        <Link to="/webhooks/$id" params={{ id: webhook.id }} search={{}} dir="auto">
          {webhookName(webhook)}
        </Link>
        {webhook.description && <span className="note">{webhook.url}</span>}
      </span>
    ),
  },
  {
    header: 'Sends when',
    isText: true,
    cell: ({ types }) =>
      types.length === WEBHOOK_TYPES.length ? (
        'Anything happens'
      ) : (
        <ul className={styles.types}>
          {types.map((type) => (
            <li key={type}>{typeText(type)}</li>
          ))}
        </ul>
      ),
  },
  { header: 'State', cell: (webhook) => <WebhookBadge webhook={webhook} /> },
  { header: 'Added', cell: ({ created_at: at }) => <Time iso={at} /> },
];

export default function WebhooksPage() {
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const webhooks = useQuery(webhooksQuery);
  const { isOwner } = useRights();
  const add = isOwner && (
    <Button look="primary" icon="plus" onPress={() => setAdding(true)}>
      Add an endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead="Instead of asking again and again, let the service tell your program when a PDF is ready, by a request to an address of yours."
      actions={
        <>
          <ButtonLink to="/webhooks/deliveries" search={{}} icon="list">
            All deliveries
          </ButtonLink>
          {webhooks.data?.length !== 0 && add}
        </>
      }
    >
      <Loaded query={webhooks} what="the endpoints">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="send" title="There is no endpoint yet" action={add}>
              An endpoint is the address of a program of yours that wants to be told.
            </EmptyState>
          ) : (
            <Table label="Endpoints" columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <DefaultSecret />
      <Dialog title="Add an endpoint" isOpen={isAdding} onClose={() => setAdding(false)}>
        <WebhookForm
          onCancel={() => setAdding(false)}
          onSaved={(created) => {
            setAdding(false);
            setSecret(created?.secret);
          }}
        />
      </Dialog>
      {secret !== undefined && (
        <SigningSecret secret={secret} onCopied={() => setSecret(undefined)} />
      )}
    </Page>
  );
}

/** The secret for requests that name a URL of their own. */
function DefaultSecret() {
  const query = useQuery(defaultSecretQuery);
  const { isOwner } = useRights();
  return (
    <Section
      title="For single requests"
      lead={
        <>
          A request may name an address in <code>webhook_url</code>, which is told of that one
          conversion. What is sent there is signed with this secret.
        </>
      }
      actions={
        isOwner &&
        query.data !== undefined && (
          <NewSecret
            text={query.data === null ? 'Make a secret' : 'Replace the secret'}
            icon="key"
            isReplaced={query.data !== null}
            make={() => dataOf(api.POST('/api/v1/webhooks/secret/rotate/'))}
            onMade={forgetWebhooks}
          />
        )
      }
    >
      <Loaded query={query} what="the secret" lines={1}>
        {(secret) =>
          secret === null ? (
            <p className="muted">There is no secret yet.</p>
          ) : (
            <p>
              It begins with <code>{secret.secret_prefix}</code> and was made{' '}
              <Time iso={secret.created_at} />
            </p>
          )
        }
      </Loaded>
    </Section>
  );
}
