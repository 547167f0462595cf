import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { batchZip } from '../../api/batches.ts';
import { pageQuery } from '../../api/client.ts';
import { type Conversion, conversionsPage, isEnded } from '../../api/conversions.ts';
import { SaveButton } from '../../ui/Dialog.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { Loaded } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { type Column, RecordLink, StatusBadge, Table } from '../../ui/records.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

/** How often parts that have not ended are asked for, beside the live stream. */
const POLL_MS = 2000;
/** The most that the service makes of one request, and lists on one page. */
const MOST_PARTS = 100;

const COLUMNS: readonly Column<Conversion>[] = [
  {
    header: t('Part'),
    isRowHeader: true,
    cell: ({ id, name = id, error_message: reason }) => (
      <>
        <RecordLink id={id} name={<bdi>{name}</bdi>} />
        {reason !== undefined && (
          <p className="wrong">{rich('{reason} The credit was given back.', { reason })}</p>
        )}
      </>
    ),
  },
  {
    header: t('Size'),
    cell: ({ pages, bytes }) =>
      pages !== undefined &&
      bytes !== undefined &&
      `${counted(pages, 'page')}, ${formatBytes(bytes)}`,
  },
  {
    header: t('Status'),
    cell: ({ status, failure_code: failure }) => <StatusBadge status={status} failure={failure} />,
  },
];

interface PartsProps {
  /** The batch of the parts. */
  readonly batch: string;
  /** The ids of the conversions, in the order of the parts. */
  readonly conversions: readonly string[];
}

/** The parts that a split makes, each with its state. */
export function Parts({ batch, conversions }: PartsProps) {
  const query = useQuery(
    pageQuery({
      ...conversionsPage({ batch }, { size: MOST_PARTS }),
      again: (items) => !items.every(isEnded) && POLL_MS,
    }),
  );
  return (
    <Loaded query={query} what={t('the parts')} lines={4}>
      {({ items }) => {
        const [all, length] = [conversions.length, items.filter(isEnded).length];
        const completed = items.filter(({ status }) => status === 'completed');
        const ready = counted(completed.length, 'part');
        return (
          <div className="stack">
            <ProgressBar
              label={t('Parts')}
              value={length}
              max={all}
              text={t('{length} of {length2} have ended', { length, length2: all })}
            />
            <div role="status" className="visually-hidden">
              {length === all &&
                t('{length} of {length2} are ready.', { length: ready, length2: all })}
            </div>
            <Table
              label={t('Parts')}
              columns={COLUMNS}
              rows={conversions.flatMap((id) => items.find((item) => item.id === id) ?? [])}
              rowKey={({ id }) => id}
            />
            <div className="line">
              {length === all && completed.length > 0 && (
                <SaveButton
                  small
                  icon="download"
                  what={t('ZIP file')}
                  load={() => batchZip(batch, false)}
                >
                  {rich('Download {length} as ZIP', { length: counted(completed.length, 'PDF') })}
                </SaveButton>
              )}
              <Link to="/batches/$id" params={{ id: batch }}>
                {t('Open the batch')}
              </Link>
            </div>
          </div>
        );
      }}
    </Loaded>
  );
}
