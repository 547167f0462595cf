import { type ReactNode, useEffect, useRef, useState } from 'react';
import styles from './Chart.module.css';
import { type Column, Table } from './records.tsx';
import type { Plot, Plotted, Series } from './plot.ts';
import { rich } from '../words/rich.ts';
import { LOCALE, t } from '../words/words.ts';

interface ChartProps extends Plotted {
  readonly title: string;
  readonly timeName?: (seconds: number) => string;
  /** Stands for the table of the same numbers. */
  readonly table?: ReactNode;
}

const MINUTE = new Intl.DateTimeFormat(LOCALE, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});
/** 23 Nov, 04:12 UTC: in the zone of the person. */
const minuteName = (seconds: number): string => MINUTE.format(seconds * 1000);

/** Charts beside each other, where there is room. */
export function Charts({ children }: { readonly children: ReactNode }) {
  return <div className={styles.charts}>{children}</div>;
}

/** Lines or bars over time, the numbers below the pointer, and all of them in a table. */
export function Chart(chart: ChartProps) {
  const { title, times, timeName = minuteName, series, format, table } = chart;
  const place = useRef<HTMLDivElement>(null);
  const plotted = useRef<Plot>(undefined);
  const latest = useRef(chart);
  const [at, setAt] = useState<number>();
  useEffect(() => {
    latest.current = chart;
    plotted.current?.show(chart);
  });
  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const { plot } = await import('./plot.ts');
      if (!isGone && place.current) plotted.current = plot(place.current, latest.current, setAt);
    };
    void draw();
    return () => {
      isGone = true;
      plotted.current?.close();
      plotted.current = undefined;
    };
  }, []);
  const shown = at ?? times.length - 1;
  const textAt = (values: Series['values'], index: number): string => {
    const value = values[index] ?? null;
    return value === null ? '–' : format(value);
  };
  return (
    <figure className="stack gap-2">
      <figcaption className="strong">{title}</figcaption>
      <p className={`${styles.legend} line note`} aria-hidden="true">
        {series.map(({ name, tone, isDashed = false, values }) => (
          <span key={name}>
            <span
              className={styles.key}
              data-dashed={isDashed}
              style={{ color: `var(--${tone})` }}
            />
            {name} <b>{textAt(values, shown)}</b>
          </span>
        ))}
        <span className="last">{times[shown] !== undefined && timeName(times[shown])}</span>
      </p>
      <div ref={place} className={styles.plot} aria-hidden="true" />
      {table !== undefined ? (
        table
      ) : (
        <Numbers title={title}>
          {() => {
            const columns: Column<number>[] = series.map(({ name, values }) => ({
              header: name,
              align: 'end',
              cell: (index) => textAt(values, index),
            }));
            return (
              <Table
                label={title}
                columns={[
                  {
                    header: t('From'),
                    isRowHeader: true,
                    cell: (index) => timeName(times[index] ?? 0),
                  },
                  ...columns,
                ]}
                rows={[...times.keys()].toReversed()}
                rowKey={String}
              />
            );
          }}
        </Numbers>
      )}
    </figure>
  );
}

type NumbersProps = { readonly title: string; readonly children: () => ReactNode };

/** The numbers of a chart, which are made when a person opens them. */
export function Numbers({ title, children }: NumbersProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={styles.numbers}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        {rich('View as table{span}', { span: <span className="visually-hidden">: {title}</span> })}
      </summary>
      {isOpen && children()}
    </details>
  );
}
