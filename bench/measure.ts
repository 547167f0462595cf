/** What the benchmarks share: medians, a directory of their own, lines on standard output. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The least number that the share of all is not above; 0 where there are none. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Each name and how often it is there, the most frequent first. */
export function counted(names: readonly string[]): string {
  const groups = [...Map.groupBy(names, (name) => name)];
  const sorted = groups.toSorted(([, a], [, b]) => b.length - a.length);
  return sorted.map(([name, { length }]) => `${name} ${length}`).join(', ');
}

/** Calls of `work` per second that make up `count` units. */
export async function perSecond(count: number, work: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (count / (performance.now() - start)) * 1000;
}

export async function inTemporaryDirectory(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'pressledger-bench-'));
  try {
    await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
