import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type Batch,
  batchZip,
  BATCHES,
  batchEventsPage,
  batchQuery,
  hasEnded,
} from '../../api/batches.ts';
import { api, dataOf, usePage } from '../../api/client.ts';
import { conversionsPage, LISTS } from '../../api/conversions.ts';
import { useRights } from '../../api/people.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { ConfirmButton, SaveButton } from '../../ui/Dialog.tsx';
import { Facts, Records, Tags, TestBadge } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { RecordPage, Section } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { CONVERSIONS_TABLE } from '../conversions/ConversionTable.tsx';
import { EventList } from '../history/EventList.tsx';
import { BatchBadge, batchName, progressText } from './words.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const route = getRouteApi('/signed-in/batches/$id');

export default function BatchPage() {
  const { id } = route.useParams();
  return (
    // Another batch starts with fresh lists.
    <RecordPage
      key={id}
      query={useQuery(batchQuery(id))}
      kind={t('Batch')}
      what={t('the batch')}
      name={batchName}
      lead={(batch) => (
        <span className="line">
          <code>{id}</code>
          {batch !== undefined && (
            <span role="status">
              <BatchBadge status={batch.status} /> {batch.test && <TestBadge />}
            </span>
          )}
        </span>
      )}
      actions={(batch) => <Actions batch={batch} />}
      missing={{
        title: t('This account has no such batch'),
        text: t(
          'The address of this page may be misspelt, or the batch belongs to another account.',
        ),
        action: (
          <ButtonLink to="/batches" search={{}}>
            {t('See all batches')}
          </ButtonLink>
        ),
      }}
    >
      {(batch) => (
        <>
          <Summary batch={batch} />
          <ConversionsOf id={id} />
          <HistoryOf batch={batch} />
        </>
      )}
    </RecordPage>
  );
}

function Actions({ batch }: { readonly batch: Batch }) {
  const { id, status, pending, completed } = batch;
  const { mayWork, mayReadDocuments } = useRights();
  const queries = useQueryClient();
  const isWhole = hasEnded(batch);
  const cancel = async () => {
    await dataOf(api.DELETE('/api/v1/batches/{id}/', { params: { path: { id } } }));
    announce(t('The batch is cancelled.'));
    await Promise.all([
      queries.invalidateQueries({ queryKey: BATCHES }),
      queries.invalidateQueries({ queryKey: LISTS }),
    ]);
  };
  return (
    <>
      {mayReadDocuments && completed > 0 && (
        <SaveButton
          look={isWhole ? 'primary' : 'secondary'}
          icon="download"
          what={t('ZIP file')}
          load={() => batchZip(id, !isWhole)}
        >
          {isWhole
            ? t('Download {completed} as ZIP', { completed: counted(completed, 'PDF') })
            : t('Download what is ready')}
        </SaveButton>
      )}
      {mayWork && status === 'running' && (
        <ConfirmButton
          icon="cross"
          text={t('Cancel the rest')}
          title={t('Cancel the rest of the batch?')}
          action={t('Cancel the rest')}
          keepText={t('Let it go on')}
          onConfirm={cancel}
        >
          {rich(
            'What has not ended will end without a PDF: {pending}. The requests are deleted, and the credits come back. What is completed stays.',
            { pending: counted(pending, 'conversion') },
          )}
        </ConfirmButton>
      )}
    </>
  );
}

function Summary({ batch }: { readonly batch: Batch }) {
  const { total, pending, completed, failed, reference, tags } = batch;
  return (
    <Section title={t('Progress')}>
      <ProgressBar
        label={t('Conversions')}
        value={total - pending}
        max={total}
        text={progressText(batch)}
      />
      <Facts
        facts={{
          [t('Completed')]: formatNumber(completed),
          [t('Failed')]: formatNumber(failed),
          [t('Not ended')]: formatNumber(pending),
          [t('Created')]: <Time iso={batch.created_at} />,
          [t('Cancelled')]: batch.cancelled_at && <Time iso={batch.cancelled_at} />,
          [t('Ended')]: batch.ended_at && <Time iso={batch.ended_at} />,
          [t('Reference')]: reference && <bdi>{reference}</bdi>,
          [t('Tags')]: tags && <Tags tags={tags} />,
        }}
      />
    </Section>
  );
}

function ConversionsOf({ id }: { readonly id: string }) {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const list = usePage(conversionsPage({ batch: id }, { page }));
  return (
    <Section title={t('Conversions')}>
      <Records
        list={list}
        of={t('conversions')}
        {...CONVERSIONS_TABLE}
        onPage={(next) =>
          void navigate({
            to: '/batches/$id',
            params: { id },
            search: { page: next },
            resetScroll: false,
          })
        }
      />
    </Section>
  );
}

function HistoryOf({ batch }: { readonly batch: Batch }) {
  const [page, setPage] = useState(1);
  return (
    <Section title={t('History')}>
      <EventList
        list={batchEventsPage(batch.id, page, !hasEnded(batch))}
        label={t('Events of the batch and its conversions')}
        onPage={setPage}
      />
    </Section>
  );
}
