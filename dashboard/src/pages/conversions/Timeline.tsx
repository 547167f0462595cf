import { useQuery } from '@tanstack/react-query';
import { useKeyName } from '../../api/account.ts';
import { type ConversionEvent, conversionEventsQuery } from '../../api/conversions.ts';
import { formatDuration } from '../../ui/format.ts';
import { Loaded } from '../../ui/states.tsx';
import { formatTime } from '../../ui/Time.tsx';
import { memberText } from '../history/words.ts';
import styles from './conversion.module.css';

/** An event, or downloads that follow each other. */
interface Moment {
  readonly events: readonly [ConversionEvent, ...ConversionEvent[]];
  /** Milliseconds since the moment before. */
  readonly since: number | undefined;
}

function momentsOf(events: readonly ConversionEvent[]): readonly Moment[] {
  const moments: Moment[] = [];
  for (const event of events) {
    const last = moments.at(-1);
    const before = last?.events.at(-1);
    if (last && before?.type === 'DocumentDownloaded' && event.type === before.type) {
      moments[moments.length - 1] = { ...last, events: [...last.events, event] };
      continue;
    }
    const since =
      before === undefined ? undefined : Date.parse(event.time) - Date.parse(before.time);
    moments.push({ events: [event], since });
  }
  return moments;
}

const ACTORS: Readonly<Record<ConversionEvent['actor']['kind'], string>> = {
  key: 'the key',
  session: 'the session',
  account: 'the account',
  renderer: 'a renderer',
  operator: 'the operator',
  service: 'the service',
  anonymous: 'a client without credentials',
};

/** The summary has the renderer's name already. Who acted by a session says more than its id. */
function ActorName({ actor }: Pick<ConversionEvent, 'actor'>) {
  const { kind, id } = actor;
  const name = useKeyName(kind === 'key' ? id : undefined) ?? id;
  const member = memberText(actor);
  if (member !== undefined && kind !== 'key') return member;
  if (name === undefined || kind === 'renderer') return ACTORS[kind];
  return `${ACTORS[kind]} ${name}${member === undefined ? '' : ` of ${member}`}`;
}

const TONES: Readonly<Record<string, string>> = {
  ConversionCompleted: 'ok',
  ConversionFailed: 'danger',
  ConversionRequeued: 'warning',
  ConversionOutcomeIgnored: 'warning',
  ConversionDeleted: 'warning',
  ConversionExpired: 'warning',
};

function MomentItem({ events, since }: Moment) {
  const [first] = events;
  const last = events.at(-1) ?? first;
  return (
    <li className={styles.moment} data-tone={TONES[first.type]}>
      {since !== undefined && since >= 0 && (
        <span className={styles.since}>
          <span className="visually-hidden">After </span>+{formatDuration(since)}
        </span>
      )}
      <p>
        {events.length === 1
          ? first.summary
          : `The PDF was downloaded ${events.length} times, last on ${formatTime(last.time)}.`}
      </p>
      <p className="note">
        <time dateTime={first.time}>{formatTime(first.time)}</time> · {first.type} by{' '}
        <ActorName actor={first.actor} />
      </p>
    </li>
  );
}

/** All events of a conversion, with the time from each to the next. */
export function Timeline({ id }: { readonly id: string }) {
  return (
    <Loaded query={useQuery(conversionEventsQuery(id))} what="the timeline" lines={6}>
      {(events) => (
        <ol>
          {momentsOf(events).map((moment) => (
            <MomentItem key={moment.events[0].id} {...moment} />
          ))}
        </ol>
      )}
    </Loaded>
  );
}
