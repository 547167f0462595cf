/** A data directory as a service leaves it: a log with a bit of everything, checkpoints, files, read models. */
import { cpSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import type { Test } from 'tap';
import { allProjections } from '../../projections/all.ts';
import { readConfig } from '../../src/config/config.ts';
import { EmbeddedBlobStore } from '../../src/documents/embedded.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import type { StagedBlob } from '../../src/documents/port.ts';
import type { BlobKind } from '../../src/domain/blob-key.ts';
import type { DomainEvent } from '../../src/domain/events.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { createEventTables } from '../../src/event-store/sqlite/append.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openLog } from '../../src/log/log-origin.ts';
import { type VerifyOptions, verifyLog } from '../../src/log/verify-log.ts';
import { createLogger } from '../../src/observe/log.ts';
import { ReadModel } from '../../src/read-model/database.ts';
import { ProjectionRunner } from '../../src/read-model/runner.ts';
import { openStoredLog } from '../../src/service/log.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { eventId } from '../../src/time/ids.ts';
import { testDirectory } from './directory.ts';
import { appendNext, commandOf } from './events.ts';
import {
  completion,
  expiry,
  failure,
  keyMaking,
  opening,
  refund,
  request,
  type Step,
  start,
} from './history.ts';
import { accountId, conversionId, NOW, sha256 } from './samples.ts';
import { openSigner } from './signer.ts';

export const account = (n = 1): string => `account-${accountId(n)}`;
export const life = (n: number): string => `conversion-${conversionId(n)}`;
const DATABASE = 'pressledger.db';

/** The PDF of conversion 1: larger than a row of the database takes. */
const LARGE = Buffer.alloc(100_000, 7);

/**
 * @param openStore where the log is to be; in the directory unless given
 * @returns the directory; nobody has it open
 */
export async function signedLog(
  t: Test,
  openStore = async (database: EmbeddedDatabase): Promise<EventStore> =>
    new SqliteEventStore(database),
): Promise<string> {
  const dataDir = join(testDirectory(t), 'data');
  const database = openEmbeddedDatabase(join(dataDir, DATABASE));
  const store = await openStore(database);
  const files = await FileBlobStore.open(join(dataDir, 'blobs'));
  const blobs = new EmbeddedBlobStore(database, files);
  const readModel = new ReadModel({
    directory: join(dataDir, 'read-model'),
    projections: allProjections,
  });
  const runner = new ProjectionRunner({ store, readModel });
  const { signer, actors } = openSigner(t, { store, readModel, runner }, dataDir);
  let commands = 0;
  /** Appends the events of one command; returns the last one's id and position. */
  const append = async (
    stream: string,
    events: readonly DomainEvent[],
    causationId?: string,
    staged: readonly StagedBlob[] = [],
  ) => {
    commands += 1;
    const command = `cmd_${commands}`;
    const written = events.map((event, n) =>
      encodeEvent(eventId(`${commandOf(event, command)}/${stream}/${n}`), event, {
        correlationId: command,
        causationId: causationId ?? command,
        actor: { kind: 'operator' },
        time: NOW + commands * 1000,
      }),
    );
    await Promise.all(staged.map((blob) => blob.store()));
    const { position } = await appendNext(store, stream, written);
    return { id: written.at(-1)?.id ?? '', position };
  };
  const stage = (n: number, kind: BlobKind, content: Buffer | string = `${kind} ${n}`) =>
    blobs.stage(conversionId(n), kind, Buffer.from(content));
  const happen = ({ stream, events }: Step, position = 0n, causationId?: string) =>
    append(stream, events(position), causationId);
  const accept = async (n: number, of = 1) => {
    const blob = stage(n, 'request');
    const { stream, events } = request(n, of);
    const asked = events(0n).map((event) => {
      if (event.type !== 'ConversionRequested') return event;
      return { ...event, data: { ...event.data, request: blob.ref, idempotencyKey: sha256(n) } };
    });
    await append(stream, asked, undefined, [blob]);
    await happen(start(n, of));
  };
  const complete = async (n: number, of = 1, content?: Buffer) => {
    const [document, manifest] = [stage(n, 'document', content), stage(n, 'manifest')];
    const { stream, events } = completion(n, of);
    const made = events(0n).map((event) => {
      if (event.type !== 'ConversionCompleted') return event;
      const stored = { document: document.ref, manifest: manifest.ref };
      return { ...event, data: { ...event.data, ...stored, pages: 1, completedAt: NOW } };
    });
    await append(stream, made, undefined, [document, manifest]);
  };

  await openLog({ actors, clock: { now: () => NOW } });
  await happen(opening(1, 10));
  await happen(keyMaking(1, 1));
  await accept(1);
  await complete(1, 1, LARGE);
  await signer.sign();
  await accept(2);
  const failed = await happen(failure(2, 1));
  await happen(refund(2, 1), failed.position, failed.id);
  await append(life(1), [
    {
      type: 'DocumentDownloaded',
      data: {
        accountId: accountId(),
        conversionId: conversionId(1),
        network: sha256(9),
        downloadedAt: NOW,
      },
    },
  ]);
  await happen(opening(2, 10));
  await accept(3, 2);
  await complete(3, 2);
  await blobs.deleteAll(conversionId(3));
  await happen(expiry(3, 2));
  await signer.sign();
  await accept(4);
  await complete(4);
  await runner.waitFor(await store.head());

  await actors.close();
  await runner.stop();
  readModel.close();
  await store.close();
  database.close();
  return dataDir;
}

/** A copy beside it, as an auditor would be given. */
export function copyOf(dataDir: string): string {
  const copy = mkdtempSync(`${dataDir}-copy-`);
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

/** Edits the database as somebody would who has the file, past the triggers that forbid it, and puts these back. */
export function forge(dataDir: string, edit: (db: Database) => void): void {
  const db = new Sqlite(join(dataDir, DATABASE));
  try {
    db.exec('DROP TRIGGER IF EXISTS events_no_update; DROP TRIGGER IF EXISTS events_no_delete');
    edit(db);
    createEventTables({ define: (ddl) => db.exec(ddl) });
  } finally {
    db.close();
  }
}

/** Files of the data directory whose path begins so; those of the blob store unless given. */
export const filesOf = (dataDir: string, folder = 'blobs'): readonly string[] =>
  readdirSync(join(dataDir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

export async function verifyDirectory(
  dataDir: string,
  options: Partial<VerifyOptions> & { readonly documents?: boolean } = {},
  env: Readonly<Record<string, string>> = {},
) {
  const { documents = true, ...more } = options;
  const config = readConfig({ DATA_DIR: dataDir, ...env });
  const log = await openStoredLog(config, createLogger('silent'), { documents });
  try {
    return await verifyLog(log, { now: NOW, ...more });
  } finally {
    await log.close();
  }
}
