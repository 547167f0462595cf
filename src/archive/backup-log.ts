/** The events of a backup, as they are read from its segments one after the other. */

import type { ReadAllOptions, ReadStreamOptions, RecordedEvent } from '../event-store/port.ts';
import { LOG_STREAM } from '../log/verify-log/checkpoints.ts';
import { readLines } from './blocks.ts';
import { type Entry, parseEntry, UnusableArchive } from './log-lines.ts';
import type { Manifest, Segment } from './manifest.ts';
import type { BackupPlace } from './places/port.ts';

/** Events that are given at once. */
const BATCH = 1_000;

/** A log without a store. An event's position is its number, from 1. Reads go forward: going back costs a segment. */
export class BackupLog {
  readonly #place: BackupPlace;
  readonly #manifest: Manifest;
  #cached: { readonly segment: Segment; readonly entries: readonly Entry[] } | undefined;
  /** The log's own stream, as far as it was read ahead. */
  readonly #own: RecordedEvent[] = [];
  #ownReader: AsyncIterator<readonly Entry[]> | undefined;
  #ownNumber = 0;

  constructor(place: BackupPlace, manifest: Manifest) {
    this.#place = place;
    this.#manifest = manifest;
  }

  /** The events of one segment after the other. @throws {UnusableArchive} a file is not what was written */
  async *entries(): AsyncGenerator<readonly Entry[]> {
    for (const segment of this.#manifest.segments) {
      const entries = await this.#read(segment);
      for (let at = 0; at < entries.length; at += BATCH) yield entries.slice(at, at + BATCH);
    }
  }

  async head(): Promise<bigint> {
    return BigInt(this.#manifest.events);
  }

  async readAll({ after = 0n, limit = 1_000 }: ReadAllOptions = {}): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (let number = Number(after); events.length < limit; ) {
      const segment = this.#manifest.segments.find(
        ({ first, events: count }) => number >= first && number < first + count,
      );
      if (segment === undefined) break;
      if (this.#cached?.segment !== segment) {
        this.#cached = { segment, entries: await this.#read(segment) };
      }
      const at = number - segment.first;
      const some = this.#cached.entries.slice(at, at + limit - events.length);
      events.push(...some.map(({ event }, index) => placed(event, number + index)));
      number += some.length;
    }
    return events;
  }

  /** The log's own stream alone; of others it knows nothing that `readAll` does not give. */
  async readStream(
    stream: string,
    { from = 0, limit = 1_000 }: ReadStreamOptions = {},
  ): Promise<RecordedEvent[]> {
    if (stream !== LOG_STREAM) return [];
    this.#ownReader ??= this.entries();
    while ((this.#own.at(-1)?.revision ?? -1) < from + limit - 1) {
      const { done, value } = await this.#ownReader.next();
      if (done === true) break;
      for (const [index, { event }] of value.entries()) {
        if (event.stream === stream) this.#own.push(placed(event, this.#ownNumber + index));
      }
      this.#ownNumber += value.length;
    }
    // They are asked for in order: what is behind is not asked for again.
    while ((this.#own[0]?.revision ?? from) < from) this.#own.shift();
    return this.#own.slice(0, limit);
  }

  async #read(segment: Segment): Promise<readonly Entry[]> {
    const lines = await readLines(this.#place, segment);
    if (lines.length !== segment.events) {
      throw new UnusableArchive(`is damaged: ${segment.file} has not as many events as it should.`);
    }
    try {
      return lines.map(parseEntry);
    } catch (error) {
      if (!(error instanceof UnusableArchive)) throw error;
      throw new UnusableArchive(`is damaged: ${segment.file} holds a line that is not an event.`, {
        cause: error,
      });
    }
  }
}

const placed = (event: Entry['event'], number: number): RecordedEvent => ({
  ...event,
  position: BigInt(number + 1),
});
