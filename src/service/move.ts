/** Opens both places of a move: the one of the settings, and the one that it goes to. */
import { join } from 'node:path';
import type { MoveParts } from '../archive/move.ts';
import { checkNewStore, refuseOtherPlace } from '../archive/move-marks.ts';
import type { Config } from '../config/config.ts';
import { namingOptions } from '../config/move-settings.ts';
import { createDurably } from '../documents/durable-file.ts';
import { MOVED_RECORD } from '../documents/keys/identity.ts';
import { findMasterKey, fingerprintOf, loadMasterKey } from '../documents/keys/master-key.ts';
import type { KeyRecords } from '../documents/keys/port.ts';
import { findKeyring } from '../documents/keys/records.ts';
import { parseConnectionString, serversOf } from '../event-store/kurrentdb/connection-string.ts';
import { FileLease } from '../leader/file-lease.ts';
import { parseNatsUrl } from '../nats/address.ts';
import type { Logger } from '../observe/log.ts';
import { openBlobs } from './blobs.ts';
import { lacksEventStore, openEventStore } from './event-store.ts';
import { findKeyRecords } from './keyring.ts';
import { openLastCheckpoint } from './log.ts';
import { type Openings, open, type Surroundings, surroundings, whileOpen } from './open.ts';

export interface OpenedMove extends MoveParts {
  /** The file of the master key that MASTER_KEY must be set to in the new place, where it was not set before. */
  readonly masterKeyFile?: string;
  /** The settings that say where the new place is; an empty one is not set there. */
  readonly settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface MoveKind {
  readonly ahead: boolean;
  readonly cancels: boolean;
}

/**
 * @param options `ahead`: also while a service runs on the old place; `cancels`: to take the move back
 * @throws {Error} one line that names the file, server or setting and the remedy
 */
export async function openMove(
  source: Config,
  target: Config,
  logger: Logger,
  { ahead, cancels, given }: MoveKind & { readonly given: readonly string[] },
): Promise<OpenedMove> {
  if (target.blobStoreUrl?.kind === 'nats' && target.natsUrl === undefined) {
    throw new Error('--to-blobs is nats:, so --to-nats is needed.');
  }
  const places = placesOf(source, target);
  if (!places.events && !places.documents) {
    throw new Error(
      'Nothing would be moved: --to-event-store, --to-blobs and --to-data-dir name what the settings name.',
    );
  }
  return await open(source, logger, 'documents', async (from) => {
    const { openings } = from;
    const { store, database } = await openEventStore(from, { write: true });
    if (!ahead && database) {
      const remedy = 'stop it for the last step of the move, or give --ahead to copy while it runs';
      await keepServicesOff(source.dataDir, openings, remedy);
    }
    const masterKey = masterKeyOf(source);
    const sourceKeys = places.keys ? await recordsOf(from, masterKey, 'source') : undefined;
    const old = { store, keys: sourceKeys, movedRecord: MOVED_RECORD };
    await refuseOtherPlace(old, places.all, cancels);
    const sourceBlobs = places.documents && (await openBlobs(from, 'reader', database));
    const [targetStore, targetBlobs, targetKeys] = await namingOptions(given, async () => {
      if (places.events) {
        if (lacksEventStore(target)) await checkNewStore(store, undefined, cancels);
        else {
          await whileOpen(target, logger, undefined, async (there) =>
            checkNewStore(store, (await openEventStore(there, {})).store, cancels),
          );
        }
      }
      const to = await surroundings(target, logger, openings, 'documents');
      const opened = places.events
        ? await openEventStore(to, { create: true, write: true })
        : { store, database };
      if (!ahead && places.events && opened.database) {
        await keepServicesOff(target.dataDir, openings, 'stop it, then repeat the command');
      }
      return [
        opened.store,
        places.documents && (await openBlobs(to, 'api', opened.database)),
        places.keys && (await recordsOf(to, masterKey, 'target')),
      ] as const;
    });
    return {
      store,
      ...(places.events && { events: { from: store, to: targetStore, place: places.events } }),
      ...(sourceBlobs &&
        targetBlobs &&
        places.documents && {
          documents: { from: sourceBlobs, to: targetBlobs, place: places.documents },
        }),
      ...(sourceKeys &&
        targetKeys &&
        places.keys && { keys: { from: sourceKeys, to: targetKeys, place: places.keys } }),
      place: places.all,
      settings: settingsOf(target),
      oldDataDir: source.dataDir,
      dataDir: target.dataDir,
      movedRecord: MOVED_RECORD,
      keepCheckpoint: async (note) => {
        if (target.dataDir !== source.dataDir) await openLastCheckpoint(target.dataDir).write(note);
      },
      retentionMs: source.retentionSeconds * 1000,
      ...masterKeyFileOf(source, target, masterKey),
    };
  });
}

/** The new places of what is moved, in the operator's words and without passwords; of what stays nothing. */
function placesOf(source: Config, target: Config) {
  const differing = (of: (config: Config) => string): string | undefined =>
    of(source) === of(target) ? undefined : of(target);
  const events = differing(eventPlace);
  // Small documents are rows of the embedded event store.
  const documents = differing((config) => `${blobPlace(config)}${rowPlace(config)}`)
    ? blobPlace(target)
    : undefined;
  return { events, documents, keys: differing(blobPlace), all: inWords(target, events, documents) };
}

/** Names all of the new place. The marks of a move have this text, and a later call is compared with it. */
function inWords(target: Config, events?: string, documents?: string): string {
  const isOneDirectory = target.eventStoreUrl === undefined && target.blobStoreUrl === undefined;
  if (events && documents && isOneDirectory) return `SQLite and files in ${target.dataDir}`;
  if (events && documents) return `${events}, with documents and keys in ${documents}`;
  return events ?? documents ?? '';
}

/** The settings that say where a place is. */
function settingsOf({ eventStoreUrl, blobStoreUrl: place, natsUrl, dataDir }: Config) {
  return {
    EVENT_STORE_URL: eventStoreUrl ?? '',
    BLOB_STORE_URL: place === undefined ? '' : urlOf(place),
    // Elsewhere no command that reads the log or its documents needs it.
    ...(place?.kind === 'nats' && { NATS_URL: natsUrl ?? '' }),
    DATA_DIR: dataDir,
  };
}

function urlOf(place: NonNullable<Config['blobStoreUrl']>): string {
  switch (place.kind) {
    case 'folder':
      return `file:${place.path}`;
    case 's3':
      return place.url;
    case 'nats':
      return 'nats:';
  }
}

const eventPlace = ({ eventStoreUrl, dataDir }: Config): string => {
  if (eventStoreUrl === undefined) return `SQLite in ${dataDir}`;
  const to = parseConnectionString(eventStoreUrl);
  const namespace = to.namespace === '' ? '' : `, namespace ${to.namespace}`;
  return `the event store at ${serversOf(to)}${namespace}`;
};

const rowPlace = ({ eventStoreUrl, blobStoreUrl, dataDir }: Config): string =>
  eventStoreUrl === undefined && blobStoreUrl === undefined ? `, rows in ${dataDir}` : '';

const blobPlace = ({ blobStoreUrl: place, natsUrl, dataDir }: Config): string => {
  if (place === undefined) return dataDir;
  if (place.kind === 'folder') return place.path;
  if (place.kind === 's3') return place.url;
  const { display, namespace } = parseNatsUrl(natsUrl ?? '');
  return `${display}, namespace ${namespace}`;
};

/** @throws {Error} one line: a service renders on this data directory */
export async function keepServicesOff(
  dataDir: string,
  openings: Openings,
  remedy: string,
): Promise<void> {
  const held = await new FileLease(join(dataDir, 'render.lock')).acquire();
  if (held === undefined) throw new Error(`A service runs on ${dataDir}: ${remedy}.`);
  openings.add({ close: () => held.release() });
}

/** @throws {Error} one line: it is missing, or another one */
function masterKeyOf({ masterKey, blobStoreUrl, dataDir }: Config): Buffer {
  const found = blobStoreUrl === undefined ? findMasterKey(dataDir, masterKey) : masterKey;
  if (found !== undefined) return found;
  throw new Error(`MASTER_KEY is needed: set it to the one that the service of ${dataDir} has.`);
}

/** The keyring's records, wherever it lies. */
async function recordsOf(
  around: Surroundings,
  masterKey: Buffer,
  side: 'source' | 'target',
): Promise<KeyRecords> {
  const { blobStoreUrl, dataDir } = around.config;
  const create = side === 'target';
  const { records, place, missing } = await findKeyRecords(around, { create, write: true });
  const isOwn = blobStoreUrl === undefined;
  if (records === undefined) {
    throw new Error(isOwn ? `There is no keyring in ${place}: restore it from a backup.` : missing);
  }
  if (isOwn && create) loadMasterKey(dataDir, masterKey);
  if (!isOwn && !(await findKeyring(records, masterKey)) && !create) {
    throw new Error('There is no keyring at BLOB_STORE_URL.');
  }
  return withMasterCheck(records, masterKey);
}

/** A data directory has the check of its master key beside its keyring, other places have it in there. */
function withMasterCheck(records: KeyRecords, masterKey: Buffer): KeyRecords {
  const check = fingerprintOf(masterKey);
  return {
    create: (name, text) => records.create(name, text),
    read: async (name) =>
      (await records.read(name)) ?? (name === 'master.check' ? check : undefined),
    remove: (name) => records.remove(name),
  };
}

/** Puts the key file beside files, and names it where the new place needs MASTER_KEY instead. */
function masterKeyFileOf(
  source: Config,
  target: Config,
  masterKey: Buffer,
): { readonly masterKeyFile?: string } {
  if (source.masterKey !== undefined) return {};
  if (target.blobStoreUrl !== undefined)
    return { masterKeyFile: join(source.dataDir, 'master.key') };
  createDurably(join(target.dataDir, 'master.key'), masterKey.toString('hex'));
  return {};
}
