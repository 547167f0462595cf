/** What is shown of records: tables, facts, figures and states. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ShownPage } from '../api/client.ts';
import { Button } from './Button.tsx';
import { formatNumber } from './format.ts';
import { Icon, type IconName } from './icons.tsx';
import { EmptyState, Loaded } from './Page.tsx';
import styles from './records.module.css';
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
  /** Stands for a table without rows, of which else nothing is shown. */
  readonly empty?: ReactNode;
}

/**
 * A list of records; a phone shows each as a card. The roles are stated, for a table that is not laid out as
 * one loses them in some browsers.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowKey, isBusy = false, empty } = props;
  if (rows.length === 0) return empty;
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

type CellProps<Row> = { readonly column: Column<Row>; readonly row: Row };

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

export interface RecordsProps<Row> extends Omit<TableProps<Row>, 'rows' | 'isBusy'> {
  readonly list: ShownPage<Row>;
  /** The name of the listed things, such as "conversions". */
  readonly of: string;
  readonly onPage: (page: number) => void;
  /** The numbers of rows that a page may have, and what happens when one is chosen. */
  readonly sizes?: { readonly of: readonly number[]; readonly onSize: (size: number) => void };
  /** Tells which rows of the page a person wants to see; usually all. */
  readonly shows?: (row: Row) => boolean;
}

/** A list that the service answers page by page. */
export function Records<Row>(props: RecordsProps<Row>) {
  const { list, of, onPage, sizes, shows = () => true, ...table } = props;
  const { query, page, size } = list;
  return (
    <Loaded query={query} what={t('the {of}', { of })} lines={8}>
      {({ items, total }) => (
        <>
          {items.length === 0 && page > 1 ? (
            <EmptyState
              icon="search"
              title={t('This page has no {of}', { of })}
              action={<Button onPress={() => onPage(1)}>{t('Show the first page')}</Button>}
            >
              {t('The list has fewer pages than the address of this page says.')}
            </EmptyState>
          ) : (
            <Table {...table} rows={items.filter(shows)} isBusy={query.isPlaceholderData} />
          )}
          <Pagination {...{ of, page, size, total, onPage }} {...(sizes && { sizes })} />
        </>
      )}
    </Loaded>
  );
}

interface PaginationProps extends Pick<RecordsProps<unknown>, 'of' | 'onPage' | 'sizes'> {
  readonly page: number;
  readonly size: number;
  readonly total: number;
}

/** Shown where a list has more than one page, or would have with fewer rows on each. */
function Pagination({ of, page, size, total, onPage, sizes }: PaginationProps) {
  const last = Math.max(1, Math.ceil(total / size));
  if (total <= Math.min(size, ...(sizes?.of ?? [])) && page === 1) return null;
  const first = (page - 1) * size + 1;
  const end = Math.min(page * size, total);
  return (
    <nav aria-label={t('Pages of {of}', { of })} className="line gap-2">
      <span className={`${styles.shown} note`} aria-live="polite">
        {first > total
          ? t('None of {total} {of}', { total: formatNumber(total), of })
          : t('{first} to {end} of {total} {of}', {
              first: formatNumber(first),
              end: formatNumber(end),
              total: formatNumber(total),
              of,
            })}
      </span>
      {sizes?.of.map((each) => (
        <Button
          key={each}
          small
          look={each === size ? 'secondary' : 'quiet'}
          aria-pressed={each === size}
          onPress={() => sizes.onSize(each)}
        >
          {t('{each} a page', { each })}
        </Button>
      ))}
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

interface FactsProps {
  /** Values by their names. One that is undefined is left out. */
  readonly facts: Readonly<Record<string, ReactNode>>;
  /** A long list of short values: it takes two columns if there is room. */
  readonly wide?: boolean;
}

/** Names and their values, as a list. */
export function Facts({ facts, wide = false }: FactsProps) {
  return (
    <dl className={styles.facts} data-wide={wide}>
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface RecordLinkProps {
  readonly id: string;
  /** Stands for the id. */
  readonly name?: ReactNode;
}

/** Leads to a conversion or a batch. */
export function RecordLink({ id, name = <code>{id}</code> }: RecordLinkProps) {
  return id.startsWith('batch_') ? (
    <Link to="/batches/$id" params={{ id }} search={{}}>
      {name}
    </Link>
  ) : (
    <Link to="/conversions/$id" params={{ id }}>
      {name}
    </Link>
  );
}

interface TagsProps {
  readonly tags: Readonly<Record<string, string>>;
  /** Makes of a tag's value what leads to all that have the tag, which is its name and value with a colon between. */
  readonly link?: (tag: string, text: ReactNode) => ReactNode;
}

/** The tags that a client gave, as it wrote them. */
export function Tags({ tags, link = (_, text) => text }: TagsProps) {
  return (
    <ul>
      {Object.entries(tags).map(([name, value]) => (
        <li key={name}>
          <span className="muted">{name}:</span> {link(`${name}:${value}`, <bdi>{value}</bdi>)}
        </li>
      ))}
    </ul>
  );
}

export interface Figure {
  readonly name: string;
  readonly value: string;
  /** A note to the value, such as the time in which it was counted. */
  readonly note?: string;
}

/** The numbers that a person looks for first. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl className={styles.figures}>
      {figures.map(({ name, value, note }) => (
        <div key={name} className="box">
          <dt className="note">{name}</dt>
          <dd className={styles.value}>{value}</dd>
          {note !== undefined && <dd className={`${styles.note} note`}>{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

type Tone = 'neutral' | 'accent' | 'ok' | 'warning' | 'danger';

type BadgeProps = { readonly tone: Tone; readonly icon: IconName; readonly text: string };

/** A state in one or two words, never by its colour alone. */
export function Badge({ tone, icon, text }: BadgeProps) {
  return (
    <span className={styles.badge} data-tone={tone}>
      <Icon name={icon} size={14} />
      {text}
    </span>
  );
}

/** What a test key made. */
export const TestBadge = () => <Badge tone="warning" icon="info" text={t('Test')} />;

export const STATUS_TEXTS = {
  pending: { tone: 'neutral', icon: 'clock', text: t('Pending') },
  processing: { tone: 'accent', icon: 'progress', text: t('Processing') },
  completed: { tone: 'ok', icon: 'check', text: t('Completed') },
  failed: { tone: 'danger', icon: 'cross', text: t('Failed') },
} as const;

/** It has failed for programs. For people it is as it should be. */
const CANCELLED = { tone: 'neutral', icon: 'cross', text: t('Cancelled') } as const;

interface StatusBadgeProps {
  readonly status: keyof typeof STATUS_TEXTS;
  /** The code of the failure, if it has failed. */
  readonly failure?: string | undefined;
}

/** The status of a conversion. */
export function StatusBadge({ status, failure }: StatusBadgeProps) {
  return <Badge {...(failure === 'cancelled' ? CANCELLED : STATUS_TEXTS[status])} />;
}
