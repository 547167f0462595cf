import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { ConversionEvent } from '../../api/conversions.ts';
import { type Paged, pageQuery } from '../../api/client.ts';
import { counted, formatNumber } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { type Column, RecordLink, Records, type RecordsProps } from '../../ui/records.tsx';
import { formatTime, Time } from '../../ui/time.tsx';
import { type EventGroup, groupsOf, leadOf, lookOf, subjectOf, wayOf } from './groups.ts';
import styles from './History.module.css';
import { actorText } from './words.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

/** Leads to what the group is about, if it has a page. */
function Subject({ entry }: { readonly entry: ConversionEvent }) {
  const id = subjectOf(entry);
  if (id === undefined) return entry.summary;
  return <RecordLink id={id} name={<bdi>{entry.name ?? id}</bdi>} />;
}

/** The line of a group, which opens to its events. */
function Group({ group }: { readonly group: EventGroup }) {
  const { entries } = group;
  const { shown } = leadOf(group);
  const { icon, tone } = lookOf(shown);
  const isAlone = entries.length === 1;
  const hasSubject = subjectOf(shown) !== undefined;
  return (
    <div className="beside top">
      <span className="disc" data-tone={tone}>
        <Icon name={icon} size={16} />
      </span>
      <div className={`named anywhere ${styles.event}`}>
        <Subject entry={shown} />
        {isAlone && hasSubject && <span>{shown.summary}</span>}
        {!isAlone && (
          <details>
            <summary>{hasSubject ? wayOf(group) : counted(entries.length, 'time')}</summary>
            <ol className={styles.steps}>
              {entries.toReversed().map(({ id, summary, time, position }) => (
                <li key={id} className="named">
                  {summary}
                  <span className="note">
                    {rich('{time} · event {position}', { time: formatTime(time), position })}
                  </span>
                </li>
              ))}
            </ol>
          </details>
        )}
      </div>
    </div>
  );
}

function Cause({ entry }: { readonly entry: ConversionEvent }) {
  const { actor, client_address: address, reason } = entry;
  return (
    <div className={`named anywhere ${styles.cause}`} data-name={t('Caused by')}>
      <span>{actorText(actor)}</span>
      {address !== undefined && <span className="note">{rich('from {address}', { address })}</span>}
      {reason !== undefined && (
        <span className="note">{rich('Reason: {bdi}', { bdi: <bdi>{reason}</bdi> })}</span>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<EventGroup>[] = [
  {
    header: t('Time'),
    cell: ({ entries: [{ time }] }) => <Time iso={time} look="short" />,
    isRowHeader: true,
  },
  { header: t('What happened'), cell: (group) => <Group group={group} />, isText: true },
  { header: t('Who'), cell: (group) => <Cause entry={leadOf(group).by} />, isText: true },
];

interface EventListProps extends Pick<RecordsProps<EventGroup>, 'label' | 'onPage' | 'empty'> {
  readonly list: Parameters<typeof pageQuery<ConversionEvent>>[0];
  /** With the steps of machines. */
  readonly showsAll?: boolean;
  /** Columns beside those of each list. */
  readonly more?: RecordsProps<EventGroup>['columns'];
}

/** A page of a list of events, in groups. It says how many are left out. */
export function EventList({ list, showsAll = false, more = [], ...records }: EventListProps) {
  const select = useCallback(
    ({ items, total }: Paged<ConversionEvent>) => ({ ...groupsOf(items, showsAll), total }),
    [showsAll],
  );
  const query = useQuery({ ...pageQuery(list), select });
  const { hidden = 0 } = query.data ?? {};
  return (
    <>
      {hidden > 0 && (
        <span className="note">
          {t('{hidden} automatic {value} left out on this page.', {
            hidden: formatNumber(hidden),
            value: hidden === 1 ? t('step') : t('steps'),
          })}
        </span>
      )}
      <Records
        {...records}
        list={{ page: list.page, size: list.size, query }}
        of={t('events')}
        columns={[...COLUMNS, ...more]}
        rowKey={({ key }) => key}
      />
    </>
  );
}
