/** Ports whose calls are counted and traced. Where neither is on, nobody uses any of this. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { BlobStore } from '../blob-store/port.ts';
import type { EventStore } from '../event-store/port.ts';
import { callObserver, type ObserveCall } from '../metrics/calls.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { NatsLink } from '../nats/connection.ts';
import type { Tracing } from '../tracing/port.ts';

/** Parts that watch a process. Each is there where a setting asks for it. */
export interface Observers {
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
}

const EVENT_STORE_CALLS = ['append', 'read_stream', 'read_all', 'head'];

/** Traces of appends are made by `traced.ts`, which knows the commands. */
export function observedEventStore(store: EventStore, { metrics }: Observers): EventStore {
  if (metrics?.api === undefined) return store;
  const observe = callObserver(metrics.api.eventStore, EVENT_STORE_CALLS);
  return {
    append: (...args) => observe('append', () => store.append(...args)),
    readStream: (...args) => observe('read_stream', () => store.readStream(...args)),
    readAll: (...args) => observe('read_all', () => store.readAll(...args)),
    head: () => observe('head', () => store.head()),
    subscribe: (...args) => store.subscribe(...args),
    close: () => store.close(),
  };
}

const BLOB_CALLS = ['store', 'adopt', 'read', 'open', 'exists', 'delete', 'claim'];

function blobObserver({ metrics, tracing }: Observers): ObserveCall | undefined {
  const counted = metrics && callObserver(metrics.process.blobStore, BLOB_CALLS);
  if (tracing === undefined) return counted;
  const traced: ObserveCall = (call, work) =>
    tracing.current() === undefined
      ? work()
      : tracing.span(`blob store ${call}`, { kind: 'client' }, work);
  return counted ? (call, work) => counted(call, () => traced(call, work)) : traced;
}

export function observedBlobStore(blobs: BlobStore, observers: Observers): BlobStore {
  const observe = blobObserver(observers);
  if (observe === undefined) return blobs;
  return {
    stage: (...args) => {
      const staged = blobs.stage(...args);
      // The same object: an event store may know it, and store it in its own transaction.
      const store = staged.store.bind(staged);
      staged.store = () => observe('store', store);
      return staged;
    },
    adopt: (...args) => observe('adopt', () => blobs.adopt(...args)),
    read: (...args) => observe('read', () => blobs.read(...args)),
    open: (...args) => observe('open', () => blobs.open(...args)),
    exists: (...args) => observe('exists', () => blobs.exists(...args)),
    deleteAll: (...args) => observe('delete', () => blobs.deleteAll(...args)),
    delete: (...args) => observe('delete', () => blobs.delete(...args)),
    list: () => blobs.list(),
    claim: (...args) => observe('claim', () => blobs.claim(...args)),
  };
}

/** The kinds of requests by how their subjects begin, the longest first. */
const NATS_CALLS: readonly (readonly [string, string])[] = [
  ['$JS.API.CONSUMER.', 'consumer'],
  ['$JS.API.STREAM.', 'stream'],
  ['$JS.API.DIRECT.', 'stream'],
  ['$JS.', 'jetstream'],
  ['$KV.', 'key_value'],
  ['$O.', 'object_store'],
];

function natsCall(subject: string, namespace: string): string {
  const known = NATS_CALLS.find(([start]) => subject.startsWith(start))?.[1];
  if (known !== undefined) return known;
  if (subject === `${namespace}.report`) return 'report';
  return subject.startsWith(`${namespace}.jobs.`) ? 'publish_job' : 'other';
}

/** Counts the requests that adapters, and JetStream's client for them, send over the connection. */
export function observeNats(link: NatsLink, metrics: Metrics): void {
  const { connection, namespace } = link;
  const calls = ['consumer', 'stream', 'jetstream', 'key_value', 'object_store', 'report'];
  const observe = callObserver(metrics.process.nats, [...calls, 'publish_job', 'other']);
  const request: NatsConnection['request'] = connection.request.bind(connection);
  connection.request = (...args) => observe(natsCall(args[0], namespace), () => request(...args));
  metrics.onScrape(() => metrics.process.natsUp.set(link.isUp() ? 1 : 0));
}
