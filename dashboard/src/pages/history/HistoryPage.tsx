import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { ConversionEvent } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { Switch } from '../../ui/Checkbox.tsx';
import { EmptyState, Notice, Page, Section, useFold } from '../../ui/Page.tsx';
import { type Column, Records } from '../../ui/records.tsx';
import { EVENT_GROUPS_TABLE, HiddenNote, useEventGroups } from './columns.tsx';
import type { EventGroup } from './groups.ts';
import styles from './History.module.css';
import { HistoryFilters } from './HistoryFilters.tsx';
import { PastState } from './PastState.tsx';
import { type HistorySearch, historySearch, isoOf, momentOf } from './search.ts';
import { rich, t } from '../../words/rich.ts';

const route = getRouteApi('/signed-in/history');

/** As many events as the service sends at once, so that few conversions are cut by the end of a page. */
const PAGE_SIZE = 100;

const LEAD = t(
  'Everything that the log holds about this account, newest first. Nothing in it can be changed.',
);

/** Leads to the account as it was after the newest event of the group. */
function Then({ group: { entries } }: { readonly group: EventGroup }) {
  const search = route.useSearch();
  const [{ position }] = entries;
  return (
    <Link to="/history" search={{ ...search, asOf: position }} className={styles.then}>
      {rich('After event {position}', { position })}
    </Link>
  );
}

const COLUMNS: readonly Column<EventGroup>[] = [
  ...EVENT_GROUPS_TABLE.columns,
  { header: t('The account then'), cell: (group) => <Then group={group} /> },
];

/** The filters as the API takes them. */
function filterOf({ type, actor, person, from, to, conversion }: HistorySearch) {
  const [start, end] = [isoOf(from), isoOf(to)];
  return {
    ...(type !== undefined && { type: type as ConversionEvent['type'] }),
    ...(actor !== undefined && { actor }),
    ...(person !== undefined && { person }),
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
  const [showsAll, setShowsAll] = useState(false);
  // A moment that is none is said above the list, which is of the present then.
  const moment = asOf === undefined ? undefined : momentOf(asOf);
  const list = useEventGroups(
    {
      key: ['history', chosen, moment],
      page,
      size: PAGE_SIZE,
      ask: (paging, signal) => {
        const query = { ...paging, ...filterOf(chosen), ...(moment && { as_of: moment }) };
        return api.GET('/api/v1/account/events/', { params: { query }, signal });
      },
    },
    // Whoever asks for one kind of event gets it.
    showsAll || chosen.type !== undefined,
  );
  const fold = useFold(Object.keys(chosen).length === 0);
  const { error } = list.query;
  const details = error instanceof ApiError ? error.details : {};
  // The page of the list has no field of its own.
  const isRefused =
    error instanceof ApiError && error.status === 400 && details['page'] === undefined;
  const isNoMoment = details['as_of'] !== undefined;
  const areFiltersShown = fold.isShown || isRefused;
  return (
    <Page title={t('History')} lead={LEAD}>
      <PastState key={asOf} asOf={asOf} onAsOf={(next) => go({ ...chosen, asOf: next ?? '' })} />
      <Section
        title={t('Events')}
        {...(moment !== undefined && {
          lead: t('Up to the time above: later events are left out.'),
        })}
        actions={
          <Switch isSelected={showsAll} onChange={setShowsAll}>
            {t('Steps of machines')}
          </Switch>
        }
      >
        {fold.canFold && !isRefused && (
          <div>
            <Button icon="filter" aria-expanded={areFiltersShown} onPress={fold.toggle}>
              {t('Filters')}
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
        {isNoMoment ? null : isRefused ? (
          <Notice kind="danger">
            {t('The filters cannot be applied. What is wrong is said below each.')}
          </Notice>
        ) : (
          <>
            <HiddenNote hidden={list.query.data?.hidden} />
            <Records
              list={list}
              of="events"
              label={t('Events of the account')}
              {...EVENT_GROUPS_TABLE}
              columns={COLUMNS}
              onPage={(next) => go({ ...search, page: next })}
              empty={
                <EmptyState icon="search" title={t('No event matches')}>
                  {t('Choose other filters, another page, or show the steps of machines, too.')}
                </EmptyState>
              }
            />
          </>
        )}
      </Section>
    </Page>
  );
}
