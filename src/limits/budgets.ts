/**
 * The budgets: every bound on what one client or one page may use of the service. This file has their
 * settings and defaults, and counts what is in use, so that metrics can show it.
 */

/** A bound that an operator may change: a whole number. */
export interface BudgetSetting {
  readonly name: string;
  readonly default: number;
  /** One line for help. */
  readonly about: string;
  /** The largest value that makes sense. */
  readonly max: number;
  /** The nodes that read it. */
  readonly role: 'api' | 'renderer';
}

const MiB = 2 ** 20;
const GiB = 2 ** 30;

const bound = <R extends BudgetSetting['role']>(
  role: R,
  name: string,
  value: number,
  max: number,
  about: string,
): BudgetSetting & { readonly role: R } => ({ role, name, default: value, max, about });

/** Each budget: its key in `Config`, then node, setting, default, largest value, meaning. */
export const BUDGETS = {
  maxConnections: bound('api', 'MAX_CONNECTIONS', 4096, 1e6, 'open connections'),
  maxBodiesBytes: bound(
    'api',
    'MAX_BODIES_BYTES',
    128 * MiB,
    2 ** 40,
    'bytes of all request bodies that are being received or handled; one client may use half of what others leave free',
  ),
  maxAccountBodiesBytes: bound(
    'api',
    'MAX_ACCOUNT_BODIES_BYTES',
    32 * MiB,
    2 ** 40,
    "bytes of those that are an account's; all clients without an account share as much",
  ),
  maxValidations: bound('api', 'MAX_VALIDATIONS', 2, 1e4, 'documents that are checked at a time'),
  maxAccountStoredBytes: bound(
    'api',
    'MAX_ACCOUNT_STORED_BYTES',
    10 * GiB,
    2 ** 52,
    "bytes of an account's stored requests and PDFs",
  ),
  maxAccountKeys: bound('api', 'MAX_ACCOUNT_KEYS', 100, 1e6, 'API keys of an account'),
  maxAccountSessions: bound(
    'api',
    'MAX_ACCOUNT_SESSIONS',
    100,
    1e6,
    'open sessions of an account; one more ends the oldest',
  ),
  maxPasswordHashes: bound(
    'api',
    'MAX_PASSWORD_HASHES',
    2,
    64,
    'passwords hashed at a time, on threads that files need',
  ),
  maxWaitingSignIns: bound(
    'api',
    'MAX_WAITING_SIGN_INS',
    50,
    1e5,
    'sign-ins that wait for their password to be hashed',
  ),
  maxLinkRequests: bound(
    'api',
    'MAX_LINK_REQUESTS',
    600,
    1e9,
    'downloads a minute of one client address by file links',
  ),
  maxDownloads: bound(
    'api',
    'MAX_DOWNLOADS',
    1024,
    1e6,
    "downloads under way; those of one account's files may use half of what others leave free",
  ),
  maxAddressDownloads: bound(
    'api',
    'MAX_ADDRESS_DOWNLOADS',
    32,
    1e6,
    'downloads under way of one client address',
  ),
  maxLookBacks: bound(
    'api',
    'MAX_LOOK_BACKS',
    2,
    1e3,
    'answers as of an earlier moment that are worked out at a time',
  ),
  maxLookBackEvents: bound(
    'api',
    'MAX_LOOK_BACK_EVENTS',
    50_000,
    1e7,
    'events that one of them may be worked out from',
  ),
  maxSearchBytes: bound(
    'api',
    'MAX_SEARCH_BYTES',
    256 * MiB,
    2 ** 40,
    "bytes of memory for searches of conversions; one account's may take half",
  ),
  maxAccountTemplateMs: bound(
    'api',
    'MAX_ACCOUNT_TEMPLATE_MS',
    10_000,
    1e9,
    'milliseconds a minute that templates of an account which fail, and previews, may take',
  ),
  maxAccountFailedWorkMs: bound(
    'api',
    'MAX_ACCOUNT_FAILED_WORK_MS',
    30_000,
    1e9,
    'milliseconds a minute that work on PDFs of an account which fails may take, that on printed ones included',
  ),
  maxStreams: bound('api', 'MAX_STREAMS', 1000, 1e6, 'streams of conversions that are open'),
  maxAccountStreams: bound(
    'api',
    'MAX_ACCOUNT_STREAMS',
    20,
    1e6,
    'streams of conversions that are open of one account',
  ),
  maxPageMemoryBytes: bound(
    'renderer',
    'MAX_PAGE_MEMORY_BYTES',
    GiB,
    2 ** 44,
    "memory of one page's processes",
  ),
} as const satisfies Readonly<Record<string, BudgetSetting>>;

export type BudgetName = keyof typeof BUDGETS;

/** A budget of API nodes, counted in `Budgets`. A renderer measures its own. */
export type CountedBudget = {
  [Name in BudgetName]: (typeof BUDGETS)[Name]['role'] extends 'api' ? Name : never;
}[BudgetName];

const COUNTED = (Object.keys(BUDGETS) as BudgetName[]).filter(
  (name): name is CountedBudget => BUDGETS[name].role === 'api',
);

/** The limits by budget, as `Config` has them. */
export type BudgetLimits = Readonly<Record<CountedBudget, number>>;

/** One line for metrics. */
export interface BudgetCount {
  readonly name: CountedBudget;
  readonly limit: number;
  /** The amount in use now, over all holders. */
  readonly used: number;
  /** Requests that were refused since the start. */
  readonly refused: number;
}

/** A request that would pass a budget. Nothing of it has been accepted. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
  /** `client`: the client used up its own share (429). `service`: all clients together did (503). */
  readonly scope: 'client' | 'service';
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number;

  constructor(scope: 'client' | 'service', message: string, retryAfter: number) {
    super(message);
    this.scope = scope;
    this.retryAfter = retryAfter;
  }
}

/**
 * Whom a limit holds for: all holders together; each of them by itself; or all together, where each must
 * also leave as much free as it uses. So a few that hold on to theirs never keep all others out.
 */
type Sharing = 'all' | 'each' | 'leaving room';

/** An amount that is in use at once. */
export class Budget {
  readonly name: CountedBudget;
  readonly limit: number;
  readonly #sharing: Sharing;
  readonly #usedBy = new Map<string, number>();
  #used = 0;
  #refused = 0;

  constructor(name: CountedBudget, limit: number, sharing: Sharing = 'all') {
    this.name = name;
    this.limit = limit;
    this.#sharing = sharing;
  }

  /**
   * Takes `amount` if it fits. A request larger than the whole limit fits when nothing else is in use.
   * @param holder who uses it, such as an account's id; without effect for a budget of all
   * @returns a release function, safe to call twice; or undefined where it does not fit
   */
  take(amount = 1, holder = ''): (() => void) | undefined {
    const key = this.#sharing === 'all' ? '' : holder;
    const own = this.#usedBy.get(key) ?? 0;
    const used = this.#sharing === 'each' ? own : this.#used;
    const left = this.#sharing === 'leaving room' ? own : 0;
    if (used > 0 && used + amount + left > this.limit) {
      this.refuse();
      return undefined;
    }
    this.#add(key, amount);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#add(key, -amount);
    };
  }

  /** Counts a refusal that was decided elsewhere, such as by an account's state. */
  refuse(): void {
    this.#refused += 1;
  }

  count(): BudgetCount {
    return { name: this.name, limit: this.limit, used: this.#used, refused: this.#refused };
  }

  #add(key: string, amount: number): void {
    const used = (this.#usedBy.get(key) ?? 0) + amount;
    if (used > 0) this.#usedBy.set(key, used);
    else this.#usedBy.delete(key);
    this.#used += amount;
  }
}

const SHARING: Partial<Readonly<Record<CountedBudget, Sharing>>> = {
  maxBodiesBytes: 'leaving room',
  maxAccountBodiesBytes: 'each',
  maxDownloads: 'leaving room',
  maxAddressDownloads: 'each',
  maxAccountStreams: 'each',
};

/** The budgets of an API node. */
export class Budgets {
  readonly #budgets: Readonly<Record<CountedBudget, Budget>>;

  constructor(limits: BudgetLimits) {
    this.#budgets = Object.fromEntries(
      COUNTED.map((name) => [name, new Budget(name, limits[name], SHARING[name])]),
    ) as Record<CountedBudget, Budget>;
  }

  get(name: CountedBudget): Budget {
    return this.#budgets[name];
  }

  counts(): readonly BudgetCount[] {
    return Object.values(this.#budgets).map((budget) => budget.count());
  }
}
