/** A real OpenTelemetry collector, where OTEL_COLLECTOR names the program (`/usr/bin/otelcol`). */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { eventually } from './deadline.ts';
import { testDirectory } from './directory.ts';
import { freePort } from './free-port.ts';

const program = process.env['OTEL_COLLECTOR'] ?? '';

/** Options of a test that needs it. */
export const needsCollector =
  program === '' ? { skip: 'OTEL_COLLECTOR names no OpenTelemetry collector' } : {};

/** The first version whose exporter to standard error is called `debug`. */
const DEBUG_SINCE_MINOR = 86;
const SPAN = /Trace ID +: (\w*)\s+Parent ID +: (\w*)\s+ID +: (\w+)\s+Name +: (.*)/g;

export interface CollectedSpan {
  readonly traceId: string;
  readonly parent: string;
  readonly id: string;
  readonly name: string;
}

export interface Collector {
  readonly version: string;
  /** Endpoints for the exporter's two ways. */
  readonly http: string;
  readonly grpc: string;
  /** The spans that it has received, as it reports them itself. */
  spans(): readonly CollectedSpan[];
}

export async function startCollector(t: Test): Promise<Collector> {
  const { stdout: told } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  const [version = '', minor = '0'] = /\d+\.(\d+)\.\d+/.exec(told) ?? [];
  const [http, grpc] = [await freePort(), await freePort()];
  const exporter =
    Number(minor) < DEBUG_SINCE_MINOR
      ? { logging: { loglevel: 'debug' } }
      : { debug: { verbosity: 'detailed' } };
  const config = {
    receivers: {
      otlp: {
        protocols: {
          http: { endpoint: `127.0.0.1:${http}` },
          grpc: { endpoint: `127.0.0.1:${grpc}` },
        },
      },
    },
    exporters: exporter,
    service: {
      pipelines: { traces: { receivers: ['otlp'], exporters: Object.keys(exporter) } },
    },
  };
  const file = join(testDirectory(t), 'collector.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(program, [`--config=${file}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  });
  await eventually('the collector is ready', () => {
    if (child.exitCode !== null) throw new Error(stderr);
    return stderr.includes('Everything is ready') || undefined;
  });
  return {
    version,
    http: `http://127.0.0.1:${http}`,
    grpc: `http://127.0.0.1:${grpc}`,
    spans: () =>
      [...stderr.matchAll(SPAN)].map(([, traceId = '', parent = '', id = '', name = '']) => ({
        traceId,
        parent,
        id,
        name,
      })),
  };
}
