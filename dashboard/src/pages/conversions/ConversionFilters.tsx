import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { keysQuery } from '../../api/people.ts';
import { Button } from '../../ui/Button.tsx';
import { Checkbox, FilterSelect } from '../../ui/choices.tsx';
import { useFold } from '../../ui/Page.tsx';
import { STATUS_TEXTS } from '../../ui/records.tsx';
import { TextField } from '../../ui/forms.tsx';
import styles from './conversions.module.css';
import { SearchField } from './SearchField.tsx';
import { type ConversionsSearch, isDay, SOURCES, STATUSES } from './search.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

type Filters = Omit<ConversionsSearch, 'page'>;

const STATUS_CHOICES = STATUSES.map((value) => ({ value, label: STATUS_TEXTS[value].text }));
const SOURCE_TEXTS = { html: 'HTML', url: 'URL', document: t('Documents') } as const;
const SOURCE_CHOICES = SOURCES.map((value) => ({ value, label: SOURCE_TEXTS[value] }));

const ORDERS = [{ value: 'oldest', label: t('Oldest first') }] as const;

const ZONE = new Intl.DateTimeFormat('en-GB').resolvedOptions().timeZone;

/** 2026-11-21, the first of so many days up to today in the zone of the person. */
function firstOf(days: number): string {
  const now = new Date();
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1 - days);
  // Swedish dates have the form that addresses and fields have.
  return day.toLocaleDateString('sv-SE');
}

const CHOSEN = 'chosen';
/** By the number of days up to today. */
const PERIODS = [
  { value: '1', label: t('Today') },
  { value: '7', label: t('Last 7 days') },
  { value: '30', label: t('Last 30 days') },
  { value: CHOSEN, label: t('Choose days') },
] as const;

/** The period that the days of an address stand for today, or the day in UTC that it names. */
function periodOf({ from, to, day }: Filters) {
  if (day !== undefined) return day;
  if (from === undefined && to === undefined) return undefined;
  const known = PERIODS.find(({ value }) => to === undefined && from === firstOf(Number(value)));
  return known?.value ?? CHOSEN;
}

interface ConversionFiltersProps {
  readonly filters: Filters;
  /** The first day is after the last one. */
  readonly isBackwards: boolean;
  /** How often all filters were cleared. */
  readonly clears: number;
  /** @param replace the change goes on with the one before, so that "back" skips it */
  readonly onChange: (filters: Filters, replace?: boolean) => void;
}

/** A narrow screen shows the search alone; one button opens the rest, and says how many are in force. */
export function ConversionFilters(props: ConversionFiltersProps) {
  const { filters, clears, onChange } = props;
  const { q, order: _, ...others } = filters;
  const { canFold, isShown, toggle } = useFold(true);
  const active = Object.keys(others).length;
  return (
    <div role="search" aria-label={t('Conversions')} className={styles.filters}>
      <div className={styles.search}>
        <SearchField
          query={q}
          onChange={(next) =>
            onChange({ ...filters, q: next }, q !== undefined && next !== undefined)
          }
        />
      </div>
      {canFold && (
        <div className={styles.search}>
          <Button icon="filter" aria-expanded={isShown} onPress={toggle}>
            {rich('Filters{value}', { value: active > 0 && t(' ({active} in force)', { active }) })}
          </Button>
        </div>
      )}
      {isShown && <OtherFilters key={clears} {...props} />}
    </div>
  );
}

/** The account's keys by their names. One that is revoked, which an address may name, has its id alone. */
function useKeyChoices(id: string | undefined) {
  const { data: keys = [] } = useQuery(keysQuery);
  const named = keys.map((key) => ({ value: key.id, label: `${key.name} (${key.prefix}…)` }));
  const isKnown = id === undefined || keys.some((key) => key.id === id);
  return isKnown ? named : [...named, { value: id, label: id }];
}

function OtherFilters({ filters, isBackwards, onChange }: ConversionFiltersProps) {
  const { warnings = false, from, to, day: utcDay } = filters;
  const [isChoosing, setChoosing] = useState(false);
  const period = isChoosing ? CHOSEN : periodOf(filters);
  const change = (next: Filters) => onChange({ ...filters, ...next });
  return (
    <>
      <FilterSelect
        label={t('Status')}
        choices={STATUS_CHOICES}
        value={filters.status}
        onChange={(status) => change({ status })}
      />
      <FilterSelect
        label={t('Source')}
        choices={SOURCE_CHOICES}
        value={filters.source}
        onChange={(source) => change({ source })}
      />
      <FilterSelect
        label={t('Key')}
        choices={useKeyChoices(filters.key)}
        value={filters.key}
        onChange={(key) => change({ key })}
      />
      <FilterSelect
        label={t('Created')}
        all={t('Any time')}
        choices={
          utcDay === undefined
            ? PERIODS
            : [...PERIODS, { value: utcDay, label: t('{utcDay} in UTC', { utcDay }) }]
        }
        value={period}
        onChange={(next) => {
          setChoosing(next === CHOSEN);
          if (next === CHOSEN || next === utcDay) return;
          change({ from: next && firstOf(Number(next)), to: undefined, day: undefined });
        }}
      />
      <div className={styles.check}>
        <Checkbox
          isSelected={warnings}
          onChange={(next) => change({ warnings: next || undefined })}
        >
          {t('With warnings')}
        </Checkbox>
      </div>
      <FilterSelect
        label={t('Order')}
        all={t('Newest first')}
        choices={ORDERS}
        value={filters.order}
        onChange={(order) => change({ order })}
      />
      {period === CHOSEN && (
        <>
          <DayField
            label={t('From day')}
            day={from}
            hint={t('Days in {ZONE}.', { ZONE })}
            onChange={(day) => change({ from: day, day: undefined })}
          />
          <DayField
            label={t('To day')}
            day={to}
            error={isBackwards ? t('The last day is before the first.') : undefined}
            onChange={(day) => change({ to: day, day: undefined })}
          />
        </>
      )}
    </>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly day: string | undefined;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly onChange: (day: string) => void;
}

/** A day by the browser's own date field. It holds days that are being typed, and tells of whole ones. */
function DayField({ label, day = '', hint, error, onChange }: DayFieldProps) {
  const [text, setText] = useState(day);
  useEffect(() => setText(day), [day]);
  const change = (next: string) => {
    setText(next);
    if (next === '' || isDay(next)) onChange(next);
  };
  return (
    <TextField label={label} type="date" value={text} hint={hint} error={error} onChange={change} />
  );
}
