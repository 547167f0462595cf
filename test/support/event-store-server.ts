/**
 * A real event store server, where EVENTSTORE_TEST_URL names one (`esdb://127.0.0.1:2113?tls=false`). Tests
 * share it: each has a namespace of its own, which is an empty log.
 */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { openKurrentDb } from '../../src/event-store/kurrentdb/store.ts';
import type { CopyableEventStore } from '../../src/event-store/port.ts';
import type { LogEvent } from './invariants.ts';

const url = process.env.EVENTSTORE_TEST_URL;

/** Options of a test that needs the server: without one it is reported as skipped, with the reason. */
export const needsEventStoreServer =
  url === undefined || url === ''
    ? { skip: 'EVENTSTORE_TEST_URL names no EventStoreDB or KurrentDB server' }
    : {};

const clusterUrl = process.env.EVENTSTORE_TEST_CLUSTER_URL ?? '';

/** The same for a test that needs a cluster of three. */
export const needsEventStoreCluster =
  clusterUrl === ''
    ? { skip: 'EVENTSTORE_TEST_CLUSTER_URL names no cluster of EventStoreDB or KurrentDB' }
    : {};

/** The hosts of the cluster, `host:port` each. */
export const clusterHosts = (): readonly string[] =>
  (/^[^:]+:\/\/([^/?]+)/.exec(clusterUrl)?.[1] ?? '').split(',');

const newNamespace = (): string => `test_${randomBytes(8).toString('hex')}`;

/** The connection string of an empty log. @param server another way to the same server: `host:port` */
export function emptyLogUrl(namespace = newNamespace(), server?: string): string {
  const [, scheme, host, query] =
    /^([^:]+:\/\/(?:[^@]*@)?)([^/?]+)\/?(?:\?(.*))?$/.exec(url ?? '') ?? [];
  if (host === undefined) throw new Error('EVENTSTORE_TEST_URL is not a connection string.');
  const given = query === undefined ? '' : `${query}&`;
  return `${scheme}${server ?? host}?${given}namespace=${namespace}`;
}

/** Where the server listens. */
export function serverPlace(): { readonly host: string; readonly port: number } {
  const [, host = '', port = '2113'] =
    /:\/\/(?:[^@]*@)?([^/?:,]+)(?::(\d+))?/.exec(url ?? '') ?? [];
  return { host, port: Number(port) };
}

export const openEventStoreServer = (at: string): Promise<CopyableEventStore> =>
  openKurrentDb(at, { logger: pino({ level: 'silent' }) });

/** Every event at that connection string, in the order of the log, its positions counted from 1. */
export async function readServerLog(from: string): Promise<LogEvent[]> {
  const store = await openEventStoreServer(from);
  try {
    const places = new Map<string, number>();
    const log: LogEvent[] = [];
    for (let after = 0n; ; ) {
      const events = await store.readAll({ after });
      for (const { position, stream, revision, id, type, data, metadata } of events) {
        places.set(`${position}`, log.length + 1);
        // A refund names the position of the failure that it answers.
        const text = JSON.stringify(data).replace(/"failedAt":"(\d+)"/, (whole, at: string) =>
          places.has(at) ? `"failedAt":"${places.get(at)}"` : whole,
        );
        const place = { position: log.length + 1, stream, revision, id, type };
        log.push({ ...place, data: text, metadata: JSON.stringify(metadata) });
        after = position;
      }
      if (events.length === 0) return log;
    }
  } finally {
    await store.close();
  }
}
