import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import {
  BATCHES,
  type Batch,
  batchEventsPage,
  batchQuery,
  getZip,
  hasEnded,
} from '../../api/batches.ts';
import { api, dataOf } from '../../api/client.ts';
import { conversionsPage, LISTS } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { usePage } from '../../api/paged.ts';
import { useRights } from '../../api/people.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { Facts, Tags } from '../../ui/Facts.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { Page, Section } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { SaveButton } from '../../ui/SaveButton.tsx';
import { TestBadge } from '../../ui/StatusBadge.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { Records } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { CONVERSIONS_TABLE } from '../conversions/ConversionTable.tsx';
import { EVENT_GROUPS_TABLE, HiddenNote, useEventGroups } from '../history/columns.tsx';
import { BatchBadge, batchName, progressText } from './words.tsx';

const route = getRouteApi('/signed-in/batches/$id');

export default function BatchPage() {
  const { id } = route.useParams();
  const query = useQuery(batchQuery(id));
  const { data: batch, error } = query;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Page title="Batch">
        <EmptyState
          icon="search"
          title="This account has no such batch"
          action={
            <ButtonLink to="/batches" search={{}}>
              See all batches
            </ButtonLink>
          }
        >
          The address of this page may be misspelt, or the batch belongs to another account.
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page
      title={batch === undefined ? 'Batch' : batchName(batch)}
      lead={
        <span className="line">
          <code>{id}</code>
          {batch !== undefined && (
            <span role="status">
              <BatchBadge status={batch.status} /> {batch.test && <TestBadge />}
            </span>
          )}
        </span>
      }
      actions={batch !== undefined && <Actions batch={batch} />}
    >
      <Loaded query={query} what="the batch" lines={6}>
        {(loaded) => <Summary batch={loaded} />}
      </Loaded>
      {/* Another batch starts with a fresh list. */}
      <ConversionsOf key={id} id={id} />
      {batch !== undefined && <HistoryOf key={`history of ${id}`} batch={batch} />}
    </Page>
  );
}

function Actions({ batch }: { readonly batch: Batch }) {
  const { id, status, pending, completed } = batch;
  const { mayWork, mayReadDocuments } = useRights();
  const queries = useQueryClient();
  const isWhole = hasEnded(batch);
  const cancel = async () => {
    await dataOf(api.DELETE('/api/v1/batches/{id}/', { params: { path: { id } } }));
    announce('The batch is cancelled.');
    await Promise.all([
      queries.invalidateQueries({ queryKey: BATCHES }),
      queries.invalidateQueries({ queryKey: LISTS }),
    ]);
  };
  const load = async () => ({ file: await getZip(id, !isWhole), name: `${id}.zip` });
  return (
    <>
      {mayReadDocuments && completed > 0 && (
        <SaveButton
          look={isWhole ? 'primary' : 'secondary'}
          icon="download"
          what="ZIP file"
          load={load}
        >
          {isWhole ? `Download ${counted(completed, 'PDF')} as ZIP` : 'Download what is ready'}
        </SaveButton>
      )}
      {mayWork && status === 'running' && (
        <ConfirmButton
          icon="cross"
          text="Cancel the rest"
          title="Cancel the rest of the batch?"
          action="Cancel the rest"
          keepText="Let it go on"
          onConfirm={cancel}
        >
          <p>
            {counted(pending, 'conversion')} that {pending === 1 ? 'has' : 'have'} not ended will
            end without a PDF, and {pending === 1 ? 'its credit comes' : 'their credits come'} back.
            Their requests are deleted. What is completed stays.
          </p>
        </ConfirmButton>
      )}
    </>
  );
}

function Summary({ batch }: { readonly batch: Batch }) {
  const { total, pending, completed, failed, reference, tags } = batch;
  return (
    <Section title="Progress">
      <ProgressBar
        label="Conversions"
        value={total - pending}
        max={total}
        text={progressText(batch)}
      />
      <Facts
        facts={{
          Completed: formatNumber(completed),
          Failed: formatNumber(failed),
          'Not ended': formatNumber(pending),
          Created: <Time iso={batch.created_at} />,
          Cancelled: batch.cancelled_at && <Time iso={batch.cancelled_at} />,
          Ended: batch.ended_at && <Time iso={batch.ended_at} />,
          Reference: reference && <bdi>{reference}</bdi>,
          Tags: tags && <Tags tags={tags} />,
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
    <Section title="Conversions">
      <Records
        list={list}
        of="conversions"
        {...CONVERSIONS_TABLE}
        onPage={(next) =>
          void navigate({
            to: '/batches/$id',
            params: { id },
            search: { page: next },
            resetScroll: false,
          })
        }
        empty={
          <EmptyState icon="document" title="This page has no conversions">
            The list has fewer pages than the address of this page says.
          </EmptyState>
        }
      />
    </Section>
  );
}

function HistoryOf({ batch }: { readonly batch: Batch }) {
  const [page, setPage] = useState(1);
  const list = useEventGroups(batchEventsPage(batch.id, page, !hasEnded(batch)), false);
  return (
    <Section title="History">
      <HiddenNote hidden={list.query.data?.hidden} />
      <Records
        list={list}
        of="events"
        label="Events of the batch and its conversions"
        {...EVENT_GROUPS_TABLE}
        onPage={setPage}
        empty={
          <EmptyState icon="history" title="This page has no events">
            The list has fewer pages than that.
          </EmptyState>
        }
      />
    </Section>
  );
}
