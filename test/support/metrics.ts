/** Reads the metrics of a process as Prometheus does. */
import { eventually } from './deadline.ts';
import type { Launched } from './service.ts';

export class Scrape {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Adds up the samples of a series, written as it is in the text but for labels that are left out. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const found = this.text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .filter((line) => wanted.every((each) => line.includes(each)))
      .map((line) => Number(line.slice(line.lastIndexOf(' '))));
    return found.length === 0 ? undefined : found.reduce((sum, each) => sum + each, 0);
  }

  /** Every metric, also those without a sample, with its kind. */
  kinds(): ReadonlyMap<string, string> {
    return new Map(
      [...this.text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', kind = '']) => [
        name,
        kind,
      ]),
    );
  }
}

/** Where a process that was started with METRICS_PORT=0 serves its metrics. */
export async function metricsUrl(process: Pick<Launched, 'output'>): Promise<string> {
  return await eventually(
    'metrics',
    () => /metrics are at (http:\S+\/metrics)/.exec(process.output.stderr)?.[1],
  );
}

export async function scrape(process: Pick<Launched, 'output'>): Promise<Scrape> {
  const answer = await fetch(await metricsUrl(process));
  return new Scrape(await answer.text());
}
