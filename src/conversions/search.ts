/**
 * Finds an account's conversions by their names. What is sealed is opened once, by a thread, into an index in memory.
 */
import { setImmediate } from 'node:timers/promises';
import type { ConversionStatus } from '../../projections/conversion-pages.ts';
import type { ConversionQueries, ConversionRow } from '../../projections/conversions.ts';
import { Semaphore } from '../async/semaphore.ts';
import { Turns } from '../async/turns.ts';
import { KeyErased } from '../documents/keys/port.ts';
import { openerOf, type Vault } from '../documents/keys/vault.ts';
import { fieldError, type ServiceError } from '../errors/errors.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { inOrder, type Page, type Slice } from '../read-model/rows.ts';
import { isoTime } from '../time/clock.ts';
import { AccountIndex, inTurns, momentQueries, SLICE } from './account-index.ts';
import { type OpenedSlice, OpeningThread } from './opening-thread.ts';
import { enter, statusNumber } from './search-entry.ts';
import { type Chunk, SearchIndex } from './search-index.ts';

/** What is searched for; a conversion that is found fits all of it. */
export interface ConversionSearch {
  readonly chunks: readonly Chunk[];
  readonly reference?: string;
  /** Names, or names and values parted by a colon. */
  readonly tags: readonly string[];
  readonly keyId?: string;
  readonly batchId?: string;
  readonly templateId?: string;
  readonly source?: ConversionRow['source'];
  readonly hasWarnings: boolean;
  readonly isTest?: true;
  readonly order: 'newest' | 'oldest';
  readonly status?: ConversionStatus;
  readonly idStart?: string;
  /** Milliseconds since the Unix epoch; `to` is exclusive. */
  readonly from?: number;
  readonly to?: number;
}

/** The share of all memory for indexes that one may be filled to, and that it may grow to. */
const OWN_SHARE = 0.5;
const GROWN = 0.6;
/** The share that several may be filled to at the same time; beyond it they go one after the other. */
const SMALL = 1 / 32;

const questionOf = (
  search: ConversionSearch,
  queries: ConversionQueries,
  accountId: string,
  slice: Slice,
) => {
  const {
    chunks,
    reference,
    tags,
    keyId,
    batchId,
    templateId,
    source,
    hasWarnings,
    isTest,
    status,
    idStart,
  } = search;
  const terms = [
    ...tags.map((tag) => `tag ${tag}`),
    ...(reference === undefined ? [] : [`reference ${reference}`]),
    ...(keyId === undefined ? [] : [`key ${keyId}`]),
    ...(batchId === undefined ? [] : [`batch ${batchId}`]),
    ...(templateId === undefined ? [] : [`template ${templateId}`]),
    ...(source === undefined ? [] : [`source ${source}`]),
    ...(hasWarnings ? ['warnings'] : []),
    ...(isTest ? ['test'] : []),
  ];
  const { first, last } = queries.numbersIn(accountId, search);
  const wanted = status && statusNumber(status);
  return { chunks, terms, idStart, status: wanted, first, last, ...slice };
};

export interface SearchDependencies extends ReadDependencies {
  readonly vault: Pick<Vault, 'dataKey'>;
}

export class ConversionSearches {
  readonly #deps: SearchDependencies;
  /** Bytes that all indexes may take. An account's own takes half of it at the most. */
  readonly #mostBytes: number;
  /** By account; the latest that was asked for is the last. */
  readonly #kept = new Map<string, AccountIndex>();
  /** Opens slices of the accounts that are being filled in turn. */
  readonly #thread = new OpeningThread();
  readonly #underWay = new Map<string, Promise<AccountIndex>>();
  readonly #large = new Semaphore(1);
  readonly #pastTurns = new Turns();
  readonly #past = new Semaphore(1);

  constructor(deps: SearchDependencies, mostBytes: number) {
    this.#deps = deps;
    this.#mostBytes = mostBytes;
  }

  /**
   * A page of what fits, as of the log's head or later.
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
      const open = openerOf(await this.#key(accountId), accountId);
      const moment = await consistentQuery(this.#deps, momentQueries, head);
      // The account's key may be there a little longer: what is kept from now on would not be forgotten.
      if (!moment.isOpen(accountId)) throw new KeyErased('The account was erased.');
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
   * past go one after the other; an account with several waits for its own before it waits for others.
   * @param gone aborted once nobody waits for it
   * @throws {KeyErased}
   * @throws {ServiceError} `validation_error` where the account has more conversions than are searched at once
   */
  past(
    accountId: string,
    search: ConversionSearch,
    slice: Slice,
    read: <R>(from: (queries: ConversionQueries) => R) => Promise<R>,
    gone: AbortSignal,
  ): Promise<Page<ConversionRow>> {
    return this.#pastTurns.run(accountId, async () => {
      const release = await this.#past.acquire(gone);
      try {
        gone.throwIfAborted();
        const key = await this.#key(accountId);
        const index = new SearchIndex();
        const { first } = await read((queries) => queries.numbersIn(accountId, search));
        for (let below = Number.MAX_SAFE_INTEGER; below > first; ) {
          const rows = await read((queries) => queries.searchRows(accountId, below - 1, SLICE));
          const entries = await this.#thread.open({ accountId, key, rows });
          gone.throwIfAborted();
          await inTurns(entries, (entry) => {
            enter(index, entry);
            return !gone.aborted;
          });
          gone.throwIfAborted();
          below = entries.at(-1)?.number ?? first;
          if (index.bytes > OWN_SHARE * this.#mostBytes && below > first) {
            throw tooMany(((await read((queries) => queries.timeOf(accountId, below))) ?? 0) + 1);
          }
        }
        const found = await read((queries) => foundBy(index, accountId, search, slice, queries));
        const rows = await read((queries) => queries.byNumbers(accountId, found.rows));
        return { rows, total: found.total };
      } finally {
        release?.();
      }
    });
  }

  /** Forgets what it has of the account. */
  forget(accountId: string): void {
    this.#kept.delete(accountId);
    this.#underWay.delete(accountId);
  }

  /** Rejects what waits. */
  async close(): Promise<void> {
    await this.#thread.close();
  }

  async #key(accountId: string): Promise<Buffer> {
    try {
      return await this.#deps.vault.dataKey(accountId);
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
    let made: AccountIndex | undefined;
    let opening: Promise<OpenedSlice> | undefined;
    let release: (() => void) | undefined;
    try {
      for (;;) {
        if (made && made.index.bytes > SMALL * this.#mostBytes) {
          release ??= await this.#large.acquire();
        }
        const key = await this.#key(accountId);
        const moment = await consistentQuery(this.#deps, momentQueries, head);
        made ??= new AccountIndex(accountId, moment);
        const rows = made.older(moment);
        // The thread opens these while those before are taken in.
        const next = this.#thread.open({ accountId, key, rows });
        // It is awaited in the next round, if there is one.
        next.catch(() => {});
        const entries = (await opening) ?? [];
        if (!(await made.takeIn(entries, OWN_SHARE * this.#mostBytes))) return made;
        if (rows.length === 0) return made;
        opening = next;
      }
    } finally {
      release?.();
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
  const { rows, total } = foundBy(index, accountId, search, slice, conversions);
  return { rows: conversions.byNumbers(accountId, rows), total };
}

/** The numbers of what the index finds. */
const foundBy = (
  index: SearchIndex,
  accountId: string,
  search: ConversionSearch,
  slice: Slice,
  queries: ConversionQueries,
): Page<number> =>
  inOrder(slice, search.order, (part) => {
    const { numbers, total } = index.find(questionOf(search, queries, accountId, part));
    return { rows: numbers, total };
  });

const tooMany = (from: number): ServiceError => {
  const message = `The account has more conversions than are searched at once. Give from=${isoTime(from)} or later.`;
  return fieldError('from', message);
};
