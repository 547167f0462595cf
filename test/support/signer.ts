/** A node that signs checkpoints of a log, with its own file of the last one. */
import { hash, type KeyObject } from 'node:crypto';
import type { Test } from 'tap';
import { ActorSystem } from '../../src/actors/system.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { CheckpointSigner, type SignerDependencies } from '../../src/log/checkpoint-signer.ts';
import { LogGuard } from '../../src/log/log-guard.ts';
import type { TransparencyLogDependencies } from '../../src/log/transparency-log.ts';
import { openLastCheckpoint } from '../../src/service/log.ts';
import { ed25519Key } from '../../src/transparency-log/signed-note.ts';
import { noSnapshots } from './actors.ts';
import type { Node } from './projected.ts';
import { NOW } from './samples.ts';

export const signingKey = (generation: number): KeyObject =>
  ed25519Key(hash('sha256', `test key ${generation}`, 'buffer'));

export type SigningNode = TransparencyLogDependencies & {
  readonly signer: CheckpointSigner;
  readonly guard: LogGuard;
  readonly actors: ActorSystem;
  readonly store: EventStore;
};

/** @param dataDir keeps the last checkpoint */
export function openSigner(
  t: Test,
  { store, readModel, runner }: Node & { readonly store: EventStore },
  dataDir: string,
  changes: Partial<SignerDependencies> = {},
): SigningNode {
  const actors = new ActorSystem({ store, snapshots: noSnapshots });
  t.teardown(() => actors.close());
  const { guard = new LogGuard(openLastCheckpoint(dataDir)) } = changes;
  const signer = new CheckpointSigner({
    actors,
    store,
    readModel,
    runner,
    signingKey,
    clock: { now: () => NOW },
    guard,
    logName: undefined,
    pauseMs: 0,
    ...changes,
  });
  return { signer, guard, actors, store, streams: store, readModel, runner };
}
