/**
 * Deliveries under way: in all, of an account, to a host, of an account to a host, and to one receiver; to one that did
 * not take the last: 1.
 */
export const LIMITS = { all: 256, account: 8, host: 16, accountAtHost: 4, receiver: 4 } as const;
/** Receivers that something is remembered of, in some 200 bytes each. All of it can be found out again. */
const MAX_REMEMBERED = 40_000;

interface Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly receiver: string;
  /** Where it came with a request. */
  readonly url?: string;
}

/** The URLs of an account's requests may lead anywhere, so that each delivery has a place to go to of its own. */
const placeOf = ({ id, receiver, url }: Delivery): string => (url === undefined ? receiver : id);

interface Receiver {
  readonly accountId: string;
  /** The host that its last delivery went to. */
  host?: string;
  /** It did not take the last delivery. */
  isFailing: boolean;
  /** It is left alone. */
  rests: boolean;
  /** Full places, one for each delivery that was due at the last look and not begun. */
  waitsFor?: readonly Place[];
}

interface UnderWay {
  readonly delivery: Delivery;
  readonly ending: AbortController;
  places: readonly Place[];
}

/** Counts deliveries by this key. */
interface Place {
  readonly key: string;
  readonly most: number;
}

/**
 * Says which receivers may be sent something now. What is under way takes a place in each of the limits. A receiver is
 * looked at where there is news of it or a place that it waits for, so that no look depends on how much waits for others.
 */
export class DeliveryPlaces {
  /** By the delivery's id: from the choice of its row until the read model holds the try. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #counts = new Map<string, number>();
  readonly #receivers = new Map<string, Receiver>();
  /** Receivers that something may be due to which is not under way: the one first whose last turn is longest ago. */
  readonly #open = new Set<string>();

  /** Tells that something may be due to a receiver which was not at the last look. */
  news(receiver: string): void {
    this.#open.add(receiver);
    delete this.#receivers.get(receiver)?.waitsFor;
  }

  /** Those that may be sent something when it is their turn, which is at each step. */
  *inTurn(): Iterable<string> {
    // One that is begun goes to the end, where it would be met again.
    const open = [...this.#open];
    for (const receiver of open) if (this.#mayBeSent(receiver)) yield receiver;
  }

  /**
   * Tells what was due to a receiver, after all of it was begun that has a place.
   * @param isAll false where more may be due
   */
  looked(receiver: string, due: readonly Delivery[], isAll: boolean): void {
    const waiting = due.filter(({ id }) => !this.#underWay.has(id));
    const [first] = waiting;
    if (first === undefined) {
      if (isAll) this.#open.delete(receiver);
      return;
    }
    const waitsFor = new Map<string, Place>();
    for (const each of waiting) {
      const known = this.#knownOf(placeOf(each), each.accountId);
      if (known.rests) continue;
      const full = placesFor(placeOf(each), known).find((place) => !this.#isFree(place));
      // There are too many in all.
      if (full === undefined) return;
      waitsFor.set(full.key, full);
    }
    this.#remember(receiver, first.accountId).waitsFor = [...waitsFor.values()];
  }

  /** @returns the signal that ends it; undefined where it is under way or has no place */
  begin(delivery: Delivery): AbortSignal | undefined {
    const { id, accountId, receiver } = delivery;
    if (this.#underWay.has(id)) return undefined;
    const place = placeOf(delivery);
    const known = this.#remember(place, accountId);
    if (!this.#mayBeSent(place)) return undefined;
    this.#remember(receiver, accountId);
    this.#open.delete(receiver);
    this.#open.add(receiver);
    const ending = new AbortController();
    const underWay = { delivery, ending, places: placesFor(place, known) };
    this.#count(underWay.places, 1);
    this.#underWay.set(id, underWay);
    return ending.signal;
  }

  /** Moves its place to the host that it goes to. @returns false where that has none: it is to be begun again */
  moveTo(host: string, id: string): boolean {
    const underWay = this.#underWay.get(id);
    if (underWay === undefined) return false;
    const place = placeOf(underWay.delivery);
    const known = this.#remember(place, underWay.delivery.accountId);
    known.host = host;
    this.#count(underWay.places, -1);
    underWay.places = placesFor(place, known);
    const hasPlace = underWay.places.every((each) => this.#isFree(each));
    if (!hasPlace) underWay.places = [];
    this.#count(underWay.places, 1);
    return hasPlace;
  }

  end(id: string): void {
    const underWay = this.#underWay.get(id);
    if (underWay === undefined) return;
    this.#count(underWay.places, -1);
    this.#underWay.delete(id);
    this.news(underWay.delivery.receiver);
  }

  /** @param accountId of one account alone */
  abort(accountId?: string): void {
    for (const { delivery, ending } of this.#underWay.values()) {
      if (accountId === undefined || delivery.accountId === accountId) ending.abort();
    }
  }

  /** Whether a receiver took its last delivery. */
  answered(delivery: Delivery, took: boolean): void {
    const place = placeOf(delivery);
    if (place === delivery.id) this.#receivers.delete(place);
    else this.#remember(place, delivery.accountId).isFailing = !took;
  }

  /** Leaves a receiver alone, or this delivery where its URL came with a request. @returns what ends that */
  rest(delivery: Delivery): () => void {
    const place = placeOf(delivery);
    this.#remember(place, delivery.accountId).rests = true;
    return () => {
      const known = this.#receivers.get(place);
      if (known !== undefined) known.rests = false;
      this.news(delivery.receiver);
    };
  }

  /** Its owner may have changed where it is. */
  forget(receiver: string): void {
    this.#receivers.delete(receiver);
  }

  #mayBeSent(receiver: string): boolean {
    if (this.#underWay.size >= LIMITS.all) return false;
    const known = this.#receivers.get(receiver);
    if (known === undefined) return this.#isFree({ key: receiver, most: LIMITS.receiver });
    if (known.rests || known.waitsFor?.some((place) => this.#isFree(place)) === false) return false;
    return placesFor(receiver, known).every((place) => this.#isFree(place));
  }

  #knownOf(receiver: string, accountId: string): Receiver {
    return this.#receivers.get(receiver) ?? { accountId, isFailing: false, rests: false };
  }

  #remember(receiver: string, accountId: string): Receiver {
    const known = this.#knownOf(receiver, accountId);
    if (this.#receivers.has(receiver)) return known;
    const [oldest] = this.#receivers.keys();
    if (oldest !== undefined && this.#receivers.size >= MAX_REMEMBERED)
      this.#receivers.delete(oldest);
    this.#receivers.set(receiver, known);
    return known;
  }

  #isFree({ key, most }: Place): boolean {
    return (this.#counts.get(key) ?? 0) < most;
  }

  #count(places: readonly Place[], by: 1 | -1): void {
    for (const { key } of places) {
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
  }
}

function placesFor(receiver: string, { accountId, host, isFailing }: Receiver): readonly Place[] {
  const places = [
    { key: receiver, most: isFailing ? 1 : LIMITS.receiver },
    { key: accountId, most: LIMITS.account },
  ];
  if (host === undefined) return places;
  return [
    ...places,
    { key: `//${host}`, most: LIMITS.host },
    { key: `${accountId}//${host}`, most: LIMITS.accountAtHost },
  ];
}
