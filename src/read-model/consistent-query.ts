import type { Database } from 'better-sqlite3';
import { ServiceError } from '../errors/errors.ts';
import type { EventStore } from '../event-store/port.ts';
import type { ReadModel } from './database.ts';
import type { ProjectionRunner } from './runner.ts';

export interface ReadDependencies {
  readonly store: Pick<EventStore, 'head'>;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
}

const CATCH_UP_MS = 10_000;
const RETRY_SECONDS = 2;

/**
 * Queries that see every event stored before this call, whichever node accepted it; or, given the
 * log's head as it was since the request came, every event up to there. Use them before the next
 * `await`.
 * @throws {ServiceError} `service_unavailable` where the read model does not catch up
 */
export async function consistentQuery<Q>(
  { store, readModel, runner }: ReadDependencies,
  factory: (db: Database) => Q,
  asOf?: bigint,
): Promise<Q> {
  const head = asOf ?? (await store.head());
  let patience: AbortSignal | undefined;
  for (;;) {
    // The order matters: `query` may go over to another generation, which has not reached as far.
    const queries = readModel.query(factory);
    if (readModel.reached() >= head) return queries;
    patience ??= AbortSignal.timeout(CATCH_UP_MS);
    try {
      await runner.waitFor(head, patience);
    } catch (cause) {
      throw new ServiceError('service_unavailable', undefined, {
        retryAfter: RETRY_SECONDS,
        cause,
      });
    }
  }
}
