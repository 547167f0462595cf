/**
 * A node that appends and signs until it is killed: `node signing-process.ts STORE DATA_DIR`. It says
 * `signed` after its first checkpoint.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { allProjections } from '../../projections/all.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { CheckpointSigner } from '../../src/log/checkpoint-signer.ts';
import { LogGuard } from '../../src/log/log-guard.ts';
import { ReadModel } from '../../src/read-model/database.ts';
import { ProjectionRunner } from '../../src/read-model/runner.ts';
import { openLastCheckpoint } from '../../src/service/log.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { noSnapshots } from './actors.ts';
import { appendNext, newEvents } from './events.ts';
import { signingKey } from './signer.ts';

const [storePath = '', dataDir = ''] = process.argv.slice(2);
const store = new SqliteEventStore(openEmbeddedDatabase(storePath));
const readModel = new ReadModel({
  directory: join(dataDir, 'read-model'),
  projections: allProjections,
});
const runner = new ProjectionRunner({ store, readModel });
runner.start();
const signer = new CheckpointSigner({
  actors: new ActorSystem({ store, snapshots: noSnapshots }),
  store,
  readModel,
  runner,
  signingKey,
  clock: { now: () => Date.now() },
  guard: new LogGuard(openLastCheckpoint(dataDir)),
  logName: undefined,
  pauseMs: 0,
});
await signer.checkLog();
for (let signed = 0; ; signed += 1) {
  await appendNext(store, `of ${process.pid}`, newEvents(randomInt(1, 4)));
  await signer.sign();
  if (signed === 0) process.stdout.write('signed\n');
}
