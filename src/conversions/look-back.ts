/** Answers queries as of an earlier moment, from the log, by the projections that answer them now. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { type HistoryQueries, historyQueries } from '../../projections/history.ts';
import { Semaphore } from '../async/semaphore.ts';
import { Turns } from '../async/turns.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import type { EventStore } from '../event-store/port.ts';
import { Budget, BudgetExceeded, type Budgets } from '../limits/budgets.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { Fold } from '../read-model/fold.ts';
import type { Projection } from '../read-model/projection.ts';
import { isoTime } from '../time/clock.ts';
import { readEvents } from './history.ts';
import type { Moment } from './moment.ts';

/** The question: an account's or, where one is named, a conversion's rows of a projection. */
export interface View<Q> {
  readonly accountId: string;
  readonly conversionId?: string;
  readonly projection: Projection;
  readonly queries: (db: Database) => Q;
}

export interface LookBack<R> {
  readonly answer: R;
  /** The position of the account's last event up to the moment: it stands for the same answer. 0: there was none. */
  readonly position: bigint;
}

export interface LookBackDependencies extends ReadDependencies {
  readonly streams: Pick<EventStore, 'readStream'>;
}

export interface LookBackLimits {
  /** Look-backs at a time. */
  readonly atOnce: Budget;
  /** Events that one may be worked out from. */
  readonly events: Budget;
  /** The longest wait for the others, and then the longest work. */
  readonly ms: number;
}

const LONGEST_MS = 10_000;

/** The limits of clients. */
export const limitsOf = (budgets: Budgets): LookBackLimits => ({
  atOnce: budgets.get('maxLookBacks'),
  events: budgets.get('maxLookBackEvents'),
  ms: LONGEST_MS,
});

/** An operator waits as long as it takes. */
export const operatorLimits = (): LookBackLimits => ({
  atOnce: new Budget('maxLookBacks', 1),
  events: new Budget('maxLookBackEvents', Number.MAX_SAFE_INTEGER),
  ms: 2 ** 31 - 1,
});

/** The account's events that are looked through before others' requests have their turn. */
const SLICE = 200;
/** Folds that are kept beside those that are held: a reader of one page reads the next. */
const KEPT = 4;
const RETRY_SECONDS = 5;

/** The time between a question and the end of the wait for its answer. */
export interface Asker {
  /** The log's head since the question was asked. */
  readonly head: bigint;
  /** Aborted when nobody waits for the answer any longer. */
  readonly gone?: AbortSignal;
  readonly hold?: Hold;
}

/** Belongs to work that asks several times. */
export interface Hold {
  /** What answered it last. */
  key?: string;
}

export class LookBacks {
  readonly #deps: LookBackDependencies;
  readonly #limits: LookBackLimits;
  readonly #slots: Semaphore;
  readonly #turns = new Turns();
  /** The folds of late, by what they answer; the latest is the last. */
  readonly #kept = new Map<string, Fold>();
  readonly #holds = new Set<Hold>();

  constructor(deps: LookBackDependencies, limits: LookBackLimits) {
    this.#deps = deps;
    this.#limits = limits;
    this.#slots = new Semaphore(limits.atOnce.limit);
  }

  /**
   * @param read takes the answer from the queries, which are good until it returns
   * @throws {ServiceError} `validation_error` where it would take too long
   * @throws {BudgetExceeded} too many are asked for at a time
   */
  read<Q, R>(
    view: View<Q>,
    moment: Moment,
    asker: Asker,
    read: (queries: Q) => R,
  ): Promise<LookBack<R>> {
    return this.#inTurn(view.accountId, asker, async () => {
      const [number, position] = await this.#lastUpTo(view.accountId, moment, asker);
      const answer = await this.#answer(view, number, moment, asker, read);
      return { answer, position };
    });
  }

  /**
   * Runs work that asks as of the same moment several times, and gives each question the hold: what answers them stays,
   * however many others ask meanwhile.
   */
  async holding<T>(work: (hold: Hold) => Promise<T>): Promise<T> {
    const hold: Hold = {};
    this.#holds.add(hold);
    try {
      return await work(hold);
    } finally {
      this.#holds.delete(hold);
      this.#closeOldest();
    }
  }

  /** Runs the work when it is its turn: an account's go one after the other, so that it keeps nobody else waiting. */
  #inTurn<T>(accountId: string, { gone }: Asker, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(accountId, async () => {
      const late = AbortSignal.timeout(this.#limits.ms);
      const free = await this.#slots.acquire(gone ? AbortSignal.any([late, gone]) : late);
      if (free === undefined) throw this.#tooMany();
      const counted = this.#limits.atOnce.take();
      try {
        return await work();
      } finally {
        counted?.();
        free();
      }
    });
  }

  /** Good until the next `await`. */
  #history({ head }: Asker): Promise<HistoryQueries> {
    return consistentQuery(this.#deps, historyQueries, head);
  }

  /** The number of the account's last event up to the moment, and its position; 0 if there was none. */
  async #lastUpTo(accountId: string, moment: Moment, asker: Asker): Promise<[number, bigint]> {
    const history = await this.#history(asker);
    const number = history.countUpTo(accountId, moment);
    return [number, history.position(accountId, number) ?? 0n];
  }

  async #answer<Q, R>(
    view: View<Q>,
    upTo: number,
    moment: Moment,
    asker: Asker,
    read: (queries: Q) => R,
  ): Promise<R> {
    const { projection, accountId, conversionId = '' } = view;
    const key = [projection.name, accountId, conversionId, upTo].join(' ');
    const fold = this.#kept.get(key) ?? (await this.#fold(view, upTo, moment, asker));
    this.#kept.delete(key);
    this.#kept.set(key, fold);
    if (asker.hold !== undefined) asker.hold.key = key;
    this.#closeOldest();
    return read(fold.query(view.queries));
  }

  #closeOldest(): void {
    const held = new Set(Array.from(this.#holds, ({ key }) => key));
    const free = [...this.#kept].filter(([key]) => !held.has(key));
    for (const [key, fold] of free.slice(0, Math.max(0, free.length - KEPT))) {
      this.#kept.delete(key);
      fold.close();
    }
  }

  /** Folds what the view shows of the account's events up to the number. */
  async #fold(
    { projection, accountId, conversionId }: View<unknown>,
    upTo: number,
    moment: Moment,
    asker: Asker,
  ): Promise<Fold> {
    const { events: budget, ms } = this.#limits;
    const until = performance.now() + ms;
    const fold = Fold.temporary([projection], 'memory');
    try {
      const types = fold.types();
      const selection = { accountId, types, ...(conversionId !== undefined && { conversionId }) };
      const count = (await this.#history(asker)).countSelected(selection, upTo, budget.limit + 1);
      if (count > budget.limit) throw this.#tooLong(moment);
      // The events of one conversion are few, wherever they lie among its account's.
      const slice = conversionId === undefined ? SLICE : upTo;
      const last = count === 0 ? 0 : upTo;
      for (let after = 0; after < last; after += slice) {
        const history = await this.#history(asker);
        const places = history.selected(selection, after, Math.min(after + slice, upTo));
        const events = await readEvents(this.#deps.streams, places);
        if (asker.gone?.aborted === true) {
          throw new ServiceError('validation_error', 'The client hung up before its answer.');
        }
        if (performance.now() >= until) throw this.#tooLong(moment);
        fold.apply(events);
        await setImmediate();
      }
      return fold;
    } catch (error) {
      fold.close();
      throw error;
    }
  }

  #tooMany(): BudgetExceeded {
    this.#limits.atOnce.refuse();
    const message = 'Too many answers as of earlier moments are being worked out.';
    return new BudgetExceeded('service', message, RETRY_SECONDS);
  }

  #tooLong(moment: Moment): ServiceError {
    this.#limits.events.refuse();
    const text = 'time' in moment ? isoTime(moment.time) : String(moment.position);
    const message =
      'It would take too long to work out the answer as of this moment. The operator of the service can: ' +
      `pressledger state --as-of ${text} -o state.json`;
    return fieldError('as_of', message);
  }
}
