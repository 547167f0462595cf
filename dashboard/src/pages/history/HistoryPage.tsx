import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { usePage } from '../../api/paged.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section, useFold } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { type Column, Records } from '../../ui/Table.tsx';
import { EVENT_COLUMNS } from './columns.tsx';
import styles from './History.module.css';
import { HistoryFilters } from './HistoryFilters.tsx';
import { PastState } from './PastState.tsx';
import { type HistorySearch, historySearch, isoOf } from './search.ts';

const route = getRouteApi('/signed-in/history');

type Entry = components['schemas']['HistoryEntry'];
type EventType = Entry['type'];

const LEAD =
  'Everything that the log holds about this account, newest first. Nothing in it can be changed.';

/** Leads to the account as it was after the event. */
function Then({ entry }: { readonly entry: Entry }) {
  const search = route.useSearch();
  return (
    <Link to="/history" search={{ ...search, asOf: entry.position }} className={styles.then}>
      After event {entry.position}
    </Link>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  ...EVENT_COLUMNS,
  { header: 'The account then', cell: (entry) => <Then entry={entry} /> },
];

/** The filters as the API takes them. */
function filterOf({ type, actor, from, to, conversion }: HistorySearch) {
  const [start, end] = [isoOf(from), isoOf(to)];
  return {
    ...(type !== undefined && { type: type as EventType }),
    ...(actor !== undefined && { actor }),
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && { to: end }),
    ...(conversion !== undefined && { conversion_id: conversion }),
  };
}

export default function HistoryPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const go = (next: HistorySearch, resetScroll = false) =>
    void navigate({ to: '/history', search: historySearch({ ...next }), resetScroll });
  const { asOf, ...filters } = search;
  const { page = 1, ...chosen } = filters;
  const list = usePage({
    key: ['history', chosen],
    page,
    size: 25,
    ask: (paging, signal) => {
      const query = { ...paging, ...filterOf(chosen) };
      return api.GET('/api/v1/account/events/', { params: { query }, signal });
    },
  });
  const fold = useFold(Object.keys(chosen).length === 0);
  const { error } = list.query;
  const details = error instanceof ApiError ? error.details : {};
  // The page of the list has no field of its own.
  const isRefused =
    error instanceof ApiError && error.status === 400 && details['page'] === undefined;
  const areFiltersShown = fold.isShown || isRefused;
  return (
    <Page title="History" lead={LEAD}>
      <PastState key={asOf} asOf={asOf} onAsOf={(next) => go({ ...filters, asOf: next ?? '' })} />
      <Section title="Events">
        {fold.canFold && !isRefused && (
          <div>
            <Button icon="filter" aria-expanded={areFiltersShown} onPress={fold.toggle}>
              Filters
            </Button>
          </div>
        )}
        {areFiltersShown && (
          <HistoryFilters
            key={JSON.stringify(filters)}
            search={filters}
            onSearch={(next) => go({ ...next, asOf: asOf ?? '' })}
            errors={details}
          />
        )}
        {isRefused ? (
          <Notice kind="danger">
            The filters cannot be applied. What is wrong is said below each.
          </Notice>
        ) : (
          <Records
            list={list}
            of="events"
            label="Events of the account"
            columns={COLUMNS}
            rowKey={({ id }) => id}
            onPage={(next) => go({ ...search, page: next })}
            empty={
              <EmptyState icon="search" title="No event matches the filters">
                Choose other filters, or clear them to see all events.
              </EmptyState>
            }
          />
        )}
      </Section>
    </Page>
  );
}
