/**
 * The bytes of an object of NATS: messages of one subject, each with a sequence number of its own in
 * the stream. The numbers are kept with the object's description, so that any part of it is read message
 * by message, without a consumer, which the server would remember for minutes after each read.
 */

import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { ObjectsUnavailable } from './objects.ts';
import { pieces } from './pieces.ts';
import type { BlobRange } from './port.ts';

/** The chunk size of every NATS client, well below a server's default limit of 1 MiB a message. */
export const CHUNK_BYTES = 128 * 1024;
/** The most chunks of one object that are sent and not yet confirmed, or asked for and not yet read. */
const IN_FLIGHT = 4;

export interface StoredChunks {
  readonly bytes: number;
  readonly sha256: Buffer;
  /** The stream sequence of each chunk, in the order of the content. */
  readonly sequences: readonly number[];
}

/** @throws what the source throws, or the server's refusal; some chunks may be stored by then */
export async function storeChunks(
  stream: JetStreamClient,
  subject: string,
  source: Readable,
): Promise<StoredChunks> {
  const hash = createHash('sha256');
  const confirmed: Promise<number>[] = [];
  let bytes = 0;
  for await (const piece of pieces(source, CHUNK_BYTES)) {
    hash.update(piece);
    bytes += piece.length;
    await confirmed.at(-IN_FLIGHT);
    confirmed.push(handled(stream.publish(subject, piece).then(({ seq }) => seq)));
  }
  return { bytes, sha256: hash.digest(), sequences: await Promise.all(confirmed) };
}

export interface ChunkPlaces {
  /** The stream's name. */
  readonly stream: string;
  readonly subject: string;
  /** The length of the whole object. */
  readonly bytes: number;
  readonly sequences: readonly number[];
}

/** @param range inclusive; it may end beyond the object @throws {ObjectsUnavailable} it breaks off */
export async function* readChunks(
  manager: JetStreamManager,
  places: ChunkPlaces,
  range: BlobRange = { start: 0, end: places.bytes - 1 },
): AsyncGenerator<Uint8Array> {
  const end = Math.min(range.end, places.bytes - 1);
  const last = Math.floor(end / CHUNK_BYTES);
  const ahead: Promise<Uint8Array>[] = [];
  let asked = Math.floor(range.start / CHUNK_BYTES);
  for (let index = asked; index <= last; index += 1) {
    for (; asked <= last && ahead.length < IN_FLIGHT; asked += 1) {
      ahead.push(handled(readChunk(manager, places, asked)));
    }
    const chunk = await ahead.shift();
    const at = index * CHUNK_BYTES;
    if (chunk) yield chunk.subarray(Math.max(0, range.start - at), end + 1 - at);
  }
}

async function readChunk(
  manager: JetStreamManager,
  { stream, subject, bytes, sequences }: ChunkPlaces,
  index: number,
): Promise<Uint8Array> {
  const what = `Chunk ${index} of ${sequences.length} below ${subject}`;
  const seq = sequences[index];
  if (seq === undefined) throw new ObjectsUnavailable(`${what} is not described.`);
  try {
    // Three times as fast as the leader's way; but a server that follows may not have it yet.
    const direct = await manager.direct.getMessage(stream, { seq }).catch(() => null);
    const message = direct ?? (await manager.streams.getMessage(stream, { seq }));
    const length = Math.min(CHUNK_BYTES, bytes - index * CHUNK_BYTES);
    if (message?.subject === subject && message.data.length === length) return message.data;
  } catch (error) {
    throw new ObjectsUnavailable(`${what} cannot be read.`, { cause: error });
  }
  throw new ObjectsUnavailable(`${what} is gone or damaged.`);
}

/** Awaited later, or never where an earlier one fails: its failure is not unhandled meanwhile. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
