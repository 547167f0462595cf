/** Opens the event store, unless a barrier keeps this process off it. */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import { refuseNewerLog } from '../event-store/codec.ts';
import type { Barrier, CopyableEventStore } from '../event-store/port.ts';
import { SqliteEventStore } from '../event-store/sqlite/store.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../sqlite/database.ts';
import { openEmbeddedReadOnly } from '../sqlite/read-only.ts';
import { isMissing, openDirectory } from './directories.ts';
import { Openings } from './openings.ts';
import { refuseForeignSchema } from './store-schema.ts';
import type { Surroundings } from './stores.ts';

const DATABASE = 'pressledger.db';

/**
 * The store, and the database that it may share with others of the same data directory.
 * @param mode `create`: makes an empty one where there is none; `copy` and `moved`: as `create` and `open`, and also
 * where a barrier keeps services off; `read`: changes nothing on this machine
 */
export async function openEventStore(
  around: StoreSurroundings,
  mode: StoreMode,
): Promise<OpenedEventStore> {
  const opened = await openAnyEventStore(around, mode);
  if (mode !== 'read' && opened.database !== undefined) await refuseNewerLog(opened.store);
  if (mode === 'create' || mode === 'open') await refuseBarrier(opened.store);
  return opened;
}

type StoreSurroundings = Pick<Surroundings, 'logger' | 'openings'> & {
  readonly config: Pick<Config, 'dataDir' | 'eventStoreUrl'>;
};

type StoreMode = 'create' | 'open' | 'copy' | 'moved' | 'read';

export interface OpenedEventStore {
  readonly store: CopyableEventStore;
  /** The file of an embedded one. */
  readonly database?: EmbeddedDatabase;
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

/**
 * Looks at the event store of the settings, and makes nothing.
 * @param look gets undefined if there is no file of that name yet
 */
export async function lookAtEventStore(
  config: StoreSurroundings['config'],
  logger: Surroundings['logger'],
  look: (store: CopyableEventStore | undefined) => Promise<void>,
): Promise<void> {
  const { eventStoreUrl, dataDir } = config;
  if (eventStoreUrl === undefined && isMissing(join(dataDir, DATABASE))) return look(undefined);
  const opened = await Openings.all(async (openings) => {
    const { store } = await openEventStore({ config, logger, openings }, 'read');
    return { store, close: () => openings.close() };
  });
  try {
    await look(opened.store);
  } finally {
    await opened.close();
  }
}

async function openAnyEventStore(
  { config, logger, openings }: StoreSurroundings,
  mode: StoreMode,
): Promise<OpenedEventStore> {
  const { eventStoreUrl, dataDir } = config;
  if (eventStoreUrl !== undefined) {
    const { openKurrentDb } = await import('../event-store/kurrentdb/store.ts');
    const store = await openKurrentDb(eventStoreUrl, { logger });
    openings.add({
      unhealthyReason: async () => {
        const answers = store.head().then(
          () => true,
          () => false,
        );
        return (await answers) ? undefined : 'the event store does not answer';
      },
      close: () => store.close(),
    });
    if (mode !== 'read') openDirectory('DATA_DIR', dataDir);
    return { store };
  }
  const file = join(dataDir, DATABASE);
  if (mode !== 'create' && mode !== 'copy' && isMissing(file)) {
    throw new Error(
      `There is no store in ${dataDir}: set DATA_DIR to the directory of the service, or make ` +
        `one with \`${copyableCommand(dataDir, 'start')}\`.`,
    );
  }
  if (mode !== 'read') openDirectory('DATA_DIR', dataDir);
  const database =
    mode === 'read'
      ? openEmbeddedReadOnly(file)
      : openEmbeddedDatabase(file, { checkSchema: refuseForeignSchema });
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
  return { store, database };
}
