import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import { Button } from '../../ui/Button.tsx';
import { FileDrop } from '../../ui/FileDrop.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { Notice, Section } from '../../ui/Page.tsx';
import { OrderedList } from '../../ui/OrderedList.tsx';
import { TextField } from '../../ui/forms.tsx';
import { AddConversion } from './AddConversion.tsx';
import { sourceOf, sourcesOf } from './draft.ts';
import styles from './documents.module.css';
import type { SourceDraft } from './work.ts';
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

interface SourceFactsProps {
  readonly source: SourceDraft;
  readonly onPassword: () => void;
}

function SourceFacts({ source, onPassword }: SourceFactsProps) {
  const { name, bytes, pages, conversion, password } = source;
  return (
    <div className={styles.named}>
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
