import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { eventTypesQuery } from '../../request/fields-query.ts';
import { membersQuery } from '../../api/people.ts';
import { Button } from '../../ui/Button.tsx';
import { type Choice, Select } from '../../ui/Select.tsx';
import { TextField } from '../../ui/forms.tsx';
import styles from './History.module.css';
import type { HistorySearch } from './search.ts';
import { ACTOR_KINDS, typesOfAccount, typeText } from './words.ts';
import { t } from '../../words/words.ts';

/** Stands for no filter. */
const ALL = '';

const ACTORS: readonly Choice<string>[] = [
  { value: ALL, label: t('Everybody') },
  ...Object.entries(ACTOR_KINDS).map(([value, label]) => ({ value, label })),
];

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
  const [kind = ALL] = (search.actor ?? ALL).split(':');
  return (
    <form
      className={styles.filters}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        apply({});
      }}
    >
      <Select
        label={t('Event')}
        choices={[
          { value: ALL, label: t('All events') },
          ...typesOfAccount(types).map((type) => ({ value: type, label: typeText(type) })),
        ]}
        value={search.type ?? ALL}
        error={errors['type']?.join(' ')}
        onChange={(type) => apply({ type })}
      />
      <Select
        label={t('Caused by')}
        choices={ACTORS}
        value={kind}
        error={errors['actor']?.join(' ')}
        onChange={(actor) => apply({ actor })}
      />
      {people.length > 1 && (
        <Select
          label={t('Person')}
          choices={[{ value: ALL, label: t('All people') }, ...people]}
          value={search.person ?? ALL}
          error={errors['person']?.join(' ')}
          onChange={(person) => apply({ person })}
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
