import { Link } from '@tanstack/react-router';
import { type Conversion, pictureFormatOf } from '../../api/conversions.ts';
import { counted, formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { type Column, StatusBadge, TestBadge } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import styles from './conversions.module.css';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

/** Stands where a conversion has no number, or none yet. */
const NONE = <span className="muted">–</span>;

function shown(value: number | undefined, format: (value: number) => string) {
  return value === undefined ? NONE : format(value);
}

function Name(record: Conversion) {
  const { id, name = id, reference, error_message: reason, warnings } = record;
  const format = pictureFormatOf(record);
  return (
    <span className="named">
      <Link to="/conversions/$id" params={{ id }} className={`clamped ${styles.link}`}>
        <bdi>{name === id ? <code>{id}</code> : name}</bdi>
      </Link>
      {name !== id && <code className="note">{id}</code>}
      {format !== undefined && (
        <span className="clamped note">{rich('{format} picture', { format })}</span>
      )}
      {reference !== undefined && (
        <span className="clamped note">
          {rich('Reference {bdi}', { bdi: <bdi>{reference}</bdi> })}
        </span>
      )}
      {reason !== undefined && <span className="clamped note">{reason}</span>}
      {warnings !== undefined && (
        <span className="line gap-1 note" data-tone="warning">
          <Icon name="warning" size={14} />
          {counted(warnings.length, 'warning')}
        </span>
      )}
    </span>
  );
}

const COLUMNS: readonly Column<Conversion>[] = [
  { header: t('Conversion'), cell: Name, isRowHeader: true },
  {
    header: t('Status'),
    cell: ({ status, failure_code: code, test }) => (
      <>
        <StatusBadge status={status} failure={code} /> {test && <TestBadge />}
      </>
    ),
  },
  { header: t('Created'), cell: ({ created_at }) => <Time iso={created_at} look="short" /> },
  { header: t('Pages'), align: 'end', cell: ({ pages }) => shown(pages, formatNumber) },
  { header: t('Size'), align: 'end', cell: ({ bytes }) => shown(bytes, formatBytes) },
  {
    header: t('Total time'),
    align: 'end',
    cell: ({ duration_ms }) => shown(duration_ms, formatDuration),
  },
];

/** How a list of conversions is shown as a table. */
export const CONVERSIONS_TABLE = {
  label: t('Conversions'),
  columns: COLUMNS,
  rowKey: ({ id }: Conversion): string => id,
};
