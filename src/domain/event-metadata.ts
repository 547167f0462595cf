import type { Role } from './member-events.ts';

/** The member who acted, by a session or by a key that they have made; older events have neither. */
export interface ActingPerson {
  readonly person?: string;
  /** The role that they had then. */
  readonly role?: Role;
}

/** The party that caused an event. */
export type Actor =
  | ({ readonly kind: 'key' | 'session'; readonly id: string } & ActingPerson)
  | ({ readonly kind: 'account'; readonly id: string } & ActingPerson)
  | { readonly kind: 'renderer'; readonly id: string }
  /** The account of the operator who acted; without it, somebody at the command line. */
  | { readonly kind: 'operator'; readonly id?: string }
  /** `anonymous`: somebody who has not proved to be anyone. */
  | { readonly kind: 'service' | 'anonymous' };

/** Facts about every event beside its data. They are stored with it, and versioned as it is. */
export interface EventMetadata {
  /** The id of the conversion or, where it is about a batch, of that; else the id of the command. */
  readonly correlationId: string;
  /** The id of the event or command that caused it. */
  readonly causationId: string;
  readonly actor: Actor;
  /**
   * The client may have chosen it. It is sealed with the account's key, as the client's address is; if there is
   * no account, it is as log lines have it.
   */
  readonly requestId?: string;
  readonly client?: string;
  /** Why an operator did it, in their words, sealed with the account's key. */
  readonly reason?: string;
  /** The trace that its request belongs to, a W3C `traceparent`: sealed, for the client may have chosen it. */
  readonly trace?: string;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly schemaVersion: number;
}
