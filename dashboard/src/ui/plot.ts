/** Draws the canvas of a chart by uPlot. It is loaded when the first chart is shown. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { LOCALE } from '../words/words.ts';

const HEIGHT = 168;
const DAY_SECONDS = 86_400;
/** Tells lines apart without their colours. */
const DASH = [7, 4];

const MINUTE = { hour: '2-digit', minute: '2-digit' } as const;
const CLOCK = new Intl.DateTimeFormat(LOCALE, MINUTE);
const SECONDS = new Intl.DateTimeFormat(LOCALE, { ...MINUTE, second: '2-digit' });
const DATE = { day: 'numeric', month: 'short' } as const;
const DAY = new Intl.DateTimeFormat(LOCALE, DATE);
const UTC_DAY = new Intl.DateTimeFormat(LOCALE, { ...DATE, timeZone: 'UTC' });

/** Counts have no halves. */
const COUNTS = Array.from(
  { length: 27 },
  (_, at) => ([1, 2, 5][at % 3] ?? 1) * 10 ** Math.floor(at / 3),
);

const ends = (times: readonly number[]) => [times[0] ?? 0, times.at(-1) ?? 0] as const;

export interface Series {
  readonly name: string;
  /** One for each time; null: there is none. */
  readonly values: readonly (number | null)[];
  readonly tone: 'accent' | 'danger' | 'warning' | 'text-muted';
  readonly isDashed?: boolean;
}

export interface Plotted {
  /** Seconds since the Unix epoch, oldest first. */
  readonly times: readonly number[];
  /** Their number never changes. */
  readonly series: readonly Series[];
  /** `bars`: a bar for each day in UTC, made of the series from below. */
  readonly look?: 'lines' | 'bars';
  readonly format: (value: number) => string;
  /** The least height of the scale, and the distances of its lines; usually those of counts. */
  readonly least?: number;
  readonly steps?: readonly number[];
}

export type Plot = { show(chart: Plotted): void; close(): void };

/** Bars lie on each other: each is drawn as the sum of its own and those below, the highest first. */
function dataOf({ times, series, look }: Plotted): uPlot.AlignedData {
  const values = series.map((each) => each.values);
  if (look !== 'bars') return [[...times], ...values.map((each) => [...each])];
  const sums = values.map((_, at) =>
    times.map((__, index) =>
      values.slice(0, at + 1).reduce((sum, each) => sum + (each[index] ?? 0), 0),
    ),
  );
  return [[...times], ...sums.toReversed()];
}

/** @param onCursor called with the index of the time at which the pointer is; undefined: it has left */
export function plot(
  place: HTMLElement,
  first: Plotted,
  onCursor: (index: number | undefined) => void,
): Plot {
  let chart = first;
  const isBars = first.look === 'bars';
  /** A colour of the page as it is now: in light or dark. */
  const colour = (name: string) => () => {
    place.style.color = `var(--${name})`;
    return getComputedStyle(place).color;
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 36] });
  const series = first.series.map(
    ({ name, tone, isDashed = false }, at): uPlot.Series => ({
      label: name,
      stroke: colour(tone),
      spanGaps: true,
      width: 2,
      // A lone value makes no line.
      points: {
        show: () => chart.series[at]?.values.filter((value) => value !== null).length === 1,
      },
      ...(isDashed && { dash: DASH }),
      ...(isBars && bars && { fill: colour(tone), width: 0, paths: bars, points: { show: false } }),
    }),
  );
  const axis: uPlot.Axis = {
    stroke: colour('text-muted'),
    font: '13px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  const xName = (seconds: number): string => {
    const [from, to] = ends(chart.times);
    if (isBars) return UTC_DAY.format(seconds * 1000);
    const length = to - from;
    const name = length > 2 * DAY_SECONDS ? DAY : length > 600 ? CLOCK : SECONDS;
    return name.format(seconds * 1000);
  };
  const drawn = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false } },
      series: [{}, ...(isBars ? series.toReversed() : series)],
      scales: {
        x: {
          time: true,
          range: () => {
            const [from, to] = ends(chart.times);
            const half = isBars ? DAY_SECONDS / 2 : 0;
            return [from - half, Math.max(to, from + 1) + half];
          },
        },
        y: { range: (_, __, most) => [0, Math.max(most * 1.05, chart.least ?? 1)] },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 32, space: 80, values: (_, at) => at.map(xName) },
        {
          ...axis,
          size: 58,
          space: 32,
          incrs: [...(first.steps ?? COUNTS)],
          values: (_, at) => at.map((value) => chart.format(value)),
        },
      ],
      ...(isBars && {
        tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      }),
      hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
    },
    dataOf(first),
    place,
  );
  const resized = new ResizeObserver(() =>
    drawn.setSize({ width: place.clientWidth, height: HEIGHT }),
  );
  resized.observe(place);
  const redraw = () => drawn.redraw(false);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', redraw);
  // The page's own choice of light or dark.
  const chosen = new MutationObserver(redraw);
  chosen.observe(document.documentElement, { attributes: true });
  return {
    show(next) {
      chart = next;
      drawn.setData(dataOf(next));
    },
    close() {
      resized.disconnect();
      chosen.disconnect();
      dark.removeEventListener('change', redraw);
      drawn.destroy();
    },
  };
}
