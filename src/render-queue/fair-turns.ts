/**
 * Waiting jobs, in turns by slot time: next is the account that has used the least of it. Accounts whose
 * pages hold slots for long leave one slot to the others (docs/decisions/0021-fair-slots.md).
 */
import type { FailedOutcome, RenderJob } from './messages.ts';

/** Slot time counts half after this time. */
const HALF_LIFE_MS = 120_000;
/** A page that ran into the time limit holds its account back for this long. Idle accounts are forgotten. */
const MEMORY_MS = 300_000;
/** Nobody needs protection from pages that are shorter. */
const LONG_MS = 2000;
/** Failures cost their client nothing: one that took longer counts as one by the time limit. */
const LONG_FAILURE_MS = 10_000;
/** The most slot time by which an account may be behind the others: what it starts ahead of them with. */
const HEAD_START_MS = 5000;
/** Counted at least for a job in flight, so that accounts share slots that become free together. */
const MIN_IN_FLIGHT_MS = 1000;

export interface FreeSlots {
  /** Slots that could take a job now; not above 0 where a job would have to wait for one. */
  readonly free: number;
  /** Slots of all renderers. */
  readonly total: number;
}

interface InFlight {
  readonly account: Account;
  /** Undefined until a renderer has it. */
  begunAt: number | undefined;
  delivery?: string | undefined;
}

/** The waiting jobs of an account: those of low priority come after all others. */
class WaitingJobs {
  #normal: RenderJob[] = [];
  #low: RenderJob[] = [];

  get length(): number {
    return this.#normal.length + this.#low.length;
  }

  get normal(): number {
    return this.#normal.length;
  }

  push(job: RenderJob): void {
    (job.priority === 'low' ? this.#low : this.#normal).push(job);
  }

  unshift(job: RenderJob): void {
    (job.priority === 'low' ? this.#low : this.#normal).unshift(job);
  }

  shift(): RenderJob | undefined {
    return this.#normal.shift() ?? this.#low.shift();
  }

  /** @returns the jobs that it has let go: those that `keeps` is false for */
  retain(keeps: (job: RenderJob) => boolean): readonly RenderJob[] {
    const all = [...this.#normal, ...this.#low];
    this.#normal = this.#normal.filter(keeps);
    this.#low = this.#low.filter(keeps);
    const kept = new Set([...this.#normal, ...this.#low]);
    return all.filter((job) => !kept.has(job));
  }
}

interface Account {
  readonly waiting: WaitingJobs;
  readonly inFlight: Set<InFlight>;
  /** Slot time used, in the same count as `#fairTurn`. */
  turn: number;
  /** Tells accounts with equal slot time apart: the one served longest ago is next. */
  served: number;
  /** Sums over past slot times, and over their squares, as they count at `seenAt`. */
  used: number;
  squares: number;
  seenAt: number;
  heldBackUntil: number;
}

export class FairTurns {
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();
  /** Accounts with waiting jobs, and the conversions of these jobs. */
  readonly #waiting = new Set<Account>();
  readonly #waitingIds = new Set<string>();
  readonly #inFlight = new Map<string, InFlight>();
  /** The slot time that an account has used which always had its fair share. */
  #fairTurn = 0;
  #served = 0;
  #sweptAt: number;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweptAt = now();
  }

  /** Waiting jobs. */
  get size(): number {
    return this.#waitingIds.size;
  }

  /** Waiting jobs of the account: all, or those of normal priority. */
  sizeOf(accountId: string, priority?: 'normal'): number {
    const waiting = this.#accounts.get(accountId)?.waiting;
    return (priority === 'normal' ? waiting?.normal : waiting?.length) ?? 0;
  }

  /** True if the conversion's job waits. */
  has(conversionId: string): boolean {
    return this.#waitingIds.has(conversionId);
  }

  add(job: RenderJob): void {
    this.#enqueue(job).push(job);
  }

  /** Puts a job that was taken and has not begun before the account's other jobs. */
  untake(job: RenderJob): void {
    this.#enqueue(job).unshift(job);
  }

  /**
   * The next job, which is in flight until `release`. Accounts that are held back share all slots but
   * one. With a single slot they run only when nobody else waits. One whose pages ran into the time limit
   * takes no slot either while long pages of others have all but one. Their jobs do not wait outside, where
   * they would be before others.
   *
   * @returns undefined where no job waits that may have a slot now
   */
  take({ free, total }: FreeSlots): RenderJob | undefined {
    const now = this.#now();
    this.#sweep(now);
    const most = Math.max(1, total - 1);
    const isFree = (taken: number): boolean => free > 0 && taken < most;
    // Summed over all accounts at most once.
    let average: number | undefined;
    const averageUse = (): number => (average ??= this.#averageUse(now));
    const isHeldBack = (account: Account): boolean => this.#isHeldBack(account, now, averageUse);
    const heldBackMayTake = isFree(this.#inFlightOf(isHeldBack));
    const endlessMayTake = isFree(this.#inFlightOf((account) => this.#hasLongPages(account, now)));
    let next: Account | undefined;
    let nextIsLast = false;
    for (const account of this.#waiting) {
      const heldBack = isHeldBack(account);
      if (heldBack && !heldBackMayTake) continue;
      if (hadTimeout(account, now) && total > 1 && !endlessMayTake) continue;
      const isLast = heldBack && total <= 1;
      if (!next || (isLast === nextIsLast ? this.#isBefore(account, next, now) : nextIsLast)) {
        next = account;
        nextIsLast = isLast;
      }
    }
    const job = next?.waiting.shift();
    if (!next || !job) return undefined;
    if (next.waiting.length === 0) this.#waiting.delete(next);
    this.#waitingIds.delete(job.conversionId);
    this.#served += 1;
    next.served = this.#served;
    const inFlight = { account: next, begunAt: undefined };
    next.inFlight.add(inFlight);
    this.#inFlight.set(job.conversionId, inFlight);
    return job;
  }

  /** @returns the conversions whose jobs it has forgotten: those that `keeps` is false for */
  retain(keeps: (conversionId: string) => boolean): string[] {
    const forgotten: string[] = [];
    for (const account of this.#waiting) {
      const gone = account.waiting.retain(({ conversionId }) => keeps(conversionId));
      forgotten.push(...gone.map(({ conversionId }) => conversionId));
      if (account.waiting.length === 0) this.#waiting.delete(account);
    }
    for (const id of forgotten) this.#waitingIds.delete(id);
    return forgotten;
  }

  /**
   * A renderer has the job: its slot time counts from now.
   * @param delivery names the delivery, where a job comes again when its renderer has gone; the time of that one is not the
   *   length of a later try
   */
  begin(conversionId: string, delivery?: string): void {
    const inFlight = this.#inFlight.get(conversionId);
    if (!inFlight) return;
    if (inFlight.delivery !== delivery) this.pause(conversionId);
    inFlight.delivery = delivery;
    inFlight.begunAt ??= this.#now();
  }

  /** The job holds no slot any more. A second call, or one for a job that was not taken, does nothing. */
  release(conversionId: string): void {
    this.pause(conversionId);
    const inFlight = this.#inFlight.get(conversionId);
    if (!inFlight) return;
    this.#inFlight.delete(conversionId);
    inFlight.account.inFlight.delete(inFlight);
  }

  /** The job holds no slot until it begins again. */
  pause(conversionId: string): void {
    const inFlight = this.#inFlight.get(conversionId);
    if (inFlight?.begunAt === undefined) return;
    const now = this.#now();
    const { account } = inFlight;
    const slotTime = now - inFlight.begunAt;
    inFlight.begunAt = undefined;
    account.turn = this.#turn(account) + slotTime;
    let active = 0;
    for (const each of this.#accounts.values()) if (isActive(each)) active += 1;
    this.#fairTurn += slotTime / active;
    const kept = decay(now - account.seenAt);
    account.used = account.used * kept + slotTime;
    account.squares = account.squares * kept + slotTime ** 2;
    account.seenAt = now;
  }

  /** Takes note of a job in flight that failed after long. Its slot must not be released before. */
  learn({ conversionId, code }: Pick<FailedOutcome, 'conversionId' | 'code'>): void {
    const inFlight = this.#inFlight.get(conversionId);
    if (!inFlight) return;
    const now = this.#now();
    const { account, begunAt = now } = inFlight;
    if (code !== 'timeout' && now - begunAt < LONG_FAILURE_MS) return;
    account.heldBackUntil = now + MEMORY_MS;
  }

  isHeldBack(accountId: string): boolean {
    const account = this.#accounts.get(accountId);
    return account !== undefined && this.#isHeldBack(account, this.#now());
  }

  #enqueue({ accountId, conversionId }: RenderJob): WaitingJobs {
    // A job that waits holds no slot.
    this.release(conversionId);
    const now = this.#now();
    let account = this.#accounts.get(accountId);
    account ??= {
      waiting: new WaitingJobs(),
      inFlight: new Set(),
      turn: Number.NEGATIVE_INFINITY,
      served: 0,
      used: 0,
      squares: 0,
      seenAt: now,
      heldBackUntil: now,
    };
    this.#accounts.set(accountId, account);
    this.#waiting.add(account);
    this.#waitingIds.add(conversionId);
    return account.waiting;
  }

  #turn({ turn }: Account): number {
    return Math.max(turn, this.#fairTurn - HEAD_START_MS);
  }

  #isBefore(one: Account, other: Account, now: number): boolean {
    const difference = this.#turnNow(one, now) - this.#turnNow(other, now);
    return difference < 0 || (difference === 0 && one.served < other.served);
  }

  #turnNow(account: Account, now: number): number {
    let turn = this.#turn(account);
    for (const { begunAt = now } of account.inFlight) {
      turn += Math.max(now - begunAt, MIN_IN_FLIGHT_MS);
    }
    return turn;
  }

  /** The number of jobs in flight of the accounts that are so. */
  #inFlightOf(isSo: (account: Account) => boolean): number {
    const accounts = new Set([...this.#inFlight.values()].map(({ account }) => account));
    return [...accounts].filter(isSo).reduce((sum, { inFlight }) => sum + inFlight.size, 0);
  }

  /** True if others wait long for a slot that it holds. */
  #hasLongPages(account: Account, now: number): boolean {
    return hadTimeout(account, now) || lengthOf(recentUse(account, now)) >= LONG_MS;
  }

  /** True where its pages lately ran into the time limit, or are long and had more than their share. */
  #isHeldBack(account: Account, now: number, averageUse = () => this.#averageUse(now)): boolean {
    if (hadTimeout(account, now)) return true;
    if (!this.#hasLongPages(account, now) || this.#accounts.size === 1) return false;
    return recentUse(account, now).used > averageUse();
  }

  #averageUse(now: number): number {
    let all = 0;
    for (const each of this.#accounts.values()) all += recentUse(each, now).used;
    return all / this.#accounts.size;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < MEMORY_MS / 10) return;
    this.#sweptAt = now;
    for (const [id, account] of this.#accounts) {
      if (!isActive(account) && now - account.seenAt >= MEMORY_MS) this.#accounts.delete(id);
    }
  }
}

const isActive = ({ waiting, inFlight }: Account): boolean => waiting.length + inFlight.size > 0;

const hadTimeout = ({ heldBackUntil }: Account, now: number): boolean => now < heldBackUntil;

const decay = (ms: number): number => 2 ** (-ms / HALF_LIFE_MS);

interface Use {
  used: number;
  squares: number;
}

/** The average length of the page that a newcomer finds in a slot of the account. */
const lengthOf = ({ used, squares }: Use): number => (used === 0 ? 0 : squares / used);

function recentUse({ used, squares, seenAt, inFlight }: Account, now: number): Use {
  const kept = decay(now - seenAt);
  const use = { used: used * kept, squares: squares * kept };
  for (const { begunAt = now } of inFlight) {
    use.used += now - begunAt;
    use.squares += (now - begunAt) ** 2;
  }
  return use;
}
