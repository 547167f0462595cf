/** Finds an account's conversions by their names. What is sealed is opened once, into an index in memory. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { CONVERSION_STATUSES, type ConversionStatus } from '../../projections/conversion-pages.ts';
import {
  type ConversionQueries,
  type ConversionRow,
  conversionQueries,
  type SearchRow,
} from '../../projections/conversions.ts';
import { type HistoryQueries, historyQueries } from '../../projections/history.ts';
import { tagsIn } from '../accounts/conversion-names.ts';
import { Semaphore } from '../async/semaphore.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { EventType } from '../domain/events.ts';
import { ServiceError } from '../errors/errors.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import type { Page, Slice } from '../read-model/rows.ts';
import { wordsOf } from '../text/words.ts';
import { isoTime } from '../time/clock.ts';
import { type Chunk, SearchIndex } from './search-index.ts';

/** What is searched for; a conversion that is found fits all of it. */
export interface ConversionSearch {
  readonly chunks: readonly Chunk[];
  readonly reference?: string;
  /** Names, or names and values parted by a colon. */
  readonly tags: readonly string[];
  readonly keyId?: string;
  readonly batchId?: string;
  readonly source?: 'html' | 'url';
  readonly hasWarnings: boolean;
  readonly status?: ConversionStatus;
  readonly idStart?: string;
  /** Milliseconds since the Unix epoch; `to` is exclusive. */
  readonly from?: number;
  readonly to?: number;
}

/** Opens a sealed text; undefined if it cannot be read. */
type Open = (sealed: string) => string | undefined;

const CHANGES: readonly EventType[] = [
  'ConversionRequested',
  'ConversionStarted',
  'ConversionRequeued',
  'ConversionCompleted',
  'ConversionFailed',
];
/** Rows that are read at once. */
const SLICE = 250;
/** Events that are looked through between two looks at the clock: each may bring a conversion with many words. */
const CHANGES_AT_ONCE = 20;
/** The longest that other requests wait for an index, in milliseconds. */
const TURN_MS = 8;

/** The share of all memory for indexes that one may be filled to, and that it may grow to. */
const OWN_SHARE = 0.5;
const GROWN = 0.6;

const statusNumber = (status: ConversionStatus): number => CONVERSION_STATUSES.indexOf(status) + 1;
const COMPLETED = statusNumber('completed');

/** Takes a row into an index, or what has changed of it. */
function enter(index: SearchIndex, row: SearchRow, open: Open): void {
  const { number, id } = row;
  const [before, now] = [index.statusOf(number), statusNumber(row.status)];
  index.setStatus(number, id, now);
  const words: string[] = [];
  const read = (sealed: string | undefined): string => {
    const text = (sealed && open(sealed)) || '';
    words.push(...wordsOf(text));
    return text;
  };
  if (before === 0) {
    const { source, keyId, batchId, filename, address } = row;
    read(filename);
    read(address);
    const reference = read(row.reference);
    if (reference !== '') index.addTerm(number, `reference ${reference}`);
    for (const [name, value] of Object.entries(tagsIn(row.tags && open(row.tags)) ?? {})) {
      words.push(...wordsOf(`${name} ${value}`));
      index.addTerm(number, `tag ${name}`);
      index.addTerm(number, `tag ${name}:${value}`);
    }
    index.addTerm(number, `source ${source}`);
    if (keyId !== undefined) index.addTerm(number, `key ${keyId}`);
    if (batchId !== undefined) index.addTerm(number, `batch ${batchId}`);
  }
  if (now === COMPLETED && before !== COMPLETED) {
    read(row.title);
    if (row.hasWarnings === 1) index.addTerm(number, 'warnings');
  }
  index.addWords(number, words);
}

const questionOf = (
  search: ConversionSearch,
  queries: ConversionQueries,
  accountId: string,
  slice: Slice,
) => {
  const { chunks, reference, tags, keyId, batchId, source, hasWarnings, status, idStart } = search;
  const terms = [
    ...tags.map((tag) => `tag ${tag}`),
    ...(reference === undefined ? [] : [`reference ${reference}`]),
    ...(keyId === undefined ? [] : [`key ${keyId}`]),
    ...(batchId === undefined ? [] : [`batch ${batchId}`]),
    ...(source === undefined ? [] : [`source ${source}`]),
    ...(hasWarnings ? ['warnings'] : []),
  ];
  const { first, last } = queries.numbersIn(accountId, search);
  const wanted = status && statusNumber(status);
  return { chunks, terms, idStart, status: wanted, first, last, ...slice };
};

/** The queries of one moment. Good until the next `await`. */
interface Moment {
  readonly conversions: ConversionQueries;
  readonly history: HistoryQueries;
}

const momentQueries = (db: Database): Moment => ({
  conversions: conversionQueries(db),
  history: historyQueries(db),
});

/** The index of an account as of a place in its history. */
class AccountIndex {
  readonly index = new SearchIndex();
  readonly #accountId: string;
  /** The account's events that are in it, but for rows below `#lowest` while it is being filled. */
  #events: number;
  /** The oldest conversion in it. */
  #lowest: number;

  constructor(accountId: string, { conversions, history }: Moment) {
    this.#accountId = accountId;
    this.#events = history.countUpTo(accountId);
    this.#lowest = conversions.numbersIn(accountId, {}).last + 1;
  }

  get lowest(): number {
    return this.#lowest;
  }

  /** Takes in the next older conversions, for as long as a turn may last. @returns false if no more are to come */
  fill({ conversions }: Moment, open: Open, mostBytes: number): boolean {
    const until = performance.now() + TURN_MS;
    while (this.#lowest > 1) {
      const rows = conversions.searchRows(this.#accountId, this.#lowest - 1, SLICE);
      for (const row of rows) {
        enter(this.index, row, open);
        this.#lowest = row.number;
        if (this.index.bytes > mostBytes) return false;
        if (performance.now() > until) return true;
      }
      if (rows.length === 0) return false;
    }
    return false;
  }

  /** Takes in what has happened since, for as long as a turn may last. @returns true once that is all */
  catchUp({ conversions, history }: Moment, open: Open): boolean {
    const until = performance.now() + TURN_MS;
    const total = history.countUpTo(this.#accountId);
    while (this.#events < total) {
      if (performance.now() > until) return false;
      const upTo = Math.min(total, this.#events + CHANGES_AT_ONCE);
      for (const { conversionId } of history.changes(
        this.#accountId,
        this.#events,
        upTo,
        CHANGES,
      )) {
        const row = conversions.searchRow(conversionId);
        // A row that is older than the index comes in by itself, or is not searched.
        if (row && row.number >= this.#lowest) enter(this.index, row, open);
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

export interface SearchDependencies extends ReadDependencies {
  readonly vault: Pick<Vault, 'opener'>;
}

export class ConversionSearches {
  readonly #deps: SearchDependencies;
  /** Bytes that all indexes may take. An account's own takes half of it at the most. */
  readonly #mostBytes: number;
  /** By account; the latest that was asked for is the last. */
  readonly #kept = new Map<string, AccountIndex>();
  /** Fills one after the other, so that together they take no longer turns than one. */
  readonly #filling = new Semaphore(1);
  readonly #underWay = new Map<string, Promise<AccountIndex>>();
  readonly #past = new Semaphore(1);

  constructor(deps: SearchDependencies, mostBytes: number) {
    this.#deps = deps;
    this.#mostBytes = mostBytes;
  }

  /**
   * A page of what fits, newest first, as of the log's head or later.
   * @throws {KeyErased} the account was erased
   * @throws {ServiceError} `validation_error` where it has more conversions than are searched at once
   */
  async page(
    accountId: string,
    search: ConversionSearch,
    slice: Slice,
    head: bigint,
  ): Promise<Page<ConversionRow>> {
    for (let filled: AccountIndex | undefined; ; ) {
      const open = await this.#opener(accountId);
      const moment = await consistentQuery(this.#deps, momentQueries, head);
      const index = filled ?? this.#kept.get(accountId);
      if (index?.isOf(moment) !== true) {
        filled = await this.#fill(accountId, head);
      } else if (index.catchUp(moment, open)) {
        this.#keep(accountId, index);
        return pageOf(index, accountId, search, slice, moment.conversions);
      } else await setImmediate();
    }
  }

  /**
   * The same as of an earlier moment, whose tables `read` asks each time. Its index is not kept, so that searches of the
   * past go one after the other.
   * @param gone aborted once nobody waits for it
   * @throws {KeyErased}
   * @throws {ServiceError} `validation_error` where the account has more conversions than are searched at once
   */
  async past(
    accountId: string,
    search: ConversionSearch,
    slice: Slice,
    read: <R>(from: (queries: ConversionQueries) => R) => Promise<R>,
    gone: AbortSignal,
  ): Promise<Page<ConversionRow>> {
    const release = await this.#past.acquire(gone);
    try {
      gone.throwIfAborted();
      const open = await this.#opener(accountId);
      const index = new SearchIndex();
      const { first } = await read((queries) => queries.numbersIn(accountId, search));
      for (let below = Number.MAX_SAFE_INTEGER; below > first; ) {
        const rows = await read((queries) => queries.searchRows(accountId, below - 1, SLICE));
        await this.#enterAll(index, rows, open, gone);
        below = rows.at(-1)?.number ?? first;
        if (index.bytes > OWN_SHARE * this.#mostBytes && below > first) {
          throw tooMany(((await read((queries) => queries.timeOf(accountId, below))) ?? 0) + 1);
        }
      }
      const found = await read((queries) =>
        index.find(questionOf(search, queries, accountId, slice)),
      );
      const rows = await read((queries) => queries.byNumbers(accountId, found.numbers));
      return { rows, total: found.total };
    } finally {
      release?.();
    }
  }

  /** Lets others have their turn between two rows. */
  async #enterAll(
    index: SearchIndex,
    rows: readonly SearchRow[],
    open: Open,
    gone: AbortSignal,
  ): Promise<void> {
    let until = performance.now() + TURN_MS;
    for (const row of rows) {
      enter(index, row, open);
      if (performance.now() < until) continue;
      await setImmediate();
      gone.throwIfAborted();
      until = performance.now() + TURN_MS;
    }
  }

  /** Forgets what it has of the account. */
  forget(accountId: string): void {
    this.#kept.delete(accountId);
    this.#underWay.delete(accountId);
  }

  async #opener(accountId: string): Promise<Open> {
    try {
      return await this.#deps.vault.opener(accountId);
    } catch (error) {
      this.forget(accountId);
      throw error;
    }
  }

  /** Makes the index of an account, once for all that ask for it meanwhile. */
  #fill(accountId: string, head: bigint): Promise<AccountIndex> {
    const underWay = this.#underWay.get(accountId);
    if (underWay !== undefined) return underWay;
    const filling = this.#made(accountId, head).finally(() => {
      if (this.#underWay.get(accountId) === filling) this.#underWay.delete(accountId);
    });
    this.#underWay.set(accountId, filling);
    return filling;
  }

  async #made(accountId: string, head: bigint): Promise<AccountIndex> {
    const release = await this.#filling.acquire();
    try {
      let made: AccountIndex | undefined;
      for (;;) {
        const open = await this.#opener(accountId);
        const moment = await consistentQuery(this.#deps, momentQueries, head);
        made ??= new AccountIndex(accountId, moment);
        if (!made.fill(moment, open, OWN_SHARE * this.#mostBytes)) return made;
        await setImmediate();
      }
    } finally {
      release();
    }
  }

  #keep(accountId: string, index: AccountIndex): void {
    this.#kept.delete(accountId);
    // One that has grown too large is made again, and then begins later.
    if (index.index.bytes > GROWN * this.#mostBytes) return;
    this.#kept.set(accountId, index);
    let bytes = 0;
    for (const each of this.#kept.values()) bytes += each.index.bytes;
    for (const [oldest, { index: each }] of this.#kept) {
      if (bytes <= this.#mostBytes || oldest === accountId) return;
      bytes -= each.bytes;
      this.#kept.delete(oldest);
    }
  }
}

function pageOf(
  { index, lowest }: AccountIndex,
  accountId: string,
  search: ConversionSearch,
  slice: Slice,
  conversions: ConversionQueries,
): Page<ConversionRow> {
  const question = questionOf(search, conversions, accountId, slice);
  if (question.first < lowest && question.first <= question.last) {
    throw tooMany((conversions.timeOf(accountId, lowest) ?? 0) + 1);
  }
  const { numbers, total } = index.find(question);
  return { rows: conversions.byNumbers(accountId, numbers), total };
}

const tooMany = (from: number): ServiceError => {
  const message = `The account has more conversions than are searched at once. Give from=${isoTime(from)} or later.`;
  return new ServiceError('validation_error', `from: ${message}`, { details: { from: [message] } });
};
