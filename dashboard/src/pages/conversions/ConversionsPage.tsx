import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Conversion, conversionsQuery } from '../../api/conversions.ts';
import { useLiveState } from '../../api/live-conversions.ts';
import { fileOf } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { Checkbox } from '../../ui/choices.tsx';
import { ExportButton, SaveButton } from '../../ui/Dialog.tsx';
import { counted } from '../../ui/format.ts';
import { EmptyState, Page } from '../../ui/Page.tsx';
import { type Column, Records } from '../../ui/records.tsx';
import { ConversionFilters } from './ConversionFilters.tsx';
import { CONVERSIONS_TABLE } from './ConversionTable.tsx';
import styles from './conversions.module.css';
import { conversionsSearch, type ConversionsSearch, filterOf, PAGE_SIZES } from './search.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const route = getRouteApi('/signed-in/conversions');
/** How often the list is asked for where the stream is refused. */
const POLL_MS = 15_000;

/** As many as the service sends in one file. */
const MOST_CHOSEN = 100;

const hasPdf = ({ status }: Pick<Conversion, 'status'>): boolean => status === 'completed';

const without = (ids: readonly string[], others: readonly string[]): readonly string[] =>
  ids.filter((id) => !others.includes(id));

interface ChoosingProps {
  /** The ids, also of rows on other pages of the list. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function choiceOf({ chosen, onChange }: ChoosingProps): Column<Conversion> {
  const cell = ({ id, name = id, ...record }: Conversion) =>
    hasPdf(record) && (
      <Checkbox
        aria-label={t('Choose {name}', { name })}
        isSelected={chosen.includes(id)}
        onChange={(isChosen) => onChange(isChosen ? [...chosen, id] : without(chosen, [id]))}
      />
    );
  return { header: t('Choose'), isActions: true, cell };
}

/** What is done with the chosen rows. @param props with the rows that are shown */
function Choosing(props: ChoosingProps & { readonly shown: readonly Conversion[] | undefined }) {
  const { chosen, shown = [], onChange } = props;
  const here = shown.filter(hasPdf).map(({ id }) => id);
  if (here.length + chosen.length === 0) return null;
  const left = without(here, chosen);
  const isAll = here.length > 0 && left.length === 0;
  // Each is a download, which is an event.
  const load = async () => {
    const query = { id: [...chosen] };
    const { data } = await fileOf('/api/v1/conversions/zip/', { query });
    return { file: data, name: 'conversions.zip' };
  };
  return (
    <div className={styles.above}>
      <Checkbox
        isSelected={isAll}
        isIndeterminate={!isAll && left.length < here.length}
        isDisabled={here.length === 0}
        onChange={() => onChange(isAll ? without(chosen, here) : [...chosen, ...left])}
      >
        {t('All PDFs on this page')}
      </Checkbox>
      {chosen.length > 0 && (
        <>
          <SaveButton
            small
            icon="download"
            what={t('ZIP file')}
            isDisabled={chosen.length > MOST_CHOSEN}
            load={load}
          >
            {t('Download {completed} as ZIP', { completed: counted(chosen.length, 'PDF') })}
          </SaveButton>
          <Button small look="quiet" icon="close" onPress={() => onChange([])}>
            {t('Choose none')}
          </Button>
        </>
      )}
      <span className="note" role="status">
        {chosen.length > MOST_CHOSEN &&
          t('One ZIP file takes {MOST_CHOSEN} PDFs at the most. Choose fewer.', { MOST_CHOSEN })}
      </span>
    </div>
  );
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
  const { mayWork, mayReadDocuments } = useRights();
  const { page = 1, size = PAGE_SIZES[0], ...filters } = search;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choosing = { chosen, onChange: setChosen };
  const [clears, setClears] = useState(0);
  const isBackwards =
    search.from !== undefined && search.to !== undefined && search.from > search.to;
  const query = useQuery({
    ...conversionsQuery(filterOf(search), { page, size }),
    enabled: !isBackwards,
    refetchInterval: liveState === 'refused' ? POLL_MS : false,
  });
  const { data, refetch, isPlaceholderData } = query;
  const added = page === 1 && !isPlaceholderData ? (data?.added?.length ?? 0) : 0;
  const isEmpty = data?.items.length === 0;
  // An empty list has no rows that could move while they are read.
  useEffect(() => {
    if (isEmpty && added > 0) void refetch();
  }, [isEmpty, added, refetch]);

  const { order, ...narrowing } = filters;
  const isFiltered = Object.keys(narrowing).length > 0;
  const isLate = useIsLate(query.isFetching && (data === undefined || isPlaceholderData));
  const total = isBackwards || isPlaceholderData ? undefined : data?.total;
  const show = (next: ConversionsSearch, replace = false) =>
    void navigate({
      to: '/conversions',
      search: conversionsSearch({ size, ...next }),
      replace,
      resetScroll: false,
    });
  const clear = () => {
    setClears(clears + 1);
    show({ order });
  };
  return (
    <Page
      title={t('Conversions')}
      lead={order === 'oldest' ? t('Oldest first.') : t('Newest first. Updates live.')}
      actions={
        mayWork && (
          <ButtonLink to="/playground" icon="plus">
            {t('Open the playground')}
          </ButtonLink>
        )
      }
    >
      <ConversionFilters {...{ filters, isBackwards, clears }} onChange={show} />
      <div className={styles.above}>
        <span className="note">
          {total !== undefined && counted(total, 'conversion')}
          {total !== undefined && isFiltered && ` ${total === 1 ? t('matches') : t('match')}`}
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
          <Button small look="quiet" icon="close" onPress={clear}>
            {t('Clear the filters')}
          </Button>
        )}
        <span role="status" className="last">
          {added > 0 && !isEmpty && (
            <Button small icon="refresh" onPress={() => void refetch()}>
              {rich('Show {size}', { size: counted(added, 'new conversion') })}
            </Button>
          )}
        </span>
        {total !== undefined && total > 0 && (
          <ExportButton
            path={`/api/v1/conversions/?${new URLSearchParams({ ...filterOf(search) })}`}
            fileName="conversions.csv"
            what={t('list')}
          />
        )}
      </div>
      {mayReadDocuments && <Choosing {...choosing} shown={data?.items} />}
      {!isBackwards && (
        <Records
          list={{ query, page, size }}
          of={t('conversions')}
          {...CONVERSIONS_TABLE}
          {...(mayReadDocuments && { columns: [choiceOf(choosing), ...CONVERSIONS_TABLE.columns] })}
          sizes={{
            of: PAGE_SIZES,
            onSize: (next) => show({ ...filters, size: PAGE_SIZES.find((each) => each === next) }),
          }}
          onPage={(next) => show({ ...filters, page: next })}
          empty={<Nothing isFiltered={isFiltered} onReset={clear} />}
        />
      )}
    </Page>
  );
}

type NothingProps = { readonly isFiltered: boolean; readonly onReset: () => void };

function Nothing({ isFiltered, onReset }: NothingProps) {
  const { mayWork } = useRights();
  return isFiltered ? (
    <EmptyState
      icon="search"
      title={t('No conversion matches')}
      action={<Button onPress={onReset}>{t('Show all conversions')}</Button>}
    >
      {t('No conversion of this account fits the search and all filters.')}
    </EmptyState>
  ) : (
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
