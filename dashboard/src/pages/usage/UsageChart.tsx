import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { UsageDay } from '../../api/usage.ts';
import { formatNumber } from '../../ui/format.ts';
import styles from './Usage.module.css';

export interface Series {
  readonly key: 'completed' | 'failed' | 'pages';
  readonly label: string;
  /** A custom property of the tokens. */
  readonly color: string;
}

interface UsageChartProps {
  readonly days: readonly UsageDay[];
  /** On top of each other. */
  readonly series: readonly Series[];
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const formatDay = (day: string): string => DAY.format(new Date(`${day}T00:00:00Z`));

const TICK = { fill: 'var(--text-muted)', fontSize: 12 };

/** A picture of the table beside it, which screen readers read instead. */
export default function UsageChart({ days, series }: UsageChartProps) {
  return (
    <div className={styles.chart} aria-hidden="true">
      <ResponsiveContainer width="100%" height={220}>
        <BarChart
          data={[...days]}
          accessibilityLayer={false}
          margin={{ top: 8, right: 0, bottom: 0, left: 0 }}
          barCategoryGap="20%"
        >
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis
            dataKey="day"
            tickFormatter={formatDay}
            tick={TICK}
            tickLine={false}
            axisLine={{ stroke: 'var(--line-strong)' }}
            minTickGap={24}
          />
          <YAxis
            allowDecimals={false}
            tickFormatter={formatNumber}
            tick={TICK}
            tickLine={false}
            axisLine={false}
            width="auto"
          />
          <Tooltip
            cursor={{ fill: 'var(--surface-hover)' }}
            labelFormatter={(day) => (typeof day === 'string' ? `${formatDay(day)} (UTC)` : '')}
            contentStyle={{
              background: 'var(--surface-raised)',
              border: '1px solid var(--line)',
              borderRadius: 'var(--radius)',
            }}
            itemStyle={{ color: 'var(--text)' }}
          />
          {series.map(({ key, label, color }) => (
            <Bar
              key={key}
              dataKey={key}
              name={label}
              stackId="all"
              fill={`var(${color})`}
              isAnimationActive={false}
              maxBarSize={36}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}
