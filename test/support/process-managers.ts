/**
 * What process managers work on: the real store, actors, read model, blobs and queue of a data directory,
 * once for each node. No renderer: a test takes the jobs and reports itself.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Test } from 'tap';
import { allProjections } from '../../projections/all.ts';
import { operatorContext } from '../../src/actors/command-context.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import type { Stoppable } from '../../src/async/stoppable.ts';
import { requestConversion } from '../../src/conversions/request-conversion.ts';
import { contentBytes } from '../../src/documents/cipher.ts';
import { EmbeddedBlobStore } from '../../src/documents/embedded.ts';
import { UnencryptedText } from '../../src/documents/encryption.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { createVault } from '../../src/documents/keys/vault.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { conversionStream } from '../../src/domain/conversion.ts';
import type { RequestMarks } from '../../src/domain/event-fields.ts';
import type { EventOf } from '../../src/domain/events.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { BUDGETS, type BudgetLimits, Budgets } from '../../src/limits/budgets.ts';
import { ReadModel } from '../../src/read-model/database.ts';
import { ProjectionRunner } from '../../src/read-model/runner.ts';
import { InProcessRenderQueue } from '../../src/render-queue/in-process.ts';
import type {
  CompletedOutcome,
  FailedOutcome,
  RenderStart,
} from '../../src/render-queue/messages.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { noSnapshots, OPEN } from './actors.ts';
import { eventually } from './deadline.ts';
import { FaultyStore } from './faulty-store.ts';
import { type LogEvent, readLog } from './invariants.ts';
import { makingKeys } from './keyring.ts';
import { silent } from './renderer.ts';
import { accountId, NOW, OPTIONS, PDF, TIMINGS } from './samples.ts';
import { storePdf } from './stored-pdf.ts';

export type ManagedNode = Awaited<ReturnType<typeof openNode>>;
export type ManagedPlace = ReturnType<typeof openManagedPlace>;

/** A data directory, whose nodes are closed and whose files are removed with the test. */
export function openManagedPlace(t: Test) {
  const dataDir = mkdtempSync(join(tmpdir(), 'pressledger-managed-'));
  const clock = {
    time: NOW,
    now() {
      return this.time;
    },
  };
  const nodes: ManagedNode[] = [];
  t.teardown(async () => {
    for (const node of nodes) await node.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const log = (...types: readonly string[]): LogEvent[] =>
    readLog(dataDir).filter(({ type }) => types.length === 0 || types.includes(type));
  return {
    dataDir,
    clock,
    /** A process on the directory; its read model is its own. */
    node: async (name = 'node') => {
      const node = await openNode(dataDir, name, clock);
      nodes.push(node);
      return node;
    },
    /** The keys of all blobs that the database holds, in order. */
    storedKeys: (): string[] => {
      const db = new Sqlite(join(dataDir, 'pressledger.db'), { readonly: true });
      try {
        return db.prepare<[], string>('SELECT key FROM blobs ORDER BY key').pluck().all();
      } finally {
        db.close();
      }
    },
    forgetReadModel: (name = 'node') => rmSync(join(dataDir, name), { recursive: true }),
    /** The events of these types (all where none is named), in order. */
    log,
    /** Waits until there are so many events of the type. */
    logged: (type: string, count: number): Promise<LogEvent[]> =>
      eventually(`${count} ${type}`, () =>
        countOf(dataDir, type) >= count ? log(type) : undefined,
      ),
  };
}

/** Where the manifest of a completed conversion lies, by its event. */
export async function manifestOf(store: Pick<EventStore, 'readStream'>, id: string) {
  const events = await store.readStream(conversionStream(id));
  const completion = events.find(({ type }) => type === 'ConversionCompleted');
  if (completion === undefined) throw new Error(`${id} is not completed.`);
  return (completion.data as EventOf<'ConversionCompleted'>['data']).manifest;
}

function countOf(dataDir: string, type: string): number {
  const db = new Sqlite(join(dataDir, 'pressledger.db'), { readonly: true });
  try {
    const count = db.prepare<[string], number>('SELECT count(*) FROM events WHERE type = ?');
    return count.pluck().get(type) ?? 0;
  } finally {
    db.close();
  }
}

/** The ids of the conversions that events speak of. */
export const conversionsOf = (events: readonly LogEvent[]): string[] =>
  events.map(({ data }) => (JSON.parse(data) as { conversionId: string }).conversionId);

export const DEFAULT_LIMITS = Object.fromEntries(
  Object.entries(BUDGETS).map(([key, setting]) => [key, setting.default]),
) as BudgetLimits;

async function openNode(dataDir: string, name: string, clock: { now(): number }) {
  const database = openEmbeddedDatabase(join(dataDir, 'pressledger.db'));
  const store = new FaultyStore(new SqliteEventStore(database));
  const blobs = new EmbeddedBlobStore(database, await FileBlobStore.open(join(dataDir, 'blobs')));
  const keyring = makingKeys(fileKeyring(join(dataDir, 'keyring'), Buffer.alloc(32, 7)));
  const vault = createVault(keyring);
  const actors = new ActorSystem({ store, snapshots: noSnapshots });
  const readModel = new ReadModel({
    directory: join(dataDir, name),
    projections: allProjections,
  });
  const runner = new ProjectionRunner({ store, readModel });
  runner.start();
  const queue = new InProcessRenderQueue();
  /** A test may turn credits off. */
  const config: { credits: 'on' | 'off' } = { credits: 'on' };
  const managers: Stoppable[] = [];
  const context = () => operatorContext(clock);
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await Promise.all(managers.map((manager) => manager.stop()));
    await queue.close();
    await actors.close();
    await runner.stop();
    readModel.close();
    await store.close();
    database.close();
  };

  return {
    clock,
    logger: silent,
    store,
    blobs,
    keyring,
    vault,
    config,
    budgets: new Budgets(DEFAULT_LIMITS),
    actors,
    readModel,
    runner,
    queue,
    /** Stops the manager with the node. */
    run<Manager extends Stoppable>(manager: Manager): Manager {
      managers.push(manager);
      return manager;
    },
    caughtUp: async () => runner.waitFor(await store.head()),
    openAccount: async (n = 1, credits = 1000) => {
      const open = { ...OPEN, accountId: accountId(n), credits };
      await actors.send(accountAggregate, accountId(n), open, context());
    },
    /** Accepts a conversion of the account. @returns its id */
    request: async (n = 1, html = '<p>one</p>', marks: RequestMarks = {}): Promise<string> => {
      const { conversionId } = await requestConversion(
        { actors, blobs, vault, config },
        {
          accountId: accountId(n),
          source: 'html',
          options: OPTIONS,
          marks,
          document: new UnencryptedText(JSON.stringify({ html })),
        },
        context(),
      );
      return conversionId;
    },
    /** Stores what a renderer would. */
    storeDocument: async (conversionId: string, n = 1) => {
      const contentKey = await vault.contentKey(accountId(n), conversionId);
      const content = Buffer.from(`%PDF-1.7 of ${conversionId}`);
      const owner = { conversionId, contentKey };
      return (await storePdf(blobs, owner, content, join(dataDir, 'tmp'))).document;
    },
    storePicture: async (conversionId: string, n = 1) => {
      const contentKey = await vault.contentKey(accountId(n), conversionId);
      const owner = { conversionId, contentKey };
      const staged = new UnencryptedText(Buffer.from('a picture')).stage(blobs, owner, 'picture');
      await staged.store();
      return staged.ref;
    },
    close: (): Promise<void> => (closing ??= end()),
  };
}

interface About {
  readonly conversionId: string;
  readonly attempt: number;
  readonly accountId?: string;
}

const about = ({ conversionId, attempt, accountId: account = accountId() }: About) => ({
  conversionId,
  accountId: account,
  delivery: `${attempt}`,
  renderer: 'test',
  at: NOW,
});

export const started = (job: About): RenderStart => ({ ...about(job), kind: 'started' });

export const failed = (job: About): FailedOutcome => ({
  ...about(job),
  kind: 'failed',
  attempt: job.attempt,
  code: 'timeout',
  message: 'The page took too long.',
  retryable: false,
});

export const completed = (
  job: About,
  document: CompletedOutcome['document'],
): CompletedOutcome => ({
  ...about(job),
  kind: 'completed',
  attempt: job.attempt,
  document,
  pdf: { ...PDF, bytes: contentBytes(document.bytes) ?? 0 },
  pages: 1,
  timings: TIMINGS,
  chrome: 'Chrome/156.0',
  manifest: '{"version":1}',
});
