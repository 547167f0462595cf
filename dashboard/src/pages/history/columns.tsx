/** The columns of lists of events. */
import { Link } from '@tanstack/react-router';
import { useKeyName } from '../../api/account.ts';
import type { ConversionEvent } from '../../api/conversions.ts';
import type { Column } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import styles from './History.module.css';
import { actorText, typeText } from './words.ts';

/** Leads to what the event is about, if it has a page. */
function Subject({ entry: { data, name } }: { readonly entry: ConversionEvent }) {
  const { conversionId, batchId } = data;
  if (typeof conversionId === 'string') {
    return (
      <Link to="/conversions/$id" params={{ id: conversionId }} className={styles.link}>
        <bdi>{name ?? conversionId}</bdi>
      </Link>
    );
  }
  if (typeof batchId === 'string') {
    return (
      <Link to="/batches/$id" params={{ id: batchId }} search={{}} className={styles.link}>
        {batchId}
      </Link>
    );
  }
  return null;
}

function Event({ entry }: { readonly entry: ConversionEvent }) {
  return (
    <div className={styles.event}>
      <strong>{typeText(entry.type)}</strong>
      <span>{entry.summary}</span>
      <Subject entry={entry} />
    </div>
  );
}

function Cause({ entry }: { readonly entry: ConversionEvent }) {
  const { actor, client_address: address, reason } = entry;
  const name = useKeyName(actor.kind === 'key' ? actor.id : undefined);
  return (
    <div className={styles.cause}>
      <span>{actorText(actor, name)}</span>
      {address !== undefined && <span className={styles.address}>from {address}</span>}
      {reason !== undefined && (
        <span className={styles.address}>
          Reason: <bdi>{reason}</bdi>
        </span>
      )}
    </div>
  );
}

export const EVENT_COLUMNS: readonly Column<ConversionEvent>[] = [
  { header: 'Time', cell: ({ time }) => <Time iso={time} />, isRowHeader: true },
  { header: 'Event', cell: (entry) => <Event entry={entry} />, isText: true },
  { header: 'Caused by', cell: (entry) => <Cause entry={entry} />, isText: true },
];
