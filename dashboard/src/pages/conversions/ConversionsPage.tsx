import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { CONVERSIONS_PAGE_SIZE, type Conversion, conversionsQuery } from '../../api/conversions.ts';
import { useConversionChanges, useLiveState } from '../../api/live-conversions.ts';
import { pageOf } from '../../api/paged.ts';
import { useRights } from '../../api/people.ts';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { counted } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { Records } from '../../ui/Table.tsx';
import { ConversionFilters } from './ConversionFilters.tsx';
import { CONVERSIONS_TABLE } from './ConversionTable.tsx';
import styles from './conversions.module.css';
import { conversionsSearch, type ConversionsSearch, filterOf, isListed } from './search.ts';
import { rich, t } from '../../words/rich.ts';

const route = getRouteApi('/signed-in/conversions');
/** How often the list is asked for where the stream is refused. */
const POLL_MS = 15_000;
const NONE: ReadonlySet<string> = new Set();

/** Ids of conversions that are newer than all that page 1 shows. */
function useNewConversions(
  search: ConversionsSearch,
  shown: readonly Conversion[] | undefined,
): ReadonlySet<string> {
  const [ids, setIds] = useState(NONE);
  const filter = useMemo(() => filterOf(search), [search]);
  const newest = shown?.[0]?.id ?? '';
  const isFirstPage = search.page === undefined && shown !== undefined;
  const take = useCallback(
    (changed: readonly Conversion[]) => {
      if (!isFirstPage) return;
      // The ids of conversions grow with time.
      const added = changed.filter((each) => each.id > newest && isListed(filter, each));
      if (added.length > 0) setIds((known) => new Set([...known, ...added.map(({ id }) => id)]));
    },
    [filter, newest, isFirstPage],
  );
  useConversionChanges(take);
  useEffect(() => setIds(NONE), [filter]);
  return useMemo(() => new Set([...ids].filter((id) => id > newest)), [ids, newest]);
}

/** The service opens all names of an account for the first search of them. */
const LATE_MS = 2_000;

/** True once it has been waited for so long that a person wonders why. */
function useIsLate(isWaiting: boolean): boolean {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    setIsLate(false);
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => setIsLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return isLate;
}

export default function ConversionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const liveState = useLiveState();
  const { mayWork } = useRights();
  const { page = 1, ...filters } = search;
  const isBackwards =
    search.from !== undefined && search.to !== undefined && search.from > search.to;
  const query = useQuery({
    ...conversionsQuery(filterOf(search), { page }),
    enabled: !isBackwards,
    refetchInterval: liveState === 'refused' ? POLL_MS : false,
  });
  const { data, refetch, isPlaceholderData } = query;
  const added = useNewConversions(search, isPlaceholderData ? undefined : data?.items);
  const isEmpty = data?.items.length === 0;
  // An empty list has no rows that could move while they are read.
  useEffect(() => {
    if (isEmpty && added.size > 0) void refetch();
  }, [isEmpty, added, refetch]);

  const isFiltered = Object.keys(filters).length > 0;
  const isLate = useIsLate(query.isFetching && (data === undefined || isPlaceholderData));
  const total = isBackwards || isPlaceholderData ? undefined : data?.total;
  const show = (next: ConversionsSearch, replace = false) =>
    void navigate({
      to: '/conversions',
      search: conversionsSearch({ ...next }),
      replace,
      resetScroll: false,
    });
  return (
    <Page
      title={t('Conversions')}
      lead={t('Newest first. Updates live.')}
      actions={
        mayWork && (
          <ButtonLink to="/playground" icon="plus">
            {t('New conversion')}
          </ButtonLink>
        )
      }
    >
      <ConversionFilters filters={filters} isBackwards={isBackwards} onChange={show} />
      <div className={styles.above}>
        <span className="note">
          {total !== undefined && counted(total, 'conversion')}
          {total !== undefined && isFiltered && (total === 1 ? ' matches' : ' match')}
        </span>
        <span className="note" role="status">
          {isLate &&
            isFiltered &&
            t(
              'Still searching. The first search among very many conversions takes longer, each later one is quick.',
            )}
        </span>
        {(['reference', 'tag', 'template'] as const).map(
          (name) =>
            filters[name] !== undefined && (
              <Button
                key={name}
                small
                icon="close"
                aria-label={t('Remove the filter {name} {name2}', { name, name2: filters[name] })}
                onPress={() => show({ ...filters, [name]: undefined })}
              >
                <bdi>{filters[name]}</bdi>
              </Button>
            ),
        )}
        {isFiltered && (
          <Button small look="quiet" icon="close" onPress={() => show({})}>
            {t('Clear the filters')}
          </Button>
        )}
        <span role="status" className={styles.offer}>
          {added.size > 0 && !isEmpty && (
            <Button small icon="refresh" onPress={() => void refetch()}>
              {rich('Show {size}', { size: counted(added.size, 'new conversion') })}
            </Button>
          )}
        </span>
      </div>
      {!isBackwards && (
        <Records
          list={{ query, page, size: CONVERSIONS_PAGE_SIZE }}
          of={t('conversions')}
          {...CONVERSIONS_TABLE}
          onPage={(next) => show({ ...filters, ...pageOf(next) })}
          empty={<Nothing isFiltered={isFiltered} page={page} onReset={() => show({})} />}
        />
      )}
    </Page>
  );
}

interface NothingProps {
  readonly isFiltered: boolean;
  readonly page: number;
  readonly onReset: () => void;
}

function Nothing({ isFiltered, page, onReset }: NothingProps) {
  const { mayWork } = useRights();
  if (isFiltered || page > 1) {
    return (
      <EmptyState
        icon="search"
        title={page > 1 ? t('This page has no conversions') : t('No conversion matches')}
        action={<Button onPress={onReset}>{t('Show all conversions')}</Button>}
      >
        {page > 1
          ? t('The list has fewer pages than the address of this page says.')
          : t('No conversion of this account fits the search and all filters.')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="document"
      title={t('No conversions yet')}
      action={
        mayWork && (
          <ButtonLink to="/playground" look="primary">
            {t('Try one in the playground')}
          </ButtonLink>
        )
      }
    >
      {t(
        'Conversions appear here as soon as they are asked for, from the playground or with a key.',
      )}
    </EmptyState>
  );
}
