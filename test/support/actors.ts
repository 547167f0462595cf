/** Actor systems over real SQLite stores in a test's own directory. */
import { join } from 'node:path';
import type { Test } from 'tap';
import type { CommandContext, Limits } from '../../src/actors/command.ts';
import type { SnapshotCache } from '../../src/actors/snapshots.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import type { AccountCommand } from '../../src/domain/account.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { FaultyStore } from './faulty-store.ts';
import { accountId, blobRef, conversionId, NOW, OPTIONS, REQUEST_HMAC } from './samples.ts';

/** Every actor reads its stream from the beginning. */
export const noSnapshots: SnapshotCache = {
  get: () => undefined,
  put: () => {},
  close: () => {},
};

export interface TestNode {
  readonly store: FaultyStore;
  readonly system: ActorSystem;
}

/** A node with its own connection to the store in `dir`, as another process would have. */
export function startNode(
  t: Test,
  dir: string,
  options: { readonly snapshots?: SnapshotCache; readonly limits?: Partial<Limits> } = {},
): TestNode {
  const database = openEmbeddedDatabase(join(dir, 'store.db'));
  const store = new FaultyStore(new SqliteEventStore(database));
  const { snapshots = noSnapshots, limits = {} } = options;
  const system = new ActorSystem({ store, snapshots, limits });
  t.teardown(async () => {
    await system.close();
    await store.close();
    database.close();
  });
  return { store, system };
}

export function sentBy(commandId: string): CommandContext {
  return {
    commandId,
    metadata: {
      correlationId: commandId,
      causationId: commandId,
      actor: { kind: 'operator' },
      time: NOW,
    },
  };
}

export const OPEN = {
  type: 'OpenAccount',
  accountId: accountId(),
  email: 'sealed address',
  passwordHash: 'sealed hash',
  plan: 'free',
  credits: 10,
} as const satisfies AccountCommand;

export const grant = (amount: number): AccountCommand => ({
  type: 'GrantCredits',
  accountId: accountId(),
  amount,
  now: NOW,
});

export const request = (n: number, idempotencyKey?: string, now = NOW): AccountCommand => ({
  type: 'RequestConversion',
  accountId: accountId(),
  conversionId: conversionId(n),
  source: 'html',
  request: blobRef('request', n),
  requestHmac: REQUEST_HMAC,
  options: OPTIONS,
  now,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
});
