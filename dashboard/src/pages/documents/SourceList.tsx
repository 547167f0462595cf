import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import { Button } from '../../ui/Button.tsx';
import { FileDrop } from '../../ui/FileDrop.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { EmptyState, Loaded, Notice, Section } from '../../ui/Page.tsx';
import { OrderedList } from '../../ui/OrderedList.tsx';
import { DialogActions, TextField } from '../../ui/forms.tsx';
import { sourceOf, sourcesOf } from './draft.ts';
import styles from './documents.module.css';
import type { SourceDraft } from './work.ts';
import { useQuery } from '@tanstack/react-query';
import { type Conversion, conversionsQuery, nounOf } from '../../api/conversions.ts';
import { DialogButton } from '../../ui/Dialog.tsx';
import { Time } from '../../ui/records.tsx';
import { SearchField } from '../conversions/SearchField.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

interface SourceListProps {
  readonly sources: readonly SourceDraft[];
  readonly most: number;
  readonly onAdd: (added: readonly SourceDraft[]) => void;
  readonly onChange: (sources: readonly SourceDraft[]) => void;
  /** The order or the number of them has changed, not only a password. */
  readonly onOrder: (sources: readonly SourceDraft[]) => void;
  readonly errors: FieldErrors;
}

/** The PDFs that are worked on, in the order in which they are joined. */
export function SourceList(props: SourceListProps) {
  const { sources, most, onAdd, onChange, onOrder, errors } = props;
  const [problems, setProblems] = useState<readonly string[]>([]);
  const add = (added: readonly SourceDraft[], others: readonly string[]) => {
    const room = most - sources.length;
    const tooMany = t('There are at most {most} PDFs. The others were not added.', { most });
    setProblems(added.length > room ? [...others, tooMany] : others);
    onAdd(added.slice(0, room));
  };
  const addFiles = async (files: readonly File[]) => {
    const read = await sourcesOf(files);
    add(read.sources, read.problems);
  };
  const bytes = sources.reduce((sum, source) => sum + (source.bytes ?? 0), 0);
  return (
    <Section
      title="PDFs"
      lead={
        sources.length < 2
          ? t('Several PDFs are joined in their order.')
          : t('{length}, {bytes}. They are joined in this order.', {
              length: counted(sources.length, 'PDF'),
              bytes: formatBytes(bytes),
            })
      }
    >
      <FileDrop
        title={t('Drop PDFs here')}
        what="PDFs"
        several
        accept={['application/pdf', '.pdf']}
        onFiles={(files) => void addFiles(files)}
        onProblem={(text) => setProblems([text])}
      >
        <AddConversion
          count={sources.length}
          isDisabled={sources.length >= most}
          onAdd={(conversion) => add([sourceOf(conversion)], [])}
        />
      </FileDrop>
      {problems.length > 0 && (
        <Notice kind="danger">
          {problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </Notice>
      )}
      <OrderedList
        label={t('PDFs in their order')}
        items={sources}
        nameOf={({ name }) => name}
        onChange={onOrder}
        head={(source) => (
          <SourceFacts
            source={source}
            onPassword={() =>
              onChange(sources.map((each) => (each === source ? { ...each, password: '' } : each)))
            }
          />
        )}
      >
        {(source, at) => (
          <SourceNotes
            source={source}
            error={errorWithin(errors, `sources.${at}`)}
            onChange={(next) => onChange(sources.with(at, next))}
          />
        )}
      </OrderedList>
    </Section>
  );
}

type SourceFactsProps = { readonly source: SourceDraft; readonly onPassword: () => void };

function SourceFacts({ source, onPassword }: SourceFactsProps) {
  const { name, bytes, pages, conversion, password } = source;
  return (
    <div className="named">
      {conversion === undefined ? (
        <bdi className={styles.name}>{name}</bdi>
      ) : (
        <Link to="/conversions/$id" params={{ id: conversion }} className={styles.name}>
          <bdi>{name}</bdi>
        </Link>
      )}
      <div className="line note">
        {pages !== undefined && <span>{counted(pages, 'page')}</span>}
        {bytes !== undefined && <span>{formatBytes(bytes)}</span>}
        {conversion !== undefined && <span>{t('made here')}</span>}
        {password === undefined && (
          <Button
            small
            look="quiet"
            icon="key"
            aria-label={t('Password of {name}', { name })}
            onPress={onPassword}
          >
            {t('Password')}
          </Button>
        )}
      </div>
    </div>
  );
}

interface SourceNotesProps {
  readonly source: SourceDraft;
  readonly error: string | undefined;
  readonly onChange: (source: SourceDraft) => void;
}

function SourceNotes({ source, error, onChange }: SourceNotesProps) {
  const { name, password } = source;
  return (
    <>
      {error !== undefined && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
      {password !== undefined && (
        <TextField
          label={t('Password that opens {name}', { name })}
          type="password"
          autoComplete="off"
          value={password}
          autoFocus
          onChange={(next) => onChange({ ...source, password: next })}
        />
      )}
    </>
  );
}

/** Those that are shown of what a search finds. */
const MOST_SHOWN = 8;

interface AddConversionProps {
  /** How many PDFs there are. */
  readonly count: number;
  readonly isDisabled: boolean;
  readonly onAdd: (conversion: Conversion) => void;
}

/** Finds PDFs that were made here, by the search of the conversions. */
export function AddConversion({ count, isDisabled, onAdd }: AddConversionProps) {
  return (
    <DialogButton
      icon="search"
      text={t('Add one made here')}
      title={t('Add a PDF that was made here')}
      isDisabled={isDisabled}
    >
      {(close) => (
        <>
          <Found onAdd={onAdd} />
          <DialogActions>
            <span role="status" className="note">
              {rich('{count} so far.', { count: counted(count, 'PDF') })}
            </span>
            <Button look="primary" onPress={close}>
              {t('Done')}
            </Button>
          </DialogActions>
        </>
      )}
    </DialogButton>
  );
}

function Found({ onAdd }: Pick<AddConversionProps, 'onAdd'>) {
  const [query, setQuery] = useState<string>();
  const filter = { status: 'completed', ...(query !== undefined && { q: query }) } as const;
  const list = useQuery(conversionsQuery(filter, { size: MOST_SHOWN }));
  return (
    <>
      <SearchField query={query} onChange={setQuery} />
      <Loaded query={list} what={t('the conversions')} lines={6}>
        {({ items, total }) => {
          const pdfs = items.filter((item) => nounOf(item) === 'PDF');
          return (
            <div aria-busy={list.isPlaceholderData} className="stack">
              {pdfs.length === 0 ? (
                <EmptyState icon="search" title={t('No PDF is found')}>
                  {query === undefined
                    ? t('Completed conversions appear here.')
                    : t('No completed conversion has these words.')}
                </EmptyState>
              ) : (
                <ul aria-label={t('PDFs that were made here')} className={styles.found}>
                  {pdfs.map((item) => (
                    <FoundItem key={item.id} item={item} onAdd={onAdd} />
                  ))}
                </ul>
              )}
              {total > items.length && (
                <p className="note">
                  {rich('The newest {length} of {total}. Search for others.', {
                    length: items.length,
                    total: counted(total, 'conversion'),
                  })}
                </p>
              )}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

interface FoundItemProps extends Pick<AddConversionProps, 'onAdd'> {
  readonly item: Conversion;
}

function FoundItem({ item, onAdd }: FoundItemProps) {
  const { id, name = id, pages, bytes, created_at: created } = item;
  return (
    <li className={styles.foundItem}>
      <div className="named">
        <bdi className={styles.name}>{name}</bdi>
        <span className="line note">
          {pages !== undefined && <span>{counted(pages, 'page')}</span>}
          {bytes !== undefined && <span>{formatBytes(bytes)}</span>}
          <Time iso={created} look="short" />
        </span>
      </div>
      <Button small icon="plus" aria-label={t('Add {name}', { name })} onPress={() => onAdd(item)}>
        {t('Add')}
      </Button>
    </li>
  );
}
