import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Conversion, conversionsQuery, nounOf } from '../../api/conversions.ts';
import { Button } from '../../ui/Button.tsx';
import { DialogButton } from '../../ui/Dialog.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { DialogActions } from '../../ui/forms.tsx';
import { EmptyState, Loaded } from '../../ui/Page.tsx';
import { Time } from '../../ui/records.tsx';
import { SearchField } from '../conversions/SearchField.tsx';
import styles from './documents.module.css';
import { rich, t } from '../../words/rich.ts';

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
      <div className={styles.named}>
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
