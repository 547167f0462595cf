import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, given, pageQuery } from '../../api/client.ts';
import type { ConversionEvent } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { FilterSelect, Switch } from '../../ui/choices.tsx';
import { EmptyState, Notice, Page, Section, useFold } from '../../ui/Page.tsx';
import type { Column } from '../../ui/records.tsx';
import { EventList } from './EventList.tsx';
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

const THEN: readonly Column<EventGroup>[] = [
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
  const list = {
    key: ['history', chosen, moment],
    page,
    size: PAGE_SIZE,
    ask: (paging: { readonly page: number; readonly page_size: number }, signal: AbortSignal) => {
      const query = { ...paging, ...filterOf(chosen), ...(moment && { as_of: moment }) };
      return api.GET('/api/v1/account/events/', { params: { query }, signal });
    },
  };
  const fold = useFold(Object.keys(chosen).length === 0);
  const { error } = useQuery(pageQuery(list));
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
        lead={moment && t('Up to the time above: later events are left out.')}
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
        {isRefused && !isNoMoment && (
          <Notice kind="danger">
            {t('The filters cannot be applied. What is wrong is said below each.')}
          </Notice>
        )}
        {!isRefused && (
          <EventList
            list={list}
            label={t('Events of the account')}
            // Whoever asks for one kind of event gets it.
            showsAll={showsAll || chosen.type !== undefined}
            more={THEN}
            onPage={(next) => go({ ...search, page: next })}
            empty={
              <EmptyState icon="search" title={t('No event matches')}>
                {t('Choose other filters, or show the automatic steps, too.')}
              </EmptyState>
            }
          />
        )}
      </Section>
    </Page>
  );
}

const ACTORS = Object.entries(ACTOR_KINDS).map(([value, label]) => ({ value, label }));

/** Texts, each with the field by which the API names it. */
const TEXTS = [
  { name: 'conversion', field: 'conversion_id', label: t('Conversion'), placeholder: 'conv_…' },
  { name: 'from', field: 'from', label: t('From'), type: 'datetime-local' },
  { name: 'to', field: 'to', label: t('To'), type: 'datetime-local' },
] as const;

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
  const { from = '', to = '', conversion = '' } = texts;
  const apply = (change: Partial<HistorySearch>) =>
    onSearch({ ...search, from, to, conversion: conversion.trim(), ...change, page: 1 });
  const clear = () => {
    setTexts({});
    onSearch({});
  };
  const kinds = typesOfAccount(types).map((type) => ({ value: type, label: typeText(type) }));
  const selects = [
    ['type', t('Event'), t('All events'), kinds],
    ['actor', t('Caused by'), t('Everybody'), ACTORS],
    ...(people.length > 1 ? [['person', t('Person'), t('All people'), people] as const] : []),
  ] as const;
  return (
    <form
      className={styles.filters}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        apply({});
      }}
    >
      {selects.map(([name, label, all, choices]) => (
        <FilterSelect
          key={name}
          label={label}
          all={all}
          choices={choices}
          // The id of a key is chosen by a link; the kind stands for it here.
          value={name === 'actor' ? search.actor?.split(':')[0] : search[name]}
          error={errors[name]?.join(' ')}
          onChange={(next = '') => apply({ [name]: next })}
        />
      ))}
      {TEXTS.map(({ name, field, ...props }) => (
        <TextField
          key={name}
          {...props}
          value={texts[name] ?? ''}
          error={errors[field]?.join(' ')}
          onChange={(value) => setTexts({ ...texts, [name]: value })}
        />
      ))}
      <div className="line by-field">
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
