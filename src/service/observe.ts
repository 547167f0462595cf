/** Ports whose calls are counted and traced. Without METRICS_PORT and an endpoint for traces, none of this is used. */
import { ActorSystem, type ActorSystemOptions } from '../actors/system.ts';
import type { BlobStore } from '../documents/port.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import type { EventStore } from '../event-store/port.ts';
import type { NatsLink } from '../nats/connection.ts';
import type { Calls, RenderMetrics } from '../observe/metrics/definitions.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import type { OpenSpan, Tracing } from '../observe/tracing/port.ts';
import type { CompletedOutcome } from '../render-queue/messages.ts';
import type { Delivery, RenderQueue } from '../render-queue/port.ts';
import { timeOfId } from '../time/ids.ts';

/** The watchers of a process. Each is there where a setting asks for it. */
export interface Observers {
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
}

/** Stands in for some methods of a port: each is given the method itself and the arguments of the call. */
type Around<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends (...args: infer Args) => infer Result
    ? (next: (...args: Args) => Result, ...args: Args) => Result
    : never;
};

function own(target: object, key: PropertyKey): unknown {
  // The receiver is the port: its private fields are not those of the proxy.
  const value: unknown = Reflect.get(target, key, target);
  return typeof value === 'function' ? value.bind(target) : value;
}

/** The port with `around` in the place of its methods. The port itself is not changed, and its own calls go past. */
export function observe<Port extends object>(port: Port, around: Around<Port>): Port {
  type Method = (...args: readonly unknown[]) => unknown;
  const replaced = new Map<PropertyKey, Method>(
    Object.entries<Method>(around as Record<string, Method>).map(([key, work]) => [
      key,
      work.bind(undefined, own(port, key)),
    ]),
  );
  return new Proxy(port, { get: (target, key) => replaced.get(key) ?? own(target, key) });
}

/** @param names the name that the calls of each method are counted and traced under */
function named<Name extends string>(names: Readonly<Record<Name, string>>, call: ObserveCall) {
  type Call = <Args extends readonly unknown[], Result>(
    next: (...args: Args) => Promise<Result>,
    ...args: Args
  ) => Promise<Result>;
  const around = Object.entries<string>(names).map(([method, name]): [string, Call] => [
    method,
    (next, ...args) => call(name, () => next(...args)),
  ]);
  return Object.fromEntries(around) as Readonly<Record<Name, Call>>;
}

const EVENT_STORE_CALLS = {
  append: 'append',
  readStream: 'read_stream',
  readAll: 'read_all',
  head: 'head',
} as const;

/** Counts. The appends of commands are traced by `createActors`, which knows the commands. */
export function observedEventStore(store: EventStore, { metrics }: Observers): EventStore {
  if (metrics?.api === undefined) return store;
  const count = callObserver(metrics.api.eventStore, Object.values(EVENT_STORE_CALLS));
  return observe(store, named(EVENT_STORE_CALLS, count));
}

const BLOB_CALLS = {
  adopt: 'adopt',
  read: 'read',
  open: 'open',
  exists: 'exists',
  deleteAll: 'delete',
  delete: 'delete',
  claim: 'claim',
} as const;

export function observedBlobStore(blobs: BlobStore, { metrics, tracing }: Observers): BlobStore {
  if (metrics === undefined && tracing === undefined) return blobs;
  const count =
    metrics && callObserver(metrics.process.blobStore, ['store', ...Object.values(BLOB_CALLS)]);
  const trace: ObserveCall = (name, work) =>
    tracing?.current() === undefined
      ? work()
      : tracing.span(`blob store ${name}`, { kind: 'client' }, work);
  const call: ObserveCall = count ? (name, work) => count(name, () => trace(name, work)) : trace;
  return observe(blobs, {
    ...named(BLOB_CALLS, call),
    stage: (next, ...args) => observe(next(...args), named({ store: 'store' }, call)),
  });
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
export function observedNats(link: NatsLink, { metrics }: Observers): NatsLink {
  if (metrics === undefined) return link;
  const kinds = new Set(NATS_CALLS.map(([, kind]) => kind));
  const count = callObserver(metrics.process.nats, [...kinds, 'report', 'publish_job', 'other']);
  metrics.onScrape(() => metrics.process.natsUp.set(link.isUp() ? 1 : 0));
  const connection = observe(link.connection, {
    request: (next, ...args) => count(natsCall(args[0], link.namespace), () => next(...args)),
  });
  return { ...link, connection };
}

/**
 * Actors whose commands and appends are traced, if anything is. An actor decides the commands of several requests
 * together and appends them at once: only the events say whose append it is.
 */
export function createActors(
  options: ActorSystemOptions,
  tracing: Tracing | undefined,
): ActorSystem {
  if (tracing === undefined) return new ActorSystem(options);
  /** The commands that are traced and have not been answered, by their ids. */
  const commands = new Map<string, OpenSpan>();
  const store = observe(options.store, {
    append: async (next, stream, events, ...rest) => {
      const causes = new Set(events.map(({ metadata }) => (metadata as EventMetadata).causationId));
      const spans = [...causes].flatMap((cause) => {
        const parent = commands.get(cause)?.traceParent;
        return parent === undefined
          ? []
          : [tracing.begin('event store append', { kind: 'client', parent })];
      });
      const append = () => next(stream, events, ...rest);
      const [first] = spans;
      try {
        return await (first === undefined ? tracing.outside(append) : first.within(append));
      } catch (error) {
        for (const span of spans) span.fail(error instanceof Error ? error.name : 'error');
        throw error;
      } finally {
        for (const span of spans) span.end();
      }
    },
  });
  return observe(new ActorSystem({ ...options, store }), {
    send: async (next, type, id, command, context) => {
      const send = () => next(type, id, command, context);
      // Work that no request has caused is not traced.
      if (tracing.current() === undefined) return await send();
      return await tracing.span(`command to ${type.name}`, {}, async (span) => {
        commands.set(context.commandId, span);
        try {
          return await send();
        } finally {
          commands.delete(context.commandId);
        }
      });
    },
  });
}

/** The render queue, with its renderings counted, and their traces carried over it. */
export function observedQueue(queue: RenderQueue, { metrics, tracing }: Observers): RenderQueue {
  const counted = metrics?.render ? countedQueue(queue, metrics.render) : queue;
  return tracing ? tracedQueue(counted, tracing) : counted;
}

function countedQueue(queue: RenderQueue, metrics: RenderMetrics): RenderQueue {
  /** The end of each rendering under way, once it is reported. */
  const outcomes = new Map<string, string>();
  return observe(queue, {
    consume: (next, slots, handle) => {
      metrics.slots.set(slots);
      const consumer = next(slots, async (delivery) => {
        const { conversionId } = delivery.job;
        const begun = performance.now();
        metrics.slotsInUse.inc();
        let holds = true;
        const release = (): void => {
          if (holds) metrics.slotsInUse.dec();
          holds = false;
        };
        const releaseSlot = (releaseOwn: () => void): void => {
          release();
          releaseOwn();
        };
        try {
          await handle(observe(delivery, { releaseSlot }));
        } finally {
          release();
          // Nothing was reported where the job was not begun, or not needed any more.
          const outcome = outcomes.get(conversionId) ?? 'none';
          outcomes.delete(conversionId);
          metrics.renderings.observe({ outcome }, (performance.now() - begun) / 1000);
        }
      });
      const stop = (): Promise<void> => {
        metrics.slots.set(0);
        return consumer.stop();
      };
      return { stop };
    },
    report: (next, report) => {
      if (report.kind !== 'started') outcomes.set(report.conversionId, report.kind);
      if (report.kind === 'completed') {
        for (const [phase, ms] of Object.entries(report.timings)) {
          metrics.phases.observe({ phase }, ms / 1000);
        }
      }
      return next(report);
    },
  });
}

function tracedQueue(queue: RenderQueue, tracing: Tracing): RenderQueue {
  type Handle = (delivery: Delivery) => Promise<void>;
  const traced =
    (handle: Handle): Handle =>
    (delivery) => {
      const { trace: parent, conversionId, retry } = delivery.job;
      // One that nobody traces must not be taken for a part of what was handled before it.
      if (parent === undefined) return tracing.outside(() => handle(delivery));
      const attributes = { 'pressledger.conversion.id': conversionId };
      if (!retry)
        tracing.record('queue', timeOfId(conversionId), Date.now(), { parent, attributes });
      return tracing.span('render', { kind: 'consumer', parent, attributes }, () =>
        handle(delivery),
      );
    };
  return observe(queue, {
    consume: (next, slots, handle) => next(slots, traced(handle)),
    report: (next, report) => {
      if (tracing.current() === undefined) return next(report);
      if (report.kind === 'completed') recordPhases(report, tracing);
      return tracing.span(`report ${report.kind}`, { kind: 'client' }, (span) => {
        if (report.kind === 'failed') span.fail(report.code);
        const { traceParent: trace } = span;
        return next(trace === undefined ? report : { ...report, trace });
      });
    },
    onReport: (next, handle, sign) =>
      next(
        ({ trace: parent, ...report }) =>
          parent === undefined
            ? tracing.outside(() => handle(report))
            : tracing.span(`record ${report.kind}`, { kind: 'server', parent }, () =>
                handle(report),
              ),
        sign,
      ),
  });
}

/** The phases in their order; the last has ended just now. */
const PHASES = ['queued', 'load', 'ready', 'print', 'store'] as const;

function recordPhases({ timings }: CompletedOutcome, tracing: Tracing): void {
  let from = Date.now() - PHASES.reduce((sum, phase) => sum + timings[phase], 0);
  for (const phase of PHASES) {
    const to = from + timings[phase];
    tracing.record(`phase ${phase}`, from, to);
    from = to;
  }
}

/** Does the work of a call, and notes how long it took and whether it failed. */
export type ObserveCall = <T>(call: string, work: () => Promise<T>) => Promise<T>;

/** Names of errors, as labels. All others are `other`: a library may have any. */
const LABELS = new Map([
  ['VersionConflict', 'conflict'],
  ['EventStoreUnavailable', 'unavailable'],
  ['EventDamaged', 'damaged'],
  ['BlobStoreUnavailable', 'unavailable'],
  ['BlobNotFound', 'not_found'],
  ['TimeoutError', 'timeout'],
  ['NoRespondersError', 'unavailable'],
]);

const labelOf = (error: unknown): string =>
  (error instanceof Error && LABELS.get(error.name)) || 'other';

/** @param calls the names that it will be given: a label has few values */
export function callObserver({ duration, failures }: Calls, calls: readonly string[]): ObserveCall {
  // Each with its label found once: these calls are made for every request.
  const timers = new Map(calls.map((call) => [call, duration.labels({ call })]));
  return async (call, work) => {
    const begun = performance.now();
    try {
      return await work();
    } catch (error) {
      failures.inc({ call, error: labelOf(error) });
      throw error;
    } finally {
      timers.get(call)?.observe((performance.now() - begun) / 1000);
    }
  };
}
