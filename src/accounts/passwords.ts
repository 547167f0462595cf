/** Hashing passwords: few at a time, and no network of clients keeps all places of those who wait. */
import { hash, verify } from '@node-rs/argon2';
import { ServiceError } from '../errors/errors.ts';
import { type Budget, BudgetExceeded, type Budgets } from '../limits/budgets.ts';

// OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const MIN_CHARACTERS = 12;
/** A longer one costs the hash more than it can add. */
const MAX_BYTES = 1024;
/** All who wait have had their turn by then. */
const RETRY_SECONDS = 5;

const base64 = (bytes: number): string =>
  Buffer.alloc(bytes, 1).toString('base64').replace(/=+$/, '');

/** Looks like a hash and fits no password; checking one against it takes as long as against any other. */
export const NOBODYS_HASH = [
  '',
  'argon2id',
  'v=19',
  `m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}`,
  base64(16),
  base64(32),
].join('$');

/** A client that asks for a hash. Those of one group share its turns and its places in the queue. */
export interface Asker {
  readonly group: string;
  /** Takes a place from those that are not trusted where none is free. */
  readonly trusted: boolean;
}

const OPERATOR: Asker = { group: 'operator', trusted: true };

/**
 * Checks that the password may be chosen.
 * @param field the name that it has in the request
 * @throws {ServiceError} `validation_error`, naming the bound
 */
export function checkPassword(password: string, field = 'password'): void {
  const tooShort = Array.from(password).length < MIN_CHARACTERS;
  if (!tooShort && Buffer.byteLength(password) <= MAX_BYTES) return;
  const text = `A password has at least ${MIN_CHARACTERS} characters and at most ${MAX_BYTES} bytes.`;
  throw new ServiceError('validation_error', text, { details: { [field]: [text] } });
}

interface Waiting {
  readonly trusted: boolean;
  readonly resolve: (release: () => void) => void;
  readonly reject: (error: BudgetExceeded) => void;
  readonly leavePlace: () => void;
}

/**
 * Hashes and verifies passwords. A hash keeps one of libuv's four threads, which all reading and writing
 * of files needs, so `maxPasswordHashes` run at a time and `maxWaitingSignIns` wait. Groups take turns.
 */
export class Passwords {
  readonly #hashes: Budget;
  readonly #places: Budget;
  /** Queues by group, in the order of the groups' turns: the first key is next. */
  readonly #groups = new Map<string, Waiting[]>();

  constructor(budgets: Budgets) {
    this.#hashes = budgets.get('maxPasswordHashes');
    this.#places = budgets.get('maxWaitingSignIns');
  }

  /** @throws {ServiceError} `validation_error`, naming the bound */
  async hash(password: string, asker: Asker = OPERATOR): Promise<string> {
    checkPassword(password);
    return await this.#inTurn(asker, () => hash(password, PARAMETERS));
  }

  /** @throws {BudgetExceeded} too many wait; the password was not looked at */
  async verify(passwordHash: string, password: string, asker: Asker): Promise<boolean> {
    return await this.#inTurn(asker, () => verify(passwordHash, password));
  }

  async #inTurn<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    const release = this.#start() ?? (await this.#wait(asker));
    try {
      return await work();
    } finally {
      release();
      this.#startNext();
    }
  }

  #start(): (() => void) | undefined {
    const { used } = this.#hashes.count();
    return used < this.#hashes.limit ? this.#hashes.take() : undefined;
  }

  async #wait({ group, trusted }: Asker): Promise<() => void> {
    const queue = this.#groups.get(group) ?? [];
    const leavePlace = this.#places.take() ?? this.#takeOver(queue.length, trusted);
    if (leavePlace === undefined) throw tooMany();
    return await new Promise((resolve, reject) => {
      queue.push({ trusted, resolve, reject, leavePlace });
      this.#groups.set(group, queue);
    });
  }

  /**
   * Takes the last place of the largest group, if it is larger than the newcomer's would be; from
   * those not trusted, somebody trusted takes it if theirs would not be larger.
   * @param own places that the newcomer's group has
   */
  #takeOver(own: number, trusted: boolean): (() => void) | undefined {
    const sizeOf = (queue: readonly Waiting[]): number =>
      queue.length + (trusted && queue[0]?.trusted === false ? 1 : 0);
    const [largest] = [...this.#groups].toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a));
    if (largest === undefined || sizeOf(largest[1]) <= own + 1) return undefined;
    const [group, queue] = largest;
    const last = queue.pop();
    if (queue.length === 0) this.#groups.delete(group);
    last?.reject(tooMany());
    return last?.leavePlace;
  }

  #startNext(): void {
    const next = this.#groups.entries().next();
    const release = next.done ? undefined : this.#start();
    if (next.done || release === undefined) return;
    const [group, queue] = next.value;
    const first = queue.shift();
    this.#groups.delete(group);
    if (queue.length > 0) this.#groups.set(group, queue);
    first?.leavePlace();
    first?.resolve(release);
  }
}

const tooMany = (): BudgetExceeded =>
  new BudgetExceeded('service', 'Too many sign-ins wait for their turn. Try again.', RETRY_SECONDS);
