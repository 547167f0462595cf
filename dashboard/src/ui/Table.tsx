import type { ReactNode } from 'react';
import styles from './Table.module.css';

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
                {isActions ? <span className={styles.visuallyHidden}>{header}</span> : header}
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
