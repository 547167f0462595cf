/** The index of one account as of a place in its history. It takes in what is older, and what has happened since. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { accountQueries } from '../../projections/accounts.ts';
import {
  type ConversionQueries,
  conversionQueries,
  type SearchRow,
} from '../../projections/conversions.ts';
import { type HistoryQueries, historyQueries } from '../../projections/history.ts';
import type { Open } from '../documents/keys/vault.ts';
import type { EventType } from '../domain/events.ts';
import type { OpenedSlice } from './opening-thread.ts';
import { enter, entryOf, type SearchEntry } from './search-entry.ts';
import { SearchIndex } from './search-index.ts';

/** The queries of one moment. Good until the next `await`. */
export interface Moment {
  readonly conversions: ConversionQueries;
  readonly history: HistoryQueries;
  /** False once the account is erased. */
  readonly isOpen: (accountId: string) => boolean;
}

export function momentQueries(db: Database): Moment {
  const accounts = accountQueries(db);
  return {
    conversions: conversionQueries(db),
    history: historyQueries(db),
    isOpen: (accountId) => accounts.byId(accountId) !== undefined,
  };
}

const CHANGES: readonly EventType[] = [
  'ConversionRequested',
  'ConversionStarted',
  'ConversionRequeued',
  'ConversionCompleted',
  'ConversionFailed',
];
/** Events whose conversions are looked up at once. */
const CHANGES_AT_ONCE = 20;
/** The longest that other requests wait for what is taken in, in milliseconds. */
const TURN_MS = 8;
/** Rows that are read, opened and taken in at once. */
export const SLICE = 250;

/**
 * Takes in one after the other, with turns of others between: a conversion may bring a thousand words.
 * @param takeIn returns false where no more is to be taken in
 * @returns false where it did so
 */
export async function inTurns(
  entries: OpenedSlice,
  takeIn: (entry: SearchEntry) => boolean,
): Promise<boolean> {
  let until = performance.now() + TURN_MS;
  for (const entry of entries) {
    if (!takeIn(entry)) return false;
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + TURN_MS;
  }
  return true;
}

export class AccountIndex {
  readonly index = new SearchIndex();
  readonly #accountId: string;
  /** The account's events that are in it, but for rows below `#lowest` while it is being filled. */
  #events: number;
  /** The oldest conversion in it, and the oldest that was asked for. */
  #lowest: number;
  #asked: number;

  constructor(accountId: string, { conversions, history }: Moment) {
    this.#accountId = accountId;
    this.#events = history.countUpTo(accountId);
    this.#lowest = conversions.numbersIn(accountId, {}).last + 1;
    this.#asked = this.#lowest;
  }

  get lowest(): number {
    return this.#lowest;
  }

  /** The next older conversions, which are to be taken in in the same order; none if there are no more. */
  older({ conversions }: Moment): readonly SearchRow[] {
    const rows = conversions.searchRows(this.#accountId, this.#asked - 1, SLICE);
    this.#asked = rows.at(-1)?.number ?? this.#asked;
    return rows;
  }

  /** Takes in older conversions. Resolves to false where it has become too large for all of them. */
  takeIn(entries: OpenedSlice, mostBytes: number): Promise<boolean> {
    return inTurns(entries, (entry) => {
      enter(this.index, entry);
      this.#lowest = entry.number;
      return this.index.bytes <= mostBytes;
    });
  }

  /** Takes in what has happened since, for as long as a turn may last. @returns true once that is all */
  catchUp({ conversions, history }: Moment, open: Open): boolean {
    const until = performance.now() + TURN_MS;
    const total = history.countUpTo(this.#accountId);
    while (this.#events < total) {
      if (performance.now() > until) return false;
      const upTo = Math.min(total, this.#events + CHANGES_AT_ONCE);
      const changes = history.changes(this.#accountId, this.#events, upTo, CHANGES);
      for (const { conversionId, number } of changes) {
        const row = conversions.searchRow(conversionId);
        // A row that is older than the index comes in by itself, or is not searched.
        if (row !== undefined && row.number >= this.#lowest) {
          enter(this.index, entryOf(row, open, this.index.statusOf(row.number)));
        }
        // Those that are left have later events. Each may bring a thousand words.
        this.#events = number;
        if (performance.now() > until) return this.#events === total;
      }
      this.#events = upTo;
    }
    return true;
  }

  /** True if the log goes on from where this is: a read model of another log has fewer events. */
  isOf({ history }: Moment): boolean {
    return history.countUpTo(this.#accountId) >= this.#events;
  }
}
