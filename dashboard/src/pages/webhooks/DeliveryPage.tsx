import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, dataOf } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import { type DeliveryWithTries, deliveryQuery, forgetDeliveries } from '../../api/webhooks.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { ActButton } from '../../ui/Dialog.tsx';
import { formatDuration } from '../../ui/format.ts';
import { Notice, RecordPage, Section } from '../../ui/Page.tsx';
import { Facts, RecordLink } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import styles from './webhooks.module.css';
import { DeliveryBadge, DROPPED, outcomeText, typeText } from './words.tsx';

const route = getRouteApi('/signed-in/webhooks/deliveries/$id');

export default function DeliveryPage() {
  const { id } = route.useParams();
  const { isOwner } = useRights();
  return (
    <RecordPage
      query={useQuery(deliveryQuery(id))}
      kind={t('Delivery')}
      what={t('the delivery')}
      name={({ type }) => typeText(type)}
      lead={(delivery) => (
        <span className="line">
          <code>{id}</code>
          {delivery !== undefined && (
            <span role="status">
              <DeliveryBadge status={delivery.status} />
            </span>
          )}
        </span>
      )}
      actions={({ status }) => isOwner && status !== 'waiting' && <Redeliver id={id} />}
      missing={{
        title: t('This account has no such delivery'),
        text: t(
          'Deliveries are listed as long as documents are kept. Their events stay in the history.',
        ),
        action: (
          <ButtonLink to="/webhooks/deliveries" search={{}}>
            {t('See all deliveries')}
          </ButtonLink>
        ),
      }}
    >
      {(delivery) => <DeliveryParts delivery={delivery} />}
    </RecordPage>
  );
}

function Redeliver({ id }: { readonly id: string }) {
  const params = { path: { id } };
  return (
    <ActButton
      icon="refresh"
      act={() => dataOf(api.POST('/api/v1/webhooks/deliveries/{id}/redeliver/', { params }))}
      done={t('It is being sent again.')}
      failed={t('It was not sent again.')}
      after={forgetDeliveries}
    >
      {t('Send again')}
    </ActButton>
  );
}

function DeliveryParts({ delivery }: { readonly delivery: DeliveryWithTries }) {
  const { conversion_id: conversion, batch_id: batch, dropped } = delivery;
  const { attempts, next_try_at: next } = delivery;
  return (
    <>
      {dropped !== undefined && <Notice kind="warning">{DROPPED[dropped]}</Notice>}
      <Section title={t('Summary')}>
        <Facts
          facts={{
            [t('About')]: conversion && <RecordLink id={conversion} name={delivery.name} />,
            [t('Batch')]: batch && <RecordLink id={batch} />,
            [t('Sent to')]: <Target delivery={delivery} />,
            [t('Event')]: <code>{delivery.type}</code>,
            [t('Happened')]: <Time iso={delivery.created_at} />,
            [t('Next try')]: next && <Time iso={next} />,
          }}
        />
      </Section>
      <Section title={t('Tries')} lead={t('Each time that it was sent, newest first.')}>
        {attempts.length === 0 ? (
          <p className="muted">{t('It was not sent yet.')}</p>
        ) : (
          <ol className="stack gap-3">
            {attempts.toReversed().map((each) => (
              <Try key={each.at} tried={each} />
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}

function Target({ delivery: { webhook_id: id, url } }: { readonly delivery: DeliveryWithTries }) {
  if (url === undefined) return t('An endpoint that was deleted');
  if (id === undefined) return t('{url}, as the request said', { url });
  return (
    <Link to="/webhooks/$id" params={{ id }} search={{}}>
      {url}
    </Link>
  );
}

/** The answer is text of others: it is shown sign by sign. */
function Try({ tried }: { readonly tried: DeliveryWithTries['attempts'][number] }) {
  const { at, status, failure, duration_ms: duration, answer } = tried;
  return (
    <li className={`${styles.try} box stack gap-2`}>
      <p className="line">
        <strong>{outcomeText(status, failure)}</strong>
        <span className="muted">
          {rich('after {duration}', { duration: formatDuration(duration) })}
        </span>
        <Time iso={at} />
      </p>
      {answer && (
        <pre tabIndex={0} aria-label={t('The beginning of the answer')}>
          {answer}
        </pre>
      )}
    </li>
  );
}
