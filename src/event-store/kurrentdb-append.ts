/**
 * Appends that are stored once. The server recognises a repeated append only where the stream has moved on
 * from what the append expects; at the right revision it writes known events again. So what is known of a
 * stream is looked at before, and what became of an append without an answer is read from the stream.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type KurrentDbClient, WrongRevision } from './kurrentdb-client.ts';
import type { KnownIds, Place } from './kurrentdb-known-ids.ts';
import {
  type AppendResult,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  VersionConflict,
} from './port.ts';

/** Milliseconds before an append without an answer is looked into, again and again. */
const PAUSES_MS = [50, 200, 500];
/** No look begins later than this after the append was sent. */
const GIVE_UP_MS = 6_000;
/** Within this an append can be read that others are refused for; a deleted stream shows nothing. */
const VISIBLE_MS = 1_000;
const LOOK_EVERY_MS = 5;
/** Other writers may come before an append that takes any revision so often. */
const RACES = 20;

export class Appender {
  readonly #client: KurrentDbClient;
  readonly #known: KnownIds;
  /** The last append that waits for each stream: what is sent first is stored first. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(client: KurrentDbClient, known: KnownIds) {
    this.#client = client;
    this.#known = known;
  }

  async append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    const before = this.#queues.get(stream) ?? Promise.resolve();
    const result = before.then(() =>
      typeof expected === 'number' || expected === 'no-stream'
        ? this.#at(stream, events, expected)
        : this.#anywhere(stream, events, expected),
    );
    const settled = result.catch(() => {});
    this.#queues.set(stream, settled);
    try {
      return await result;
    } finally {
      if (this.#queues.get(stream) === settled) this.#queues.delete(stream);
    }
  }

  async #at(
    stream: string,
    events: readonly NewEvent[],
    expected: number | 'no-stream',
  ): Promise<AppendResult> {
    const revision = expected === 'no-stream' ? -1 : expected;
    if (revision >= 0) {
      const last = await this.#known.cover(stream, revision);
      const place = this.#known.place(stream, events);
      if (place === 'otherwise' || (place === undefined && last < revision)) {
        throw new VersionConflict(stream, expected, last);
      }
      if (place !== undefined) return this.#resultAt(stream, place);
    }
    const sent = performance.now();
    try {
      return await this.#send(stream, events, revision);
    } catch (error) {
      if (error instanceof WrongRevision) {
        return this.#repeated(stream, events, expected, error.actual);
      }
      if (error instanceof EventStoreUnavailable) {
        return this.#settle(stream, events, expected, sent, error);
      }
      throw error;
    }
  }

  async #send(
    stream: string,
    events: readonly NewEvent[],
    revision: number,
  ): Promise<AppendResult> {
    const result = await this.#client.append(stream, events, revision);
    const first = result.revision - events.length + 1;
    const seen = events.map(({ id }, n) => ({ id, revision: first + n, position: undefined }));
    this.#known.saw(stream, seen);
    return result;
  }

  /** The stream is not as expected: because these events are in it, or for another reason. */
  async #repeated(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    actual: number,
  ): Promise<AppendResult> {
    const last = await this.#readable(stream, actual);
    if ((await this.#known.cover(stream, last)) > last) {
      // More is known than there is: an older state of the server may have been put back.
      this.#known.forget(stream);
      await this.#known.cover(stream, last);
    }
    const place = this.#known.place(stream, events);
    if (place === undefined || place === 'otherwise') {
      throw new VersionConflict(stream, expected, Math.max(last, actual));
    }
    return this.#resultAt(stream, place);
  }

  /**
   * The server refuses an append because of another that it has and does not show yet; who reads too early
   * misses it, or does not see that it is its own.
   */
  async #readable(stream: string, revision: number): Promise<number> {
    const asked = performance.now();
    for (;;) {
      const last = await this.#lastRevision(stream);
      if (last >= revision || performance.now() - asked > VISIBLE_MS) return last;
      await delay(LOOK_EVERY_MS);
    }
  }

  /** An append of several events tells the position of the last one only. */
  async #resultAt(stream: string, { revision, position }: Place): Promise<AppendResult> {
    if (position !== undefined) return { revision, position };
    const range = { from: revision, limit: 1, backwards: false };
    const [event] = await this.#client.readStream(stream, range);
    if (event === undefined) throw new EventStoreUnavailable(`${stream} has lost its end.`);
    this.#known.saw(stream, [event]);
    return { revision, position: event.position };
  }

  /**
   * Nobody answered. As long as the stream is where the append expected it, sending it again is safe: if
   * the first one arrives after all, the second is recognised as its repetition.
   */
  async #settle(
    stream: string,
    events: readonly NewEvent[],
    expected: number | 'no-stream',
    sent: number,
    unanswered: EventStoreUnavailable,
  ): Promise<AppendResult> {
    const revision = expected === 'no-stream' ? -1 : expected;
    let reason = unanswered;
    for (const pause of PAUSES_MS) {
      if (performance.now() - sent > GIVE_UP_MS) break;
      await delay(pause);
      try {
        const last = await this.#lastRevision(stream);
        if (last > revision) return await this.#repeated(stream, events, expected, last);
        return await this.#send(stream, events, revision);
      } catch (error) {
        if (error instanceof WrongRevision) {
          return this.#repeated(stream, events, expected, error.actual);
        }
        if (!(error instanceof EventStoreUnavailable)) throw error;
        reason = error;
      }
    }
    throw reason;
  }

  /** The service itself always names a revision; this is for tools, and reads before it writes. */
  async #anywhere(
    stream: string,
    events: readonly NewEvent[],
    expected: 'any' | 'exists',
  ): Promise<AppendResult> {
    for (let race = 0; race < RACES; race += 1) {
      const last = await this.#lastRevision(stream);
      if (last === -1 && expected === 'exists') throw new VersionConflict(stream, expected, last);
      try {
        return await this.#at(stream, events, last === -1 ? 'no-stream' : last);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
        const known = this.#known.place(stream, events) !== undefined;
        if (known) throw new VersionConflict(stream, expected, error.actual);
      }
    }
    throw new EventStoreUnavailable(`Other writers to ${stream} kept coming first.`);
  }

  async #lastRevision(stream: string): Promise<number> {
    const range = { from: undefined, limit: 1, backwards: true };
    const [last] = await this.#client.readStream(stream, range);
    return last?.revision ?? -1;
  }
}
