/**
 * Exchanges which jobs renderer nodes have in hand. They tell the nodes that offer jobs at each change and
 * every second. These then publish the next jobs at once, and none anew that is being rendered.
 */
import { createInbox, type Subscription } from '@nats-io/transport-node';
import type { NatsLink } from '../nats/connection.ts';
import { handsSubject } from './nats-streams.ts';

const ANNOUNCE_MS = 1000;
/** The delay before the end of a job is told. Most often the next job is taken by then, and both are told. */
const GATHER_MS = 10;
/** A node that has said nothing for so long has gone. */
const FORGET_MS = 3500;
/** Limits on what a node may claim: those that run strangers' pages are not believed everything. */
const MAX_SLOTS = 1024;
const MAX_NODES = 1000;
const MAX_SAID_BYTES = 128 * 1024;

interface Hands {
  readonly slots: number;
  readonly jobs: ReadonlySet<string>;
  /** Those of `jobs` that have released their slots. */
  readonly storing: ReadonlySet<string>;
  /** Taken, not tried and out of the stream again: the attempt that is still to be made, by conversion. */
  readonly putBack: ReadonlyMap<string, number>;
  readonly heardAt: number;
}

/** Called at each change of what is in hand. Gets what was put back, for those who offered it. */
type OnChange = (putBack: ReadonlyMap<string, number>) => void;

/** Counts the jobs that may be taken now. At most twice as many as there are slots may be in hand. */
const freeSlots = (slots: number, inHand: number, storing: number): number =>
  Math.min(slots - inHand + storing, 2 * slots - inHand);

const NOTHING: ReadonlyMap<string, number> = new Map();

export class NatsHands {
  readonly #link: NatsLink;
  readonly #node = createInbox('n').slice(2);
  readonly #own = new Map<string, number>();
  readonly #storing = new Set<string>();
  readonly #others = new Map<string, Hands>();
  /** Put back here and not said yet: it is said once, or it would be offered more than once. */
  readonly #putBack = new Map<string, number>();
  #ownSlots = 0;
  #announcements: NodeJS.Timeout | undefined;
  #announceNow: NodeJS.Immediate | undefined;
  #announceSoon: NodeJS.Timeout | undefined;
  #subscription: Subscription | undefined;
  #onChange: OnChange | undefined;
  readonly #forget: () => void;

  constructor(link: NatsLink) {
    this.#link = link;
    this.#forget = link.onReconnect(() => {
      if (this.#announcements) this.#announce();
    });
  }

  addSlots(slots: number): void {
    this.#ownSlots += slots;
    this.#announcements ??= setInterval(() => this.#announce(), ANNOUNCE_MS);
    this.#changed();
  }

  removeSlots(slots: number): void {
    this.#ownSlots -= slots;
    this.#changed();
  }

  take(conversionId: string): void {
    this.#own.set(conversionId, (this.#own.get(conversionId) ?? 0) + 1);
    this.#changed();
  }

  releaseSlot(conversionId: string): void {
    this.#storing.add(conversionId);
    this.#changed();
  }

  drop(conversionId: string): void {
    const left = (this.#own.get(conversionId) ?? 0) - 1;
    if (left > 0) this.#own.set(conversionId, left);
    else this.#own.delete(conversionId);
    this.#storing.delete(conversionId);
    this.#onChange?.(NOTHING);
    this.#announceSoon ??= setTimeout(() => this.#announce(), GATHER_MS);
  }

  /** Not in hand any more, and no longer in the stream: to be offered again, for the same attempt. */
  putBack(conversionId: string, attempt: number): void {
    this.#putBack.set(conversionId, attempt);
    this.#onChange?.(new Map([[conversionId, attempt]]));
    this.drop(conversionId);
    this.#changed();
  }

  /** Hears what nodes have in hand, here and elsewhere. */
  follow(onChange: OnChange): void {
    this.#onChange = onChange;
    this.#subscription = this.#link.connection.subscribe(handsSubject(this.#link.namespace, '*'), {
      callback: (error, message) => {
        if (error) return;
        const node = message.subject.slice(handsSubject(this.#link.namespace, '').length);
        const isOther = node !== this.#node && message.data.length <= MAX_SAID_BYTES;
        const hands = isOther ? parse(message.string()) : undefined;
        if (!hands || !this.#hasRoomFor(node)) return;
        this.#others.set(node, hands);
        onChange(hands.putBack);
      },
    });
  }

  /** Made-up names must not crowd memory, nor make every look at them longer. */
  #hasRoomFor(node: string): boolean {
    if (this.#others.size < MAX_NODES || this.#others.has(node)) return true;
    const since = performance.now() - FORGET_MS;
    for (const [name, { heardAt }] of this.#others) {
      if (heardAt < since) this.#others.delete(name);
    }
    return this.#others.size < MAX_NODES;
  }

  has(conversionId: string): boolean {
    if (this.#own.has(conversionId)) return true;
    for (const { jobs } of this.#living()) if (jobs.has(conversionId)) return true;
    return false;
  }

  holdsSlot(conversionId: string): boolean {
    if (this.#own.has(conversionId)) return !this.#storing.has(conversionId);
    for (const { jobs, storing } of this.#living()) {
      if (jobs.has(conversionId)) return !storing.has(conversionId);
    }
    return false;
  }

  /** Counts the jobs that all renderers together could take now. */
  free(): number {
    let sum = freeSlots(this.#ownSlots, this.#own.size, this.#storing.size);
    for (const { slots, jobs, storing } of this.#living()) {
      sum += freeSlots(slots, jobs.size, storing.size);
    }
    return sum;
  }

  /** Counts the jobs that all renderers together take at a time. */
  slots(): number {
    let sum = this.#ownSlots;
    for (const { slots } of this.#living()) sum += slots;
    return sum;
  }

  close(): void {
    this.#onChange = undefined;
    this.#forget();
    clearInterval(this.#announcements);
    clearImmediate(this.#announceNow);
    clearTimeout(this.#announceSoon);
    if (!this.#link.connection.isClosed()) this.#subscription?.unsubscribe();
    if (this.#announcements === undefined) return;
    this.#own.clear();
    this.#storing.clear();
    this.#ownSlots = 0;
    this.#announce();
  }

  *#living(): Iterable<Hands> {
    const since = performance.now() - FORGET_MS;
    for (const [node, hands] of this.#others) {
      if (hands.heardAt < since) this.#others.delete(node);
      else yield hands;
    }
  }

  #changed(): void {
    this.#onChange?.(NOTHING);
    this.#announceNow ??= setImmediate(() => this.#announce());
  }

  #announce(): void {
    clearImmediate(this.#announceNow);
    clearTimeout(this.#announceSoon);
    this.#announceNow = undefined;
    this.#announceSoon = undefined;
    // An announcement made while the server is away would arrive when it is out of date.
    if (!this.#link.isUp()) return;
    const said = JSON.stringify({
      slots: this.#ownSlots,
      jobs: [...this.#own.keys()],
      storing: [...this.#storing],
      putBack: [...this.#putBack],
    });
    this.#putBack.clear();
    this.#link.connection.publish(handsSubject(this.#link.namespace, this.#node), said);
  }
}

function parse(said: string): Hands | undefined {
  try {
    const { slots, jobs, storing, putBack } = JSON.parse(said) as Partial<Record<string, unknown>>;
    if (typeof slots !== 'number' || !Array.isArray(jobs)) return undefined;
    const heardAt = performance.now();
    return {
      slots: Math.min(Math.max(slots, 0), MAX_SLOTS),
      jobs: idsOf(jobs),
      storing: idsOf(storing),
      putBack: new Map(Array.isArray(putBack) ? putBack.slice(0, MAX_SLOTS).filter(isPutBack) : []),
      heardAt,
    };
  } catch {
    return undefined;
  }
}

function idsOf(said: unknown): ReadonlySet<string> {
  const ids: unknown[] = Array.isArray(said) ? said : [];
  return new Set(ids.slice(0, 2 * MAX_SLOTS).filter((id) => typeof id === 'string'));
}

function isPutBack(said: unknown): said is [string, number] {
  return Array.isArray(said) && typeof said[0] === 'string' && Number.isSafeInteger(said[1]);
}
