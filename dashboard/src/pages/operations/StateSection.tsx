import { Facts } from '../../ui/Facts.tsx';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { Badge } from '../../ui/StatusBadge.tsx';
import type { ServiceStatus } from './operator-api.ts';

/** The service counts no further behind the end of the log. */
const MOST_EVENTS = 1000;

interface StateSectionProps {
  readonly status: ServiceStatus;
}

export const eventsText = (events: number): string =>
  events >= MOST_EVENTS ? `${formatNumber(MOST_EVENTS)} or more` : formatNumber(events);

const perMinute = (name: string, value: number): Figure => ({
  name,
  value: formatNumber(value),
  note: 'per minute',
});

function figuresOf({ queue, time, lag, recent }: ServiceStatus): readonly Figure[] {
  const { accepted, completed, failed, requeued } = recent.per_minute;
  const { oldest_at: oldest } = queue;
  return [
    {
      name: 'Waiting',
      value: formatNumber(queue.depth),
      note: oldest === null ? 'nothing waits' : `the oldest for ${ageOf(oldest, time)}`,
    },
    {
      name: 'Events not shown yet',
      value: eventsText(lag.events),
      note: lag.events === 0 ? 'the lists are up to date' : `${formatNumber(lag.seconds)} s behind`,
    },
    perMinute('Accepted', accepted),
    perMinute('Completed', completed),
    perMinute('Failed', failed),
    perMinute('Put back in the queue', requeued),
  ];
}

export const ageOf = (iso: string, now: string): string =>
  formatDuration(Math.max(0, Date.parse(now) - Date.parse(iso)));

function leadText({ led, leads }: ServiceStatus): string {
  if (leads) return 'This node feeds the renderers';
  if (led === null) return 'Not known: nobody can be asked';
  return led ? 'Another node feeds the renderers' : 'No node feeds the renderers';
}

export function StateSection({ status }: StateSectionProps) {
  const { ready, missing, version, uptime_seconds: uptime, memory } = status;
  return (
    <Section
      title="State"
      lead={`The rates are those of the last ${formatDuration(status.recent.window_seconds * 1000)}.`}
    >
      {/* Changes alone are read out: the text is the same as long as the state is. */}
      <div role="status" className="line">
        <Badge tone={ready ? 'ok' : 'danger'} icon={ready ? 'check' : 'warning'}>
          {ready ? 'Ready' : 'Not ready'}
        </Badge>
        {missing.length > 0 && (
          <ul>
            {missing.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        )}
      </div>
      <Figures figures={figuresOf(status)} />
      <Facts
        wide
        facts={[
          { name: 'Version', value: version },
          { name: 'Runs for', value: formatDuration(uptime * 1000) },
          { name: 'Memory', value: formatBytes(memory.rss_bytes) },
          { name: 'Leader', value: leadText(status) },
        ]}
      />
    </Section>
  );
}
