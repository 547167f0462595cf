/**
 * Deliveries under way: in all, of an account, to a host, of an account to a host, and to one receiver; to one that did
 * not take the last: 1.
 */
export const LIMITS = { all: 256, account: 8, host: 16, accountAtHost: 4, receiver: 4 } as const;
/** Receivers that something is remembered of. All of it can be found out again. */
const MAX_REMEMBERED = 10_000;

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
  /** It is left alone until then, by the process's own clock. */
  restsUntil: number;
  /** Counts up with each delivery that is begun, of all receivers. */
  turn: number;
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

/** Says which receivers may be sent something now. What is under way takes a place in each of the limits. */
export class DeliveryPlaces {
  /** By the delivery's id: from the choice of its row until the read model holds the try. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #counts = new Map<string, number>();
  readonly #receivers = new Map<string, Receiver>();
  #turns = 0;

  /** Those that may be sent something when it is their turn: the one first whose last turn is longest ago. */
  *inTurn(receivers: readonly string[]): Iterable<string> {
    const sorted = receivers.toSorted((one, other) => this.#turnOf(one) - this.#turnOf(other));
    for (const receiver of sorted) if (this.#mayBeSent(receiver)) yield receiver;
  }

  /** @returns the signal that ends it; undefined where it is under way or has no place */
  begin(delivery: Delivery): AbortSignal | undefined {
    const { id, accountId, receiver } = delivery;
    if (this.#underWay.has(id)) return undefined;
    const place = placeOf(delivery);
    const known = this.#remember(place, accountId);
    if (!this.#mayBeSent(place)) return undefined;
    this.#turns += 1;
    this.#remember(receiver, accountId).turn = this.#turns;
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
    if (underWay !== undefined) this.#count(underWay.places, -1);
    this.#underWay.delete(id);
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

  /** Leaves a receiver alone for a time, or this delivery where its URL came with a request. */
  rest(delivery: Delivery, ms: number): void {
    const known = this.#remember(placeOf(delivery), delivery.accountId);
    known.restsUntil = performance.now() + ms;
  }

  /** Its owner may have changed where it is. */
  forget(receiver: string): void {
    this.#receivers.delete(receiver);
  }

  #mayBeSent(receiver: string): boolean {
    if (this.#underWay.size >= LIMITS.all) return false;
    const known = this.#receivers.get(receiver);
    if (known === undefined) return this.#isFree({ key: receiver, most: LIMITS.receiver });
    if (known.restsUntil > performance.now()) return false;
    return placesFor(receiver, known).every((place) => this.#isFree(place));
  }

  #turnOf(receiver: string): number {
    return this.#receivers.get(receiver)?.turn ?? 0;
  }

  #remember(receiver: string, accountId: string): Receiver {
    const known = this.#receivers.get(receiver);
    if (known !== undefined) return known;
    if (this.#receivers.size >= MAX_REMEMBERED) this.#receivers.clear();
    const made = { accountId, isFailing: false, restsUntil: 0, turn: 0 };
    this.#receivers.set(receiver, made);
    return made;
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
