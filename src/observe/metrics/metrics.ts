/** The metrics of one process, as Prometheus reads them. */
import { readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { Registry } from 'prom-client';
import { withTimeout } from '../../async/with-timeout.ts';
import type { Logger } from '../log.ts';
import { LogThrottle } from '../log-throttle.ts';
import { apiMetrics, processMetrics, renderMetrics } from './definitions.ts';

/** A part that does not answer must not keep the rest from being scraped. */
const COLLECT_MS = 2_000;
const TICK_MS = 100;

export interface MetricsOptions {
  readonly role: 'start' | 'api' | 'renderer';
  readonly version: string;
  readonly dataDir: string;
  readonly logger: Logger;
}

export class Metrics {
  readonly registry = new Registry();
  readonly process = processMetrics(this.registry);
  /** Absent in a renderer. */
  readonly api;
  /** Absent in an API node. */
  readonly render;
  readonly #collectors = new Set<() => void | Promise<void>>();
  readonly #logger: Logger;
  readonly #failures = new LogThrottle();
  readonly #tick: NodeJS.Timeout;
  #cpuSeconds = 0;
  #text: Promise<string> | undefined;

  constructor({ role, version, dataDir, logger }: MetricsOptions) {
    this.#logger = logger;
    this.api = role === 'renderer' ? undefined : apiMetrics(this.registry);
    this.render = role === 'api' ? undefined : renderMetrics(this.registry);
    this.process.info.set({ version, role }, 1);
    this.process.startTime.set((Date.now() - performance.now()) / 1000);
    // Absent until they are known.
    for (const gauge of [this.process.natsUp, this.process.freeDisk]) gauge.remove();
    this.process.ready.set(0);
    this.#tick = this.#watchEventLoop();
    this.onScrape(() => this.#collectProcess());
    this.onScrape(async () => {
      const { bavail, bsize } = await statfs(dataDir);
      this.process.freeDisk.set(bavail * bsize);
    });
  }

  /** Calls `collect` before each answer to a scrape; returns how to end that. */
  onScrape(collect: () => void | Promise<void>): () => void {
    this.#collectors.add(collect);
    return () => this.#collectors.delete(collect);
  }

  /** All metrics in Prometheus' text format. Several who ask at once get the same. */
  text(): Promise<string> {
    this.#text ??= this.#collect().finally(() => {
      this.#text = undefined;
    });
    return this.#text;
  }

  close(): void {
    clearInterval(this.#tick);
  }

  async #collect(): Promise<string> {
    const collecting = [...this.#collectors].map(async (collect) => {
      try {
        await withTimeout(COLLECT_MS, Promise.resolve(collect()));
      } catch (err) {
        this.#failures.log((suppressed) =>
          this.#logger.warn({ err, suppressed }, 'some metrics are not known now'),
        );
      }
    });
    await Promise.all(collecting);
    return await this.registry.metrics();
  }

  #collectProcess(): void {
    const { memory, cpu, openFiles } = this.process;
    memory.set(process.memoryUsage.rss());
    const { user, system } = process.cpuUsage();
    const cpuSeconds = (user + system) / 1e6;
    cpu.inc(cpuSeconds - this.#cpuSeconds);
    this.#cpuSeconds = cpuSeconds;
    openFiles.set(readdirSync('/proc/self/fd').length);
  }

  #watchEventLoop(): NodeJS.Timeout {
    let due = performance.now() + TICK_MS;
    return setInterval(() => {
      const now = performance.now();
      this.process.eventLoopDelay.observe(Math.max(0, now - due) / 1000);
      due = now + TICK_MS;
    }, TICK_MS).unref();
  }
}
