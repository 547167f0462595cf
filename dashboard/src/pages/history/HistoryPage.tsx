import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, given } from '../../api/client.ts';
import type { ConversionEvent } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { FilterSelect, Switch } from '../../ui/choices.tsx';
import { EmptyState, Notice, Page, Section, useFold } from '../../ui/Page.tsx';
import { type Column, Records } from '../../ui/records.tsx';
import { EVENT_GROUPS_TABLE, HiddenNote, useEventGroups } from './columns.tsx';
import type { EventGroup } from './groups.ts';
import styles from './History.module.css';
import { PastState } from './PastState.tsx';
import { type HistorySearch, historySearch, isoOf, momentOf } from './search.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { useQuery } from '@tanstack/react-query';
import { eventTypesQuery } from '../../request/fields-query.ts';
import { membersQuery } from '../../api/people.ts';
import { TextField } from '../../ui/forms.tsx';
import { ACTOR_KINDS, typesOfAccount, typeText } from './words.ts';

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
  return given({
    type: type as ConversionEvent['type'] | undefined,
    actor,
    person,
    from: isoOf(from),
    to: isoOf(to),
    conversion_id: conversion,
  });
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
            {t('Automatic steps')}
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
              of={t('events')}
              label={t('Events of the account')}
              {...EVENT_GROUPS_TABLE}
              columns={COLUMNS}
              onPage={(next) => go({ ...search, page: next })}
              empty={
                <EmptyState icon="search" title={t('No event matches')}>
                  {t('Choose other filters, another page, or show the automatic steps, too.')}
                </EmptyState>
              }
            />
          </>
        )}
      </Section>
    </Page>
  );
}

const ACTORS = Object.entries(ACTOR_KINDS).map(([value, label]) => ({ value, label }));

interface HistoryFiltersProps {
  readonly search: HistorySearch;
  readonly onSearch: (search: HistorySearch) => void;
  readonly errors: Readonly<Record<string, readonly string[] | undefined>>;
}

/** The filters of the list. Choices apply at once, texts with the button or Enter. */
export function HistoryFilters({ search, onSearch, errors }: HistoryFiltersProps) {
  const [texts, setTexts] = useState(search);
  const { data: types = [] } = useQuery(eventTypesQuery);
  const people = (useQuery(membersQuery).data ?? []).flatMap(({ id, status, name, email }) =>
    status === 'active' ? [{ value: id, label: name ?? email ?? id }] : [],
  );
  const text = (name: 'from' | 'to' | 'conversion') => ({
    value: texts[name] ?? '',
    onChange: (value: string) => setTexts({ ...texts, [name]: value }),
  });
  const { from = '', to = '', conversion = '' } = texts;
  const apply = (change: Partial<HistorySearch>) =>
    onSearch({ ...search, from, to, conversion: conversion.trim(), ...change, page: 1 });
  const clear = () => {
    setTexts({});
    onSearch({});
  };
  // The id of a key is chosen by a link; the kind stands for it here.
  const kind = search.actor?.split(':')[0];
  return (
    <form
      className={styles.filters}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        apply({});
      }}
    >
      <FilterSelect
        label={t('Event')}
        all={t('All events')}
        choices={typesOfAccount(types).map((type) => ({ value: type, label: typeText(type) }))}
        value={search.type}
        error={errors['type']?.join(' ')}
        onChange={(type = '') => apply({ type })}
      />
      <FilterSelect
        label={t('Caused by')}
        all={t('Everybody')}
        choices={ACTORS}
        value={kind}
        error={errors['actor']?.join(' ')}
        onChange={(actor = '') => apply({ actor })}
      />
      {people.length > 1 && (
        <FilterSelect
          label={t('Person')}
          all={t('All people')}
          choices={people}
          value={search.person}
          error={errors['person']?.join(' ')}
          onChange={(person = '') => apply({ person })}
        />
      )}
      <TextField
        label={t('Conversion')}
        placeholder="conv_…"
        {...text('conversion')}
        error={errors['conversion_id']?.join(' ')}
      />
      <TextField
        label={t('From')}
        type="datetime-local"
        {...text('from')}
        error={errors['from']?.join(' ')}
      />
      <TextField
        label={t('To')}
        type="datetime-local"
        {...text('to')}
        error={errors['to']?.join(' ')}
      />
      <div className={styles.buttons}>
        <Button type="submit" icon="filter">
          {t('Apply')}
        </Button>
        <Button look="quiet" onPress={clear}>
          {t('Clear')}
        </Button>
      </div>
    </form>
  );
}
