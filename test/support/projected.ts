/** A log and a read model over it, in directories of their own. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { allProjections } from '../../projections/all.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { ReadModel } from '../../src/read-model/database.ts';
import type { Projection } from '../../src/read-model/projection.ts';
import { ProjectionRunner } from '../../src/read-model/runner.ts';
import { openLog, type TestLog } from './log.ts';

export interface Projected {
  readonly log: TestLog;
  readonly directory: string;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
}

export interface Node {
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
}

/** A node's read model in that directory, and what keeps it up with the store. Not started. */
export function openNode(
  t: Test,
  directory: string,
  store: EventStore,
  projections: readonly Projection[] = allProjections,
): Node {
  const readModel = new ReadModel({ directory, projections });
  const runner = new ProjectionRunner({ store, readModel });
  t.teardown(async () => {
    await runner.stop();
    readModel.close();
  });
  return { readModel, runner };
}

export function openProjected(t: Test, projections?: readonly Projection[]): Projected {
  const log = openLog(t);
  const directory = join(log.directory, 'read-model');
  return { log, directory, ...openNode(t, directory, log.store, projections) };
}
