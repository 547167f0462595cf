import { useEffect, useState } from 'react';
import type { ConversionStatus } from '../../api/conversions.ts';
import { type Choice, Select } from '../../ui/Select.tsx';
import { STATUS_TEXTS } from '../../ui/StatusBadge.tsx';
import { TextField } from '../../ui/TextField.tsx';
import styles from './conversions.module.css';
import { type ConversionsSearch, idStart, isDay, MIN_ID_CHARACTERS, STATUSES } from './search.ts';

type Filters = Omit<ConversionsSearch, 'page'>;

const ALL = 'all';
const STATUS_CHOICES: readonly Choice<ConversionStatus | typeof ALL>[] = [
  { value: ALL, label: 'All' },
  ...STATUSES.map((value) => ({ value, label: STATUS_TEXTS[value].text })),
];

const ZONE = new Intl.DateTimeFormat('en-GB').resolvedOptions().timeZone;

interface ConversionFiltersProps {
  readonly filters: Filters;
  /** The first day is after the last one. */
  readonly isBackwards: boolean;
  /** @param replace the change goes on with the one before, so that "back" skips it */
  readonly onChange: (filters: Filters, replace?: boolean) => void;
}

export function ConversionFilters({ filters, isBackwards, onChange }: ConversionFiltersProps) {
  const { status = ALL, from, to, id } = filters;
  return (
    <div role="search" aria-label="Conversions" className={styles.filters}>
      <Select
        label="Status"
        choices={STATUS_CHOICES}
        value={status}
        onChange={(next) => onChange({ ...filters, status: next === ALL ? undefined : next })}
      />
      <DayField
        label="From day"
        day={from}
        hint={`Days in ${ZONE}.`}
        onChange={(day) => onChange({ ...filters, from: day })}
      />
      <DayField
        label="To day"
        day={to}
        error={isBackwards ? 'The last day is before the first.' : undefined}
        onChange={(day) => onChange({ ...filters, to: day })}
      />
      <IdField
        start={id}
        onChange={(start) =>
          onChange({ ...filters, id: start }, id !== undefined && start !== undefined)
        }
      />
    </div>
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

interface IdFieldProps {
  readonly start: string | undefined;
  readonly onChange: (start: string | undefined) => void;
}

function IdField({ start, onChange }: IdFieldProps) {
  const [text, setText] = useState(start ?? '');
  useEffect(() => setText((shown) => (idStart(shown) === start ? shown : (start ?? ''))), [start]);
  const change = (next: string) => {
    setText(next);
    const found = idStart(next);
    if (found !== start && (found !== undefined || next.trim() === '')) onChange(found);
  };
  const isShort = text.trim() !== '' && idStart(text) === undefined;
  return (
    <TextField
      label="Id"
      type="search"
      mono
      value={text}
      autoComplete="off"
      spellCheck="false"
      hint={isShort ? undefined : 'Its beginning or all of it.'}
      error={isShort ? `Enter at least the first ${MIN_ID_CHARACTERS} characters.` : undefined}
      onChange={change}
    />
  );
}
