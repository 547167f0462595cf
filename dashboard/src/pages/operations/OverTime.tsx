/** What the service did in the time that a person chooses: counted from the log, so also in the past. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Chart, Charts } from '../../ui/Chart.tsx';
import type { Series } from '../../ui/plot.ts';
import { Select } from '../../ui/choices.tsx';
import { formatDuration, formatNumber } from '../../ui/format.ts';
import { TextField } from '../../ui/forms.tsx';
import { Loaded, Section } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';
import { repeated } from './operator-api.ts';
import { SPANS, type Span, type SpanSearch } from './search.ts';

type Activity = components['schemas']['ServiceActivity'];

const MINUTE_MS = 60_000;
/** A longer time changes less in a minute. */
const AGAIN_SECONDS: Readonly<Record<Span, number>> = { hour: 15, day: 60, month: 300 };

/** The query of the API for a time; `to` is its end, or nothing for now. */
export function periodOf({ span = 'hour', until }: SpanSearch, now: number) {
  const to = until === undefined ? now : Date.parse(until);
  const from = new Date(to - SPANS[span].minutes * MINUTE_MS).toISOString();
  return { from, ...(until !== undefined && { to: until }) };
}

interface OverTimeProps {
  readonly search: SpanSearch;
  readonly onSearch: (search: SpanSearch) => void;
  readonly isPaused: boolean;
}

export function OverTime({ search, onSearch, isPaused }: OverTimeProps) {
  const { span = 'hour', until } = search;
  const activity = useQuery({
    queryKey: ['operator', 'activity', span, until],
    queryFn: ({ signal }) => {
      const query = periodOf(search, Date.now());
      return dataOf(api.GET('/api/v1/operator/activity/', { params: { query }, signal }));
    },
    ...repeated(isPaused || until !== undefined, AGAIN_SECONDS[span]),
    placeholderData: keepPreviousData,
  });
  const end = (local: string) => {
    const time = new Date(local);
    const isPast = !Number.isNaN(time.getTime()) && time.getTime() < Date.now();
    onSearch({ span, ...(isPast && { until: time.toISOString() }) });
  };
  return (
    <Section
      title={t('Over time')}
      lead={t('Counted from the log: the same on every node, and for any time in the past.')}
      actions={
        <div className="line">
          <Select
            label={t('Time')}
            choices={Object.entries(SPANS).map(([value, { label }]) => ({
              value: value as Span,
              label,
            }))}
            value={span}
            onChange={(value) => onSearch({ ...search, span: value })}
          />
          <TextField
            key={until}
            label={t('Up to (empty: now)')}
            type="datetime-local"
            defaultValue={until === undefined ? '' : localText(until)}
            onBlur={({ target }) => end(target.value)}
          />
        </div>
      }
    >
      <Loaded query={activity} what={t('the counts over time')} lines={8}>
        {(data) => <Steps {...data} />}
      </Loaded>
    </Section>
  );
}

/** The time as a field takes it: in the zone of the person. Swedes write 2026-11-24 08:15. */
const localText = (iso: string): string =>
  new Date(iso)
    .toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
    .replace(' ', 'T');

/** The lines of a chart, each by what it takes from an item. */
export const linesOf =
  <Item,>(items: readonly Item[]) =>
  (
    name: string,
    tone: Series['tone'],
    of: (item: Item) => number | null | undefined,
    isDashed = false,
  ): Series => ({ name, tone, isDashed, values: items.map((item) => of(item) ?? null) });

function Steps({ step_minutes: minutes, steps }: Activity) {
  const every = minutes === 1 ? t('minute') : formatDuration(minutes * MINUTE_MS);
  const times = steps.map(({ time }) => Date.parse(time) / 1000);
  const line = linesOf(steps);
  return (
    <Charts>
      <Chart
        times={times}
        title={t('Conversions in each {every}', { every })}
        format={formatNumber}
        series={[
          line(t('Accepted'), 'text-muted', (step) => step.accepted, true),
          line(t('Completed'), 'accent', (step) => step.completed),
          line(t('Failed'), 'danger', (step) => step.failed),
          line(t('Cancelled'), 'warning', (step) => step.cancelled, true),
        ]}
      />
      <Chart
        times={times}
        title={t('Waiting and being rendered, at the end of each {every}', { every })}
        format={formatNumber}
        series={[
          line(t('Waiting'), 'warning', (step) => step.waiting, true),
          line(t('Being rendered'), 'accent', (step) => step.rendering),
        ]}
      />
      <Chart
        times={times}
        title={t('Time from acceptance to completion')}
        format={formatDuration}
        series={[
          line(t('Median'), 'accent', (step) => step.completion_ms?.median),
          line(t('95 % within'), 'warning', (step) => step.completion_ms?.p95, true),
        ]}
      />
    </Charts>
  );
}
