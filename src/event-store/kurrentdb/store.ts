/**
 * The event store on a server: EventStoreDB or KurrentDB, one server with two names. It uses ordinary
 * appends to single streams, so any version from 23.10 serves.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { atMost } from '../../async/at-most.ts';
import type { StagedBlob } from '../../documents/port.ts';
import {
  type AppendResult,
  type Barrier,
  type BatchHandler,
  type CopiedEvent,
  type CopyableEventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type Subscription,
  VersionConflict,
} from '../port.ts';
import { type Append, BARRIER_STREAM, KurrentDbClient } from './client.ts';
import { type ConnectionString, parseConnectionString, serversOf } from './connection-string.ts';
import { KurrentDbSubscription } from './subscription.ts';

const DEFAULT_LIMIT = 1_000;
/** Blobs of one append that are stored at a time. */
const STORED_AT_ONCE = 32;
/** A pause before an append without an answer is sent once more, in which the client reconnects. */
const RESEND_AFTER_MS = 100;
/** Bounds of one append of copies, well below the server's own. */
const COPIES_AT_ONCE = 500;
const COPIED_CHARACTERS = 200_000;
/** Appends of copies that wait for their answers at a time: the server syncs its disk for many at once. */
const APPENDS_AT_ONCE = 500;
/** Entries at the end of the log that are looked at for our last event, in two reads. */
const TAIL_READS = [1, 32];

/**
 * Connects to the server of a connection string and finds the end of our log there.
 * @param url `esdb://` or `kurrentdb://`, with `?namespace=NAME` where others use the server too
 * @throws {Error} one line that names the server, never its password, and the remedy
 */
export async function openKurrentDb(
  url: string,
  { logger }: { readonly logger: Logger },
): Promise<CopyableEventStore> {
  const to = parseConnectionString(url);
  const client = new KurrentDbClient(to, logger);
  const store = new KurrentDbEventStore(client, logger);
  try {
    await store.head();
    if (to.hosts.length === 1 && !to.discover) await warnOfCluster(client, logger);
    return store;
  } catch (error) {
    await store.close().catch(() => {});
    throw new Error(whyUnusable(to, error), { cause: error });
  }
}

/** Warns where the one host is a node of a cluster. */
async function warnOfCluster(client: KurrentDbClient, logger: Logger): Promise<void> {
  const nodes = (await client.clusterSize()) ?? 1;
  if (nodes === 1) return;
  logger.warn(
    `EVENT_STORE_URL names one host of a cluster of ${nodes} nodes: if it fails, the service stops although the ` +
      'cluster runs. Name all hosts, separated by commas, or use +discover with their common DNS name',
  );
}

class KurrentDbEventStore implements CopyableEventStore {
  readonly #client: KurrentDbClient;
  readonly #logger: Logger;
  readonly #subscriptions = new Set<Subscription>();
  /** The end of the log when it was looked at last, and our last event there. */
  #known = { end: 0n, head: 0n };

  constructor(client: KurrentDbClient, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  async append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    blobs: readonly StagedBlob[] = [],
  ): Promise<AppendResult> {
    const written = events.map(serialised);
    if (written.length === 0) throw new TypeError('An append needs at least one event.');
    if (blobs.length > 0) await storeAll(blobs);
    try {
      return await this.#client.append(stream, written, expected);
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      // Sent again it is safe, stored or not: a server that has these very events after the expected
      // revision answers as it did the first time.
      await delay(RESEND_AFTER_MS);
      return this.#client.append(stream, written, expected);
    }
  }

  async readStream(
    stream: string,
    { from = 0, limit = DEFAULT_LIMIT }: ReadStreamOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    return this.#client.readStream(stream, from, limit);
  }

  async readAll({
    after = 0n,
    limit = DEFAULT_LIMIT,
  }: ReadAllOptions = {}): Promise<readonly RecordedEvent[]> {
    return this.#client.readAll(after, limit);
  }

  subscribe(after: bigint, handle: BatchHandler): Subscription {
    const subscription = new KurrentDbSubscription(this.#client, after, handle, this.#logger);
    this.#subscriptions.add(subscription);
    const forget = (): void => void this.#subscriptions.delete(subscription);
    subscription.ended.then(forget, forget);
    return subscription;
  }

  /**
   * Our last event is among the log's last entries, unless others write as well, be it the server its own:
   * then it is found by reading our events on from the end that was known last.
   */
  async head(): Promise<bigint> {
    const known = this.#known;
    let end: bigint | undefined;
    let before: bigint | undefined;
    for (const limit of TAIL_READS) {
      const entries = await this.#client.readTail(before, limit);
      end ??= entries[0]?.position ?? 0n;
      // An older log was put back: what is known is of another one.
      if (end < known.head) return end;
      for (const { position, isOurs } of entries) {
        if (isOurs) return this.#remember(end, position);
        if (position <= known.end) return this.#remember(end, known.head);
        before = position;
      }
      if (entries.length < limit) return this.#remember(end, 0n);
    }
    let { head } = known;
    for (let after = known.end; ; after = head) {
      const events = await this.#client.readAll(after, DEFAULT_LIMIT);
      head = events.at(-1)?.position ?? head;
      if (events.length < DEFAULT_LIMIT) return this.#remember(end ?? 0n, head);
    }
  }

  async appendCopies(events: readonly CopiedEvent[]): Promise<void> {
    const { fitting, misfit } = untilMisfit(events);
    let appends: Append[] = [];
    for (const run of runsOf(fitting)) {
      appends.push(run);
      if (appends.length < APPENDS_AT_ONCE) continue;
      await this.#appendInOrder(appends);
      appends = [];
    }
    await this.#appendInOrder(appends);
    if (misfit) throw misfit;
  }

  async #appendInOrder(appends: readonly Append[]): Promise<void> {
    try {
      await this.#client.appendInOrder(appends);
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      await delay(RESEND_AFTER_MS);
      for (const { stream, events, expected } of appends) {
        await this.append(stream, events, expected);
      }
    }
  }

  /** Reads the barrier from a separate stream. */
  async barrier(): Promise<Barrier | undefined> {
    const last = (await this.#barriers()).at(-1);
    return last?.type === 'BarrierSet' ? (last.data as Barrier) : undefined;
  }

  async setBarrier(barrier: Barrier | undefined): Promise<void> {
    const last = (await this.#barriers()).at(-1)?.revision;
    const type = barrier === undefined ? 'BarrierRemoved' : 'BarrierSet';
    const event = { id: randomUUID(), type, data: { ...barrier }, metadata: {} };
    await this.append(BARRIER_STREAM, [event], last ?? 'no-stream');
  }

  #barriers(): Promise<readonly RecordedEvent[]> {
    return this.#client.readStream(BARRIER_STREAM, 0, DEFAULT_LIMIT);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    await this.#client.close();
  }

  #remember(end: bigint, head: bigint): bigint {
    if (end > this.#known.end) this.#known = { end: end > head ? end : head, head };
    return head;
  }
}

/** Events up to the first that does not follow the one before it in its stream, of those that are given. */
function untilMisfit(events: readonly CopiedEvent[]): {
  readonly fitting: readonly CopiedEvent[];
  readonly misfit?: VersionConflict;
} {
  const revisions = new Map<string, number>();
  for (const [index, { stream, revision }] of events.entries()) {
    const last = revisions.get(stream);
    if (last !== undefined && revision !== last + 1) {
      return {
        fitting: events.slice(0, index),
        misfit: new VersionConflict(stream, revision - 1, last),
      };
    }
    revisions.set(stream, revision);
  }
  return { fitting: events };
}

/** Events that follow each other in the log and in one stream, in parts that one append takes. */
function* runsOf(events: readonly CopiedEvent[]): Generator<Append> {
  let run: CopiedEvent[] = [];
  let characters = 0;
  for (const event of events) {
    const { length } = JSON.stringify([event.data, event.metadata]);
    const isFull = run.length === COPIES_AT_ONCE || characters + length > COPIED_CHARACTERS;
    if (run.length > 0 && (isFull || run[0]?.stream !== event.stream)) {
      yield appendOf(run);
      run = [];
      characters = 0;
    }
    run.push(event);
    characters += length;
  }
  if (run.length > 0) yield appendOf(run);
}

function appendOf(events: readonly CopiedEvent[]): Append {
  const [{ stream, revision } = { stream: '', revision: 0 }] = events;
  return { stream, events, expected: revision === 0 ? 'no-stream' : revision - 1 };
}

/** The event as it is now: later changes of the caller's objects must not reach the log. */
function serialised({ id, type, data, metadata }: NewEvent): NewEvent {
  return { id, type, data: copy(data), metadata: copy(metadata) };
}

const copy = (value: object): object => JSON.parse(JSON.stringify(value)) as object;

async function storeAll(blobs: readonly StagedBlob[]): Promise<void> {
  try {
    await atMost(STORED_AT_ONCE, blobs, (blob) => blob.store());
  } catch (error) {
    throw new EventStoreUnavailable('What the events refer to could not be stored.', {
      cause: error,
    });
  }
}

const REFUSED =
  /access.?denied|UNAUTHENTICATED|PERMISSION_DENIED|Unauthorized|HTTP status code 40[13]/i;

/** Texts of the driver's errors, each with a remedy for the operator; the first that fits counts. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|packet length too long/i,
    'does not speak TLS there: add tls=false to EVENT_STORE_URL, or set up its certificate',
  ],
  [
    /certificate|altname|CERT_|unable to verify/i,
    'has a certificate that is not trusted: name its authority by tlsCAFile in EVENT_STORE_URL',
  ],
  [
    REFUSED,
    'refuses to have its log read: give a user and password that may read $all in EVENT_STORE_URL',
  ],
  [
    /UNIMPLEMENTED|HTTP status code|content-type|Protocol error|HTTP2|Parse Error/i,
    'does not answer as an event store: check host and port in EVENT_STORE_URL',
  ],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/i, 'has a name that cannot be resolved'],
  [
    /ECONNRESET|socket hang up|EPIPE|disconnected before secure|Last error: Failed to connect/i,
    'hangs up: check that it is an event store, and that tls in EVENT_STORE_URL is as it needs',
  ],
  [/./s, 'does not answer: start it, or check host and port in EVENT_STORE_URL'],
];

/** One line for the operator: the server, never its password, and the remedy. */
function whyUnusable(to: ConnectionString, error: unknown): string {
  const text = causes(error).join('\n');
  const [, reason] = REASONS.find(([pattern]) => pattern.test(text)) ?? ['', 'cannot be used'];
  return `The event store at ${serversOf(to)} ${reason}.`;
}

/** True where the server answers, and refuses the user and password. */
export const isRefused = (error: unknown): boolean => REFUSED.test(causes(error).join('\n'));

function causes(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  return [`${error.name} ${error.message}`, ...(error.cause ? causes(error.cause) : [])];
}
