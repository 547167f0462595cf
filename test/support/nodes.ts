/**
 * API nodes and renderer nodes as processes of their own, over a real nats-server: on the embedded store,
 * whose API nodes share a data directory, with blobs and keys in a folder, or on an event-store server with
 * blobs and keys in S3. Each renderer has a data directory of its own.
 */
import type { Test } from 'tap';
import type { S3Location } from '../../src/documents/s3-location.ts';
import { BreakableWire } from './breakable-wire.ts';
import { type EventStoreProcess, startEventStore } from './event-store-process.ts';
import {
  emptyLogUrl,
  needsEventStoreServer,
  readServerLog,
  serverPlace,
} from './event-store-server.ts';
import { type LogEvent, readLog } from './invariants.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';
import { createPlace, LAUNCHER, type Place } from './place.ts';
import { type S3Server, s3Credentials, startS3Server } from './s3-server.ts';
import { type Ended, RendererProcess, Service } from './service.ts';

type Settings = Readonly<Record<string, string>>;

/** Where the log and the documents are. */
export interface Stores {
  readonly settings: Settings;
  /** Between every node and the event-store server, where there is one. */
  readonly storeWire?: BreakableWire;
  /** That server, where it may be killed. */
  readonly eventStore?: EventStoreProcess | undefined;
  /** Where documents and keys lie, where that is a server. */
  readonly s3?: S3Server;
}

export interface Kind {
  readonly name: string;
  /** Of tap: why it does not run here. */
  readonly options: { readonly skip?: string };
  /** @param folder one that all nodes share */
  readonly open: (t: Pick<Test, 'teardown'>, folder: string) => Promise<Stores>;
  /** Whether API nodes share one data directory. */
  readonly shared: boolean;
}

const MANY = '1000000';
const KEY = '0123456789abcdef'.repeat(4);

/** Documents and keys in S3. */
export async function onS3(t: Pick<Test, 'teardown'>): Promise<Stores & { readonly s3: S3Server }> {
  const s3 = await startS3Server(t);
  const settings = {
    BLOB_STORE_URL: s3Url(s3.location),
    AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
    MASTER_KEY: KEY,
  };
  return { settings, s3 };
}

export const KINDS: readonly Kind[] = [
  {
    name: 'on the embedded store',
    options: {},
    open: async (_, folder) => ({
      settings: { BLOB_STORE_URL: `file:${folder}`, MASTER_KEY: KEY },
    }),
    shared: true,
  },
  {
    name: 'on an event-store server and S3',
    options: needsEventStoreServer,
    shared: false,
    open: async (t) => {
      const { settings, s3 } = await onS3(t);
      const eventStore = await startEventStore(t);
      const storeWire = await startWire(t, serverPlace());
      const url = emptyLogUrl(undefined, storeWire.place);
      return { settings: { ...settings, EVENT_STORE_URL: url }, storeWire, eventStore, s3 };
    },
  },
];

/** A connection to a server that can be broken. */
export async function startWire(
  t: Pick<Test, 'teardown'>,
  to: { readonly host: string; readonly port: number },
): Promise<BreakableWire> {
  const wire = new BreakableWire(to);
  await wire.open();
  t.teardown(() => wire.close());
  return wire;
}

export const s3Url = ({ bucket, prefix, region, endpoint }: S3Location): string =>
  `s3://${bucket}/${prefix}?region=${region}&endpoint=${endpoint}&path_style=true`;

/** What a renderer must not be given. */
const NOT_FOR_RENDERERS: ReadonlySet<string> = new Set(['EVENT_STORE_URL', 'MASTER_KEY']);

export class Nodes {
  readonly nats: NatsServer;
  /** Between every node and NATS. */
  readonly natsWire: BreakableWire;
  readonly storeWire: BreakableWire | undefined;
  readonly eventStore: EventStoreProcess | undefined;
  readonly s3: S3Server | undefined;
  readonly #t: Pick<Test, 'teardown'>;
  readonly #kind: Kind;
  readonly #settings: Settings;
  readonly #first: Place;

  static async start(
    t: Pick<Test, 'teardown'>,
    kind: Kind,
    settings: Settings = {},
  ): Promise<Nodes> {
    const nats = await startNatsServer(t);
    const natsWire = await startWire(t, { host: '127.0.0.1', port: nats.port });
    const stores = await kind.open(t, createPlace(t).dataDir);
    const { storeWire, eventStore, s3 } = stores;
    const parts = { nats, natsWire, storeWire, eventStore, s3 };
    return new Nodes(t, kind, parts, {
      FREE_CREDITS: MANY,
      RATE_LIMIT_PRO: MANY,
      RATE_LIMIT_ANONYMOUS: MANY,
      NATS_URL: `nats://${natsWire.place}`,
      ...stores.settings,
      ...settings,
    });
  }

  private constructor(
    t: Pick<Test, 'teardown'>,
    kind: Kind,
    parts: Pick<Nodes, 'nats' | 'natsWire' | 'storeWire' | 'eventStore' | 's3'>,
    settings: Settings,
  ) {
    this.#t = t;
    this.#kind = kind;
    this.#settings = settings;
    this.nats = parts.nats;
    this.natsWire = parts.natsWire;
    this.storeWire = parts.storeWire;
    this.eventStore = parts.eventStore;
    this.s3 = parts.s3;
    this.#first = createPlace(t, this.#settings);
  }

  /** An API node that is ready; or the API and a renderer in one process. */
  async api(settings: Settings = {}, role: 'api' | 'start' = 'api'): Promise<Service> {
    const node = new Service(this.#place(settings), [LAUNCHER, role]);
    this.#t.teardown(() => node.kill());
    await node.start();
    return node;
  }

  /** A renderer node that is ready. */
  async renderer(settings: Settings = {}): Promise<RendererProcess> {
    const { env, ...place } = createPlace(this.#t, { ...this.#settings, ...settings });
    const own = Object.entries(env).filter(
      ([name]) => name in settings || !NOT_FOR_RENDERERS.has(name),
    );
    const node = new RendererProcess({ ...place, env: Object.fromEntries(own) });
    this.#t.teardown(() => node.kill());
    await node.start();
    return node;
  }

  /** A role that is expected to give up at its start. */
  async inVain(
    role: 'start' | 'api' | 'renderer',
    settings: Settings,
  ): Promise<{ readonly ended: Ended; readonly stderr: string }> {
    const node = new Service(this.#place(settings), [LAUNCHER, role]);
    const ended = await node.startInVain();
    return { ended, stderr: node.output.stderr };
  }

  /** Where the operator's commands work. */
  get place(): Place {
    return this.#first;
  }

  /** Every event, in the order of the log, its positions counted from 1. */
  async log(): Promise<LogEvent[]> {
    const { EVENT_STORE_URL: url } = this.#settings;
    return url === undefined ? readLog(this.#first.dataDir) : await readServerLog(url);
  }

  #place(settings: Settings): Place {
    if (!this.#kind.shared) return createPlace(this.#t, { ...this.#settings, ...settings });
    // Chrome's own files lie apart, so that each node's can be looked for.
    const { tmpDir, env } = createPlace(this.#t);
    const { dataDir } = this.#first;
    const shared = { DATA_DIR: dataDir, TMPDIR: tmpDir };
    return { dataDir, tmpDir, env: { ...env, ...this.#settings, ...settings, ...shared } };
  }
}
