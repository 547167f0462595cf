import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api, dataOf } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import {
  forgetDeliveries,
  forgetWebhooks,
  type Webhook,
  webhookQuery,
} from '../../api/webhooks.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { ActButton, ConfirmButton, DialogButton } from '../../ui/Dialog.tsx';
import { counted } from '../../ui/format.ts';
import { TextField } from '../../ui/forms.tsx';
import { Notice, RecordPage, Section } from '../../ui/Page.tsx';
import { Facts } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { DeliveryList } from './DeliveriesPage.tsx';
import { NewSecret, WebhookForm } from './WebhookForm.tsx';
import { typeText, WebhookBadge, WebhookTrouble, webhookName } from './words.tsx';

const route = getRouteApi('/signed-in/webhooks/$id');
const WEEK_MS = 7 * 86_400_000;

export default function WebhookPage() {
  const { id } = route.useParams();
  return <OneWebhook key={id} id={id} />;
}

function OneWebhook({ id }: { readonly id: string }) {
  const { isOwner } = useRights();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <RecordPage
      query={useQuery(webhookQuery(id))}
      kind={t('Endpoint')}
      what={t('the endpoint')}
      name={webhookName}
      lead={(webhook) => (
        <span className="line">
          <Link to="/webhooks">{t('All endpoints')}</Link>
          {webhook !== undefined && <WebhookBadge webhook={webhook} />}
        </span>
      )}
      actions={(webhook) => isOwner && <Actions webhook={webhook} />}
      missing={{
        title: t('This account has no such endpoint'),
        text: t('It may have been deleted, or the address of this page is misspelt.'),
        action: <ButtonLink to="/webhooks">{t('See all endpoints')}</ButtonLink>,
      }}
    >
      {(webhook) => (
        <>
          <EndpointParts webhook={webhook} />
          <Section
            title={t('Deliveries')}
            lead={t('What was sent to this endpoint, newest first.')}
          >
            <DeliveryList
              endpoint={id}
              search={search}
              onSearch={(next) =>
                void navigate({
                  to: '/webhooks/$id',
                  params: { id },
                  search: next,
                  resetScroll: false,
                })
              }
              action={isOwner && webhook.enabled && <RedeliverFailed webhook={webhook} />}
            />
          </Section>
        </>
      )}
    </RecordPage>
  );
}

function EndpointParts({ webhook }: { readonly webhook: Webhook }) {
  const { enabled, failing_since: since } = webhook;
  return (
    <>
      {(!enabled || since !== null) && (
        <Notice kind="warning">
          <WebhookTrouble webhook={webhook} />
          {!enabled && <p>{t('Nothing is sent to it until it is switched on again.')}</p>}
        </Notice>
      )}
      <Section title={t('Summary')}>
        <Facts
          facts={{
            URL: webhook.url,
            [t('Sends when')]: (
              <ul>
                {webhook.types.map((type) => (
                  <li key={type}>{typeText(type)}</li>
                ))}
              </ul>
            ),
            [t('Signing secret')]: rich('{code} of {time}', {
              code: <code>{webhook.secret_prefix}…</code>,
              time: <Time iso={webhook.secret_created_at} />,
            }),
            [t('Added')]: <Time iso={webhook.created_at} />,
            [t('Id')]: <code>{webhook.id}</code>,
          }}
        />
      </Section>
    </>
  );
}

function Actions({ webhook }: { readonly webhook: Webhook }) {
  const { id, enabled } = webhook;
  const params = { path: { id } };
  const navigate = useNavigate();
  const enable = (on: boolean) =>
    dataOf(api.PATCH('/api/v1/webhooks/{id}/', { params, body: { enabled: on } })).then(
      forgetWebhooks,
    );
  const remove = async () => {
    await dataOf(api.DELETE('/api/v1/webhooks/{id}/', { params }));
    announce(t('The endpoint is deleted.'));
    await navigate({ to: '/webhooks' });
    await forgetDeliveries();
  };
  return (
    <>
      <ActButton
        icon="send"
        act={() => dataOf(api.POST('/api/v1/webhooks/{id}/test/', { params }))}
        done={t('A test is being sent. It is the newest of the deliveries.')}
        failed={t('The test was not sent.')}
        after={forgetDeliveries}
      >
        {t('Send a test')}
      </ActButton>
      <DialogButton text={t('Edit')} icon="edit" title={t('Edit the endpoint')}>
        {(close) => <WebhookForm webhook={webhook} onClose={close} />}
      </DialogButton>
      <NewSecret
        text={t('New secret')}
        icon="key"
        isReplaced
        make={() => dataOf(api.POST('/api/v1/webhooks/{id}/rotate/', { params }))}
        onMade={forgetWebhooks}
      />
      {enabled ? (
        <ConfirmButton
          text={t('Switch off')}
          icon="pause"
          title={t('Switch the endpoint off?')}
          action={t('Switch it off')}
          onConfirm={() => enable(false)}
        >
          {t(
            'Nothing more is sent to it. What waits for its next try fails. You can switch it on again, and send again what failed.',
          )}
        </ConfirmButton>
      ) : (
        <ActButton
          look="primary"
          icon="play"
          act={() => enable(true)}
          done={t('The endpoint is on.')}
          failed={t('The endpoint was not switched on.')}
          after={forgetDeliveries}
        >
          {t('Switch on')}
        </ActButton>
      )}
      <ConfirmButton
        text={t('Delete')}
        icon="trash"
        title={t('Delete the endpoint?')}
        action={t('Delete the endpoint')}
        onConfirm={remove}
      >
        {t(
          'Nothing more is sent to it, nor what waits. Its secret cannot be brought back. What was sent stays in the history.',
        )}
      </ConfirmButton>
    </>
  );
}

/** The time as a date field has it: in the zone of the person, without seconds. */
function fieldTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

/** Sends again what failed of the events since a time: the time of the event counts, not of its tries. */
function RedeliverFailed({ webhook: { id } }: { readonly webhook: Webhook }) {
  return (
    <ConfirmButton
      text={t('Send failed ones again')}
      icon="refresh"
      title={t('Send failed ones again?')}
      action={t('Send them again')}
      actionLook="primary"
      onConfirm={async (textOf) => {
        const since = new Date(textOf('since')).toISOString();
        const params = { path: { id }, query: { since } };
        const { deliveries } = await dataOf(
          api.POST('/api/v1/webhooks/{id}/redeliver/', { params }),
        );
        void forgetDeliveries();
        return deliveries === 0
          ? t('Nothing that happened since then has failed.')
          : t('{deliveries} will be sent again.', {
              deliveries: counted(deliveries, 'delivery', 'deliveries'),
            });
      }}
    >
      {t(
        'Deliveries that failed are sent again, each under the id that it had: the oldest, at most 1,000 at a time.',
      )}
      <TextField
        label={t('Events since')}
        name="since"
        type="datetime-local"
        defaultValue={fieldTime(Date.now() - WEEK_MS)}
        hint={t('Takes what happened since then and could not be delivered.')}
        isRequired
        autoFocus
      />
    </ConfirmButton>
  );
}
