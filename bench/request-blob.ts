/**
 * Where a request's document lies best: accepted conversions a second (document and event durable)
 * with the document in a file, in a row of a database of its own, and in a row of the event's own
 * transaction. Rounds of the three alternate; printed are medians.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { EmbeddedBlobStore } from '../src/documents/embedded.ts';
import { FileBlobStore } from '../src/documents/files.ts';
import type { BlobStore } from '../src/documents/port.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { newConversionId } from '../src/time/ids.ts';
import { inTemporaryDirectory, median, perSecond, print } from './measure.ts';

const ROUNDS = 7;
const KIB = 1024;
const SIZES = [2, 20, 64, 128, 200, 2_048];

interface Place {
  readonly name: string;
  readonly events: SqliteEventStore;
  readonly blobs: BlobStore;
  readonly close: () => void;
}

async function openPlaces(dir: string): Promise<Place[]> {
  const files = await FileBlobStore.open(join(dir, 'blobs'));
  const open = (name: string): EmbeddedDatabase => openEmbeddedDatabase(join(dir, `${name}.db`));
  const [first, second, own, shared] = [open('first'), open('second'), open('own'), open('shared')];
  return [
    {
      name: 'file',
      events: new SqliteEventStore(first),
      blobs: files,
      close: () => first.close(),
    },
    {
      name: 'own database',
      events: new SqliteEventStore(second),
      blobs: new EmbeddedBlobStore(own, files, Infinity),
      close: () => {
        second.close();
        own.close();
      },
    },
    {
      name: 'same transaction',
      events: new SqliteEventStore(shared),
      blobs: new EmbeddedBlobStore(shared, files, Infinity),
      close: () => shared.close(),
    },
  ];
}

async function accept({ events, blobs }: Place, content: Buffer): Promise<void> {
  const id = newConversionId(Date.now());
  const staged = blobs.stage(id, 'request', content);
  const event = {
    id: randomUUID(),
    type: 'ConversionRequested',
    data: { conversionId: id, source: 'html', request: staged.ref, requestedAt: Date.now() },
    metadata: { schemaVersion: 1 },
  };
  await events.append(id, [event], 'no-stream', [staged]);
}

async function acceptAll(place: Place, contents: readonly Buffer[], clients: number) {
  const queue = contents.values();
  const work = async (): Promise<void> => {
    for (const content of queue) await accept(place, content);
  };
  await Promise.all(Array.from({ length: clients }, work));
}

async function compare(places: readonly Place[], kib: number, clients: number): Promise<void> {
  const count = Math.max(16, Math.min(160, Math.floor(16_384 / kib)));
  const speeds = new Map(places.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const contents = Array.from({ length: count }, () => randomBytes(kib * KIB));
    for (const place of round % 2 === 0 ? places : places.toReversed()) {
      const speed = await perSecond(count, () => acceptAll(place, contents, clients));
      speeds.get(place.name)?.push(speed);
    }
  }
  const cells = [...speeds].map(
    ([name, numbers]) => `${name} ${median(numbers).toFixed(0).padStart(5)}/s`,
  );
  print(
    `${String(kib).padStart(5)} KiB  ${String(clients).padStart(2)} clients  ${cells.join('  ')}`,
  );
}

await inTemporaryDirectory(async (dir) => {
  const places = await openPlaces(dir);
  for (const clients of [1, 16]) for (const kib of SIZES) await compare(places, kib, clients);
  for (const { events, close } of places) {
    await events.close();
    close();
  }
});
