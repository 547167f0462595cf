/** Opens the event store of the settings. */
import { join } from 'node:path';
import { ActorSystem } from '../actors/system.ts';
import type { Config } from '../config/config.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import { refuseNewerLog } from '../event-store/codec.ts';
import type { Barrier, CopyableEventStore, EventStore } from '../event-store/port.ts';
import { forwardOnly } from '../event-store/forward-only.ts';
import { SqliteEventStore } from '../event-store/sqlite/store.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../sqlite/database.ts';
import { openEmbeddedReadOnly } from '../sqlite/read-only.ts';
import { isMissing, openDirectory } from './directories.ts';
import type { Surroundings } from './open.ts';
import { refuseForeignSchema } from './store-schema.ts';

const DATABASE = 'pressledger.db';

/** What an opening of the event store may do. Without any it changes nothing on this machine, and refuses nothing. */
export interface StoreMode {
  /** Makes an empty one where there is none. */
  readonly create?: true;
  /** Allows appends. */
  readonly write?: true;
  /** Refuses a log that no service of this release may work on: behind a barrier, newer, or with a foreign schema. */
  readonly serve?: true;
}

type StoreSurroundings = Pick<Surroundings, 'logger' | 'openings'> & {
  readonly config: Pick<Config, 'dataDir' | 'eventStoreUrl'>;
};

export interface OpenedEventStore {
  readonly store: CopyableEventStore;
  /** The file of an embedded one, which it may share with others of the same data directory. */
  readonly database?: EmbeddedDatabase;
}

/** @throws {Error} one line that names the file, server or setting and the remedy */
export async function openEventStore(
  around: StoreSurroundings,
  mode: StoreMode,
): Promise<OpenedEventStore> {
  const opened = await openAnyEventStore(around, mode);
  const { store, database } = opened;
  if (database !== undefined && (mode.write || mode.serve)) {
    if (!mode.write) refuseForeignSchema(database.db);
    await refuseNewerLog(store);
  }
  if (mode.serve) await refuseBarrier(store);
  return opened;
}

/** The actors on a store, beside no service. */
export function openActors(
  { logger, openings }: StoreSurroundings,
  store: EventStore,
): ActorSystem {
  const actors = new ActorSystem({ store, log: logger });
  openings.add({ close: () => actors.close() });
  return actors;
}

/** @throws {ForeignSchema} it cannot be read, because its tables are others */
function storeIn(database: EmbeddedDatabase): SqliteEventStore {
  try {
    return new SqliteEventStore(database);
  } catch (error) {
    try {
      refuseForeignSchema(database.db);
    } finally {
      database.close();
    }
    throw error;
  }
}

/** @throws {Error} one line: no service may work on this log */
export async function refuseBarrier(store: CopyableEventStore): Promise<void> {
  const barrier = await store.barrier();
  if (barrier === undefined) return;
  throw new Error(refusal(barrier));
}

function refusal({ kind, subject }: Barrier): string {
  switch (kind) {
    case 'moved':
      return (
        `This log was moved to ${subject} and goes on there: start with the settings of that place. (Before anything ` +
        "was started there, 'pressledger move' with the options of the move and --cancel takes it back.)"
      );
    case 'moving':
      return (
        `This log is being moved to ${subject}: repeat the command that moves it until it ends, or take the move back ` +
        'with the same options and --cancel.'
      );
    case 'incomplete':
      return (
        `The event store holds a copy of ${subject} that is not complete: repeat the command that made it ` +
        "('pressledger log import', 'pressledger restore' or 'pressledger move') until it ends."
      );
  }
}

/** True if the settings name no server, and there is no file of a store yet. */
export const lacksEventStore = ({ eventStoreUrl, dataDir }: StoreSurroundings['config']): boolean =>
  eventStoreUrl === undefined && isMissing(join(dataDir, DATABASE));

async function openAnyEventStore(
  { config, logger, openings }: StoreSurroundings,
  { create, write }: StoreMode,
): Promise<OpenedEventStore> {
  const { eventStoreUrl, dataDir } = config;
  if (eventStoreUrl !== undefined) {
    const { isRefused, openKurrentDb } = await import('../event-store/kurrentdb/store.ts');
    const store = await openKurrentDb(eventStoreUrl, { logger });
    openings.add({
      unhealthyReason: () =>
        store.head().then(
          () => undefined,
          (error: unknown) =>
            isRefused(error)
              ? 'the event store refuses the user and password of EVENT_STORE_URL'
              : 'the event store does not answer',
        ),
      close: () => store.close(),
    });
    if (write) openDirectory('DATA_DIR', dataDir);
    return { store: forwardOnly(store) };
  }
  const file = join(dataDir, DATABASE);
  if (!create && isMissing(file)) {
    throw new Error(
      `There is no store in ${dataDir}: set DATA_DIR to the directory of the service, or make ` +
        `one with \`${copyableCommand(dataDir, 'start')}\`.`,
    );
  }
  if (write) openDirectory('DATA_DIR', dataDir);
  const database = write
    ? openEmbeddedDatabase(file, { checkSchema: refuseForeignSchema })
    : openEmbeddedReadOnly(file);
  const store = storeIn(database);
  openings.add({
    unhealthyReason: async () => {
      const failure = database.failure();
      return failure === undefined ? undefined : `the event store takes no writes: ${failure}`;
    },
    close: async () => {
      await store.close();
      database.close();
    },
  });
  return { store: forwardOnly(store), database };
}
