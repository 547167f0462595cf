import { useState } from 'react';
import { type Conversion, conversionsPage, nounOf } from '../../api/conversions.ts';
import { usePage } from '../../api/client.ts';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import { Button } from '../../ui/Button.tsx';
import { DialogButton } from '../../ui/Dialog.tsx';
import { FileDrop } from '../../ui/FileDrop.tsx';
import { DialogActions, TextField } from '../../ui/forms.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { OrderedList } from '../../ui/OrderedList.tsx';
import { EmptyState, Notice, Section } from '../../ui/Page.tsx';
import { type Column, RecordLink, Records } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { SearchField } from '../conversions/SearchField.tsx';
import { type Source, sourceOf, sourcesOf } from './work.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

interface SourceListProps {
  readonly sources: readonly Source[];
  readonly most: number;
  readonly onAdd: (added: readonly Source[]) => void;
  readonly onChange: (sources: readonly Source[]) => void;
  readonly errors: FieldErrors;
}

/** The PDFs that are worked on, in the order in which they are joined. */
export function SourceList({ sources, most, onAdd, onChange, errors }: SourceListProps) {
  const [problems, setProblems] = useState<readonly string[]>([]);
  const add = (added: readonly Source[], others: readonly string[]) => {
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
        onChange={onChange}
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
            onChange={(password) => onChange(sources.with(at, { ...source, password }))}
          />
        )}
      </OrderedList>
    </Section>
  );
}

type SourceFactsProps = { readonly source: Source; readonly onPassword: () => void };

function SourceFacts({ source, onPassword }: SourceFactsProps) {
  const { name, bytes, pages, conversion, password } = source;
  const shown = <bdi>{name}</bdi>;
  return (
    <div className="named">
      {conversion === undefined ? shown : <RecordLink id={conversion} name={shown} />}
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
  readonly source: Source;
  readonly error: string | undefined;
  readonly onChange: (password: string) => void;
}

function SourceNotes({ source: { name, password }, error, onChange }: SourceNotesProps) {
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
          onChange={onChange}
        />
      )}
    </>
  );
}

interface AddConversionProps {
  /** How many PDFs there are. */
  readonly count: number;
  readonly isDisabled: boolean;
  readonly onAdd: (conversion: Conversion) => void;
}

/** Finds PDFs that were made here, by the search of the conversions. */
function AddConversion({ count, isDisabled, onAdd }: AddConversionProps) {
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

/** Those that are shown at once of what a search finds. */
const MOST_SHOWN = 8;

function Found({ onAdd }: Pick<AddConversionProps, 'onAdd'>) {
  const [{ query, page }, find] = useState<{ readonly query?: string; readonly page: number }>({
    page: 1,
  });
  const filter = { status: 'completed', ...(query !== undefined && { q: query }) } as const;
  const list = usePage(conversionsPage(filter, { page, size: MOST_SHOWN }));
  const columns: readonly Column<Conversion>[] = [
    { header: t('Name'), isRowHeader: true, cell: ({ id, name = id }) => <bdi>{name}</bdi> },
    { header: t('Pages'), align: 'end', cell: ({ pages }) => pages },
    {
      header: t('Size'),
      align: 'end',
      cell: ({ bytes }) => bytes !== undefined && formatBytes(bytes),
    },
    { header: t('Created'), cell: ({ created_at: at }) => <Time iso={at} look="short" /> },
    {
      header: t('Actions'),
      isActions: true,
      cell: (item) => (
        <Button
          small
          icon="plus"
          aria-label={t('Add {name}', { name: item.name ?? item.id })}
          onPress={() => onAdd(item)}
        >
          {t('Add')}
        </Button>
      ),
    },
  ];
  return (
    <>
      <SearchField
        query={query}
        onChange={(next) => find({ page: 1, ...(next !== undefined && { query: next }) })}
      />
      <Records
        list={list}
        of={t('conversions')}
        label={t('PDFs that were made here')}
        columns={columns}
        rowKey={({ id }) => id}
        shows={(item) => nounOf(item) === 'PDF'}
        onPage={(next) => find((now) => ({ ...now, page: next }))}
        empty={
          <EmptyState icon="search" title={t('No PDF is found')}>
            {list.query.data?.items.length
              ? t('The conversions of this page made pictures.')
              : query === undefined
                ? t('Completed conversions appear here.')
                : t('No completed conversion has these words.')}
          </EmptyState>
        }
      />
    </>
  );
}
