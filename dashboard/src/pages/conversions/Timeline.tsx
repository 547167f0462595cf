import { useQuery } from '@tanstack/react-query';
import { type ConversionEvent, conversionEventsQuery } from '../../api/conversions.ts';
import { type Delivery, webhooksQuery } from '../../api/webhooks.ts';
import { counted, formatDuration } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Loaded } from '../../ui/Page.tsx';
import { formatTime } from '../../ui/time.tsx';
import { isOfMachines, lookOf } from '../history/groups.ts';
import { actorText } from '../history/words.ts';
import { outcomeText } from '../webhooks/words.tsx';
import styles from './conversion.module.css';
import { failureTitle } from './words.ts';
import { t } from '../../words/words.ts';

/** An event, or downloads of one person that follow each other. */
interface Moment {
  readonly events: readonly [ConversionEvent, ...ConversionEvent[]];
  /** Milliseconds since the moment before. */
  readonly since: number | undefined;
}

const isLike = (one: ConversionEvent, other: ConversionEvent): boolean =>
  one.type === other.type && one.actor.kind === other.actor.kind && one.actor.id === other.actor.id;

function momentsOf(events: readonly ConversionEvent[]): readonly Moment[] {
  const moments: Moment[] = [];
  for (const event of events) {
    const last = moments.at(-1);
    const before = last?.events.at(-1);
    if (last && before?.type === 'DocumentDownloaded' && isLike(event, before)) {
      moments[moments.length - 1] = { ...last, events: [...last.events, event] };
      continue;
    }
    const since =
      before === undefined ? undefined : Date.parse(event.time) - Date.parse(before.time);
    moments.push({ events: [event], since });
  }
  return moments;
}

interface Tried {
  readonly outcome: 'delivered' | 'retry' | 'failed';
  readonly status?: number;
  readonly failure?: NonNullable<Delivery['last_failure']>;
}

type Words = (event: ConversionEvent, receiver: string) => string;

/** What happened, as of a letter. `receiver`: whom a delivery is for. */
const WAY: Partial<Record<ConversionEvent['type'], Words>> = {
  ConversionRequested: () => t('Sent'),
  ConversionCompleted: ({ summary }) => summary.replace('The file was stored', t('Made')),
  ConversionFailed: ({ data }) => failureTitle(String(data['code'])),
  CreditRefunded: () => t('The credit came back'),
  DocumentDownloaded: ({ data }) =>
    data['link'] === undefined ? t('Downloaded') : t('Downloaded by a link'),
  LinkCreated: () => t('Shared by a link'),
  LinkRevoked: () => t('A link was revoked'),
  ConversionExpired: () => t('What was stored of it is deleted'),
  DeliveryAttempted: ({ data }, receiver) => {
    const { outcome, status, failure } = data as unknown as Tried;
    if (outcome === 'delivered') return t('Delivered to {receiver}', { receiver });
    const next = outcome === 'retry' ? t('it is tried again') : t('there is no other try');
    const why = outcomeText(status, failure) ?? t('no answer');
    return t('Not delivered to {receiver}: {why}; {next}', { receiver, why, next });
  },
};

/** The endpoint of a delivery as its account calls it. */
function useReceiver({ type, data }: ConversionEvent): string {
  const id = data['webhookId'];
  const isKnown = type === 'DeliveryAttempted' && typeof id === 'string';
  const endpoints = useQuery({ ...webhooksQuery, enabled: isKnown }).data ?? [];
  const endpoint = endpoints.find((each) => each.id === id);
  if (endpoint !== undefined) return endpoint.description || new URL(endpoint.url).host;
  return isKnown ? t('a webhook') : t('the webhook of the request');
}

interface MomentItemProps extends Moment {
  readonly isDetailed: boolean;
}

function MomentItem({ events, since, isDetailed }: MomentItemProps) {
  const [first] = events;
  const { type, time, summary, actor } = first;
  const last = events.at(-1) ?? first;
  const receiver = useReceiver(first);
  const way = WAY[type]?.(first, receiver) ?? summary;
  const { icon, tone } = lookOf(first);
  // Whoever acted is named; which of the machines did, only to those who ask for it.
  const isOfPerson = actor.kind !== 'renderer' && actor.kind !== 'service';
  return (
    <li className={`beside top ${styles.moment}`} data-tone={tone}>
      <span className="disc">
        <Icon name={icon} size={14} />
      </span>
      <div className="anywhere">
        <p>
          {isDetailed ? summary : way}
          {events.length > 1 &&
            t(' {length}, last on {time}', {
              length: counted(events.length, 'time'),
              time: formatTime(last.time),
            })}
        </p>
        <p className="note">
          <time dateTime={time}>{formatTime(time)}</time>
          {isDetailed && ` · ${type}`}
          {(isDetailed || isOfPerson) && ` · ${actorText(actor)}`}
        </p>
      </div>
      {isDetailed && since !== undefined && since >= 0 && (
        <span className={`last note ${styles.since}`}>
          <span className="visually-hidden">{t('After')}</span>+{formatDuration(since)}
        </span>
      )}
    </li>
  );
}

interface TimelineProps {
  readonly id: string;
  /** With all that machines did, in the words of the log. */
  readonly isDetailed: boolean;
}

/** The way of a conversion, from its request on. */
export function Timeline({ id, isDetailed }: TimelineProps) {
  return (
    <Loaded query={useQuery(conversionEventsQuery(id))} what={t('the timeline')} lines={6}>
      {(events) => (
        <ol>
          {momentsOf(events.filter((each) => isDetailed || !isOfMachines(each))).map((moment) => (
            <MomentItem key={moment.events[0].id} {...moment} isDetailed={isDetailed} />
          ))}
        </ol>
      )}
    </Loaded>
  );
}
