import type { ReactNode } from 'react';
import type { ShownPage } from '../api/paged.ts';
import { Button } from './Button.tsx';
import { formatNumber } from './format.ts';
import { Icon } from './icons.tsx';
import { Loaded } from './states.tsx';
import styles from './Table.module.css';
import { t } from '../words/words.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers end at the same edge. */
  readonly align?: 'start' | 'end';
  /** Names its row: one column has it. */
  readonly isRowHeader?: boolean;
  /** A text, which takes the whole width of a card. */
  readonly isText?: boolean;
  /** Buttons at the end of a row, whose header is for screen readers alone. */
  readonly isActions?: boolean;
}

interface TableProps<Row> {
  /** The name of the table, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Shows that other rows are on their way. */
  readonly isBusy?: boolean;
}

/**
 * A list of records; a phone shows each as a card. The roles are stated, for a table that is not laid out as
 * one loses them in some browsers.
 */
export function Table<Row>({ label, columns, rows, rowKey, isBusy = false }: TableProps<Row>) {
  return (
    <div className={styles.frame} aria-busy={isBusy}>
      <table role="table" aria-label={label} className={styles.table}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ header, align, isActions = false }) => (
              <th key={header} role="columnheader" scope="col" data-align={align}>
                {isActions ? <span className="visually-hidden">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map((column) => (
                <Cell key={column.header} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps<Row> {
  readonly column: Column<Row>;
  readonly row: Row;
}

function Cell<Row>({ column, row }: CellProps<Row>) {
  const { header, cell, align, isRowHeader = false, isText = false, isActions = false } = column;
  if (isRowHeader) {
    return (
      <th role="rowheader" scope="row" data-align={align} className={styles.rowHeader}>
        {cell(row)}
      </th>
    );
  }
  return (
    <td role="cell" data-align={align} data-actions={isActions} data-text={isText}>
      {!isActions && !isText && (
        <span className={styles.cardLabel} aria-hidden="true">
          {header}
        </span>
      )}
      {cell(row)}
    </td>
  );
}

interface RecordsProps<Row> extends Omit<TableProps<Row>, 'rows' | 'isBusy'> {
  readonly list: ShownPage<Row>;
  /** The name of the listed things, such as "conversions". */
  readonly of: string;
  readonly onPage: (page: number) => void;
  /** Stands for a page that has no rows. */
  readonly empty: ReactNode;
  /** Tells which rows of the page a person wants to see; usually all. */
  readonly shows?: (row: Row) => boolean;
}

/** A list that the service answers page by page. */
export function Records<Row>(props: RecordsProps<Row>) {
  const { list, of, onPage, empty, shows = () => true, ...table } = props;
  const { query, page, size } = list;
  return (
    <Loaded query={query} what={t('the {of}', { of })} lines={8}>
      {({ items, total }) => (
        <>
          {items.length === 0 ? (
            empty
          ) : (
            <Table {...table} rows={items.filter(shows)} isBusy={query.isPlaceholderData} />
          )}
          <Pagination of={of} page={page} size={size} total={total} onPage={onPage} />
        </>
      )}
    </Loaded>
  );
}

interface PaginationProps extends Pick<RecordsProps<unknown>, 'of' | 'onPage'> {
  readonly page: number;
  readonly size: number;
  readonly total: number;
}

/** Shown where a list has more than one page. */
function Pagination({ of, page, size, total, onPage }: PaginationProps) {
  const last = Math.max(1, Math.ceil(total / size));
  if (last === 1 && page === 1) return null;
  const first = (page - 1) * size + 1;
  const end = Math.min(page * size, total);
  return (
    <nav aria-label={t('Pages of {of}', { of })} className={styles.pagination}>
      <span className={styles.shown} aria-live="polite">
        {first > total
          ? t('None of {total} {of}', { total: formatNumber(total), of })
          : t('{first} to {end} of {total} {of}', {
              first: formatNumber(first),
              end: formatNumber(end),
              total: formatNumber(total),
              of,
            })}
      </span>
      {last > 2 && (
        <Button small look="quiet" isDisabled={page <= 1} onPress={() => onPage(1)}>
          {t('Newest')}
        </Button>
      )}
      <Button small icon="chevronLeft" isDisabled={page <= 1} onPress={() => onPage(page - 1)}>
        {t('Newer')}
      </Button>
      <Button small isDisabled={page >= last} onPress={() => onPage(page + 1)}>
        {t('Older')}
        <Icon name="chevronRight" size={16} />
      </Button>
      {last > 2 && (
        <Button small look="quiet" isDisabled={page >= last} onPress={() => onPage(last)}>
          {t('Oldest')}
        </Button>
      )}
    </nav>
  );
}
