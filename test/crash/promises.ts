/** What the clients and people of a deployment were promised, and must find. */
import type { EventType } from '../../src/domain/events.ts';

export interface Client {
  readonly email: string;
  readonly accountId: string;
  readonly apiKey: string;
}

export interface Login {
  readonly email: string;
  readonly password: string;
}

/** Who was removed, with all that once let them in. */
interface Removed extends Login {
  readonly id: string;
  readonly key: string;
  readonly access: string;
  readonly refresh: string;
}

export interface PeoplePromises {
  readonly removed: Removed[];
  /** Addresses of links that were asked for. */
  readonly resets: string[];
  /** Accounts on a plan that gives credits each month. */
  readonly monthly: string[];
  /** Events and who must have caused them, by what is in their data. */
  readonly acts: { readonly type: EventType; readonly about: string; readonly by: string }[];
}

export const noPeople = (): PeoplePromises => ({ removed: [], resets: [], monthly: [], acts: [] });

export interface Promised {
  readonly client: Client;
  readonly id: string;
  readonly fails: boolean;
  readonly round: number;
}

export interface RevokedKey {
  readonly id: string;
  readonly key: string;
}

/** All that the clients of a deployment were promised so far. */
export interface Promises {
  readonly conversions: Promised[];
  readonly revoked: RevokedKey[];
  /** Faults that a client saw. */
  readonly complaints: string[];
  requests: number;
  readonly people: PeoplePromises;
}
