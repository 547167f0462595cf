/**
 * The HTTP API in a process of its own, whose memory is therefore its own: `node api-process.ts ACCOUNTS`.
 * It tells its parent where it is and the keys of its accounts, and ends when its parent does.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { BudgetCount } from '../../src/limits/budgets.ts';
import { startApi } from './api.ts';

const SELF = fileURLToPath(import.meta.url);

interface Started {
  readonly origin: string;
  readonly keys: readonly string[];
}

async function main(): Promise<void> {
  const teardowns: (() => unknown)[] = [];
  const env = JSON.parse(process.env['API_ENV'] ?? '{}') as Record<string, string>;
  const api = await startApi(
    { teardown: (end) => void teardowns.push(end as () => unknown) },
    { env },
  );
  const keys: string[] = [];
  for (let n = Number(process.argv[2]); n > 0; n -= 1) keys.push((await api.newAccount()).key);
  process.on('message', () => void process.send?.(api.budgets.counts()));
  process.once('disconnect', () => {
    for (const end of teardowns) void end();
  });
  process.send?.({ origin: api.origin, keys } satisfies Started);
}

/** The API of another process, and what its memory was at most. */
export class ApiProcess {
  readonly origin: string;
  readonly keys: readonly string[];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, { origin, keys }: Started) {
    this.#child = child;
    this.origin = origin;
    this.keys = keys;
  }

  static async start(
    t: Test,
    options: {
      readonly accounts: number;
      /** Mebibytes of V8's heap beyond which the process ends. */
      readonly heapMiB: number;
      readonly env?: Readonly<Record<string, string>>;
    },
  ): Promise<ApiProcess> {
    const child = fork(SELF, [String(options.accounts)], {
      execArgv: [`--max-old-space-size=${options.heapMiB}`],
      env: { ...process.env, API_ENV: JSON.stringify(options.env ?? {}) },
    });
    t.teardown(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    });
    const [started] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`It ended with ${code}.`))),
    ])) as [Started];
    return new ApiProcess(child, started);
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The most bytes that it ever had in memory. */
  peakRss(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async budgets(): Promise<readonly BudgetCount[]> {
    const answered = once(this.#child, 'message');
    this.#child.send('budgets');
    const [counts] = (await answered) as [BudgetCount[]];
    return counts;
  }
}

if (process.argv[1] === SELF) await main();
