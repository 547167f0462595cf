/**
 * What process managers work on: the real store, actors, read model, blobs and queue of a data directory,
 * once for each node. No renderer: a test takes the jobs and reports itself.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Test } from 'tap';
import { allProjections } from '../../projections/all.ts';
import { noSnapshots } from '../../src/actors/snapshots.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { accountActor } from '../../src/application/kinds.ts';
import { operatorContext } from '../../src/application/operator.ts';
import { requestConversion } from '../../src/application/request-conversion.ts';
import { EmbeddedBlobStore } from '../../src/blob-store/embedded.ts';
import { FileBlobStore } from '../../src/blob-store/files.ts';
import { type BudgetLimits, BUDGETS, Budgets } from '../../src/budgets.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { FileKeyring } from '../../src/keyring/file.ts';
import { createVault } from '../../src/keyring/vault.ts';
import { openReadModel } from '../../src/read-model/database.ts';
import { ProjectionRunner } from '../../src/read-model/runner.ts';
import { InProcessRenderQueue } from '../../src/render-queue/in-process.ts';
import type {
  CompletedReport,
  FailedReport,
  RenderJob,
  StartedReport,
} from '../../src/render-queue/messages.ts';
import { OPEN } from './actors.ts';
import { eventually } from './deadline.ts';
import { FaultyStore } from './faulty-store.ts';
import { type LogEvent, readLog } from './invariants.ts';
import { silent } from './renderer.ts';
import { accountId, NOW, OPTIONS, TIMINGS } from './samples.ts';

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

const DEFAULT_LIMITS = Object.fromEntries(
  Object.entries(BUDGETS).map(([key, setting]) => [key, setting.default]),
) as BudgetLimits;

async function openNode(dataDir: string, name: string, clock: { now(): number }) {
  const database = openEmbeddedDatabase(join(dataDir, 'pressledger.db'));
  const store = new FaultyStore(new SqliteEventStore(database));
  const blobs = new EmbeddedBlobStore(database, await FileBlobStore.open(join(dataDir, 'blobs')));
  const vault = createVault(new FileKeyring(join(dataDir, 'keyring'), Buffer.alloc(32, 7)));
  const actors = new ActorSystem({ store, snapshots: noSnapshots });
  const readModel = openReadModel({
    directory: join(dataDir, name),
    projections: allProjections,
  });
  const runner = new ProjectionRunner({ store, readModel });
  runner.start();
  const queue = new InProcessRenderQueue();
  const managers: { stop(): Promise<void> }[] = [];
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
    vault,
    budgets: new Budgets(DEFAULT_LIMITS),
    actors,
    readModel,
    runner,
    queue,
    /** Stops the manager with the node. */
    run<Manager extends { stop(): Promise<void> }>(manager: Manager): Manager {
      managers.push(manager);
      return manager;
    },
    caughtUp: async () => runner.waitFor(await store.head()),
    openAccount: async (n = 1, credits = 1000) => {
      const open = { ...OPEN, accountId: accountId(n), credits };
      await actors.send(accountActor, accountId(n), open, context());
    },
    /** Accepts a conversion of the account. @returns its id */
    request: async (n = 1, html = '<p>one</p>'): Promise<string> => {
      const { conversionId } = await requestConversion(
        { actors, blobs },
        {
          accountId: accountId(n),
          source: 'html',
          options: OPTIONS,
          document: Buffer.from(JSON.stringify({ html })),
        },
        context(),
      );
      return conversionId;
    },
    /** Stores what a renderer would. */
    storeDocument: async (conversionId: string) => {
      const content = Buffer.from(`%PDF-1.7 of ${conversionId}`);
      const path = join(dataDir, 'tmp', `${conversionId}.pdf`);
      mkdirSync(join(dataDir, 'tmp'), { recursive: true });
      writeFileSync(path, content);
      const sha256 = createHash('sha256').update(content).digest('hex');
      return blobs.adopt(conversionId, 'document', { path, sha256, bytes: content.length });
    },
    close: (): Promise<void> => (closing ??= end()),
  };
}

type About = Pick<RenderJob, 'conversionId' | 'attempt'> & { readonly accountId?: string };

const about = ({ conversionId, attempt, accountId: account = accountId() }: About) => ({
  conversionId,
  accountId: account,
  attempt,
  renderer: 'test',
  at: NOW,
});

export const started = (job: About): StartedReport => ({ ...about(job), kind: 'started' });

export const failed = (job: About): FailedReport => ({
  ...about(job),
  kind: 'failed',
  code: 'timeout',
  message: 'The page took too long.',
});

export const completed = (job: About, document: CompletedReport['document']): CompletedReport => ({
  ...about(job),
  kind: 'completed',
  document,
  pages: 1,
  timings: TIMINGS,
  chrome: 'Chrome/156.0',
  manifest: '{"version":1}',
});
