/** The types of `verify-evidence.mjs`, which has none of its own so that it can be read and run as it is. */

export declare class Difference extends Error {
  readonly at: { readonly file: string; readonly of?: string };
  readonly expected: unknown;
  readonly found: unknown;

  constructor(at: Difference['at'], expected: unknown, found: unknown);
}

export interface Found {
  readonly ok: true;
  readonly conversion: string;
  readonly origin: string;
  /** The number of events in the log that the checkpoint covers. */
  readonly size: number;
  /** The root hash of the log's tree, base64. */
  readonly root: string;
  readonly proved: readonly string[];
  readonly events: readonly {
    readonly index: number;
    readonly time: string;
    readonly type: string;
  }[];
  /** Files that the service has signed, and that follow from no event. */
  readonly signed: readonly string[];
  readonly absent: readonly string[];
  /** Cosigners whose keys were not given. */
  readonly not_checked: readonly string[];
}

/** A group of checks, by what it is about. */
export type Group = 'files' | 'checkpoint' | 'events' | 'documents' | 'report';

/** The groups of checks, in their order. */
export declare const GROUPS: readonly Group[];

export declare function verifyEvidence(
  zip: Uint8Array,
  keys: readonly string[],
  witnesses?: readonly string[],
  onPassed?: (group: Group) => void,
): Promise<Found>;

export declare function describe(found: Found): string[];

/** A key as it is given, or the lines of the file of that name. Works in Node alone. */
export declare function keysIn(given: string): readonly string[];

export interface VerifierKey {
  readonly name: string;
  /** Eight hex digits. */
  readonly id: string;
  readonly text: string;
}

/** @throws {Error} it is not a verifier key of that type: 1 for a log's, 4 for a witness's */
export declare function parseKey(text: string, type: 1 | 4): Promise<VerifierKey>;

export interface OpenedNote {
  readonly lines: readonly string[];
  /** The texts of those of the keys that have signed. */
  readonly signers: readonly string[];
  /** Name and id of those who signed with other keys: nothing of them is verified. */
  readonly others: readonly string[];
}

/** @throws {Difference} it is not a signed note, or a signature of one of the keys does not hold */
export declare function openNote(
  file: string,
  note: string,
  keys: readonly VerifierKey[],
): Promise<OpenedNote>;

/** @throws {Difference} none of the keys is among the signers */
export declare function mustBeSigned(
  file: string,
  keys: readonly VerifierKey[],
  signers: readonly string[],
): void;

/** An event as the API and the bundle give it. */
export interface Entry {
  readonly index: number;
  readonly event: string;
  readonly proof: string;
}

export interface ProvedEvent {
  readonly index: number;
  readonly time: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** The hash of the leaf, base64. */
  readonly leaf: string;
}

/**
 * @param entry the hash of an event, its number and its proof
 * @throws {Difference} the log of that checkpoint does not have the hash there
 */
export declare function mustBeInLog(
  file: string,
  entry: { readonly index: number; readonly leaf: Uint8Array; readonly proof: string },
  checkpoint: { readonly note: string; readonly size: string; readonly root: string },
): Promise<void>;

/** @throws {Difference} an event is not in the log, or not one of that conversion */
export declare function provedEvents(
  place: string,
  entries: readonly Entry[],
  checkpoint: { readonly note: string; readonly size: string; readonly root: string },
  conversionId: string,
): Promise<readonly ProvedEvent[]>;

export declare function sha256(...parts: readonly Uint8Array[]): Promise<Uint8Array>;

/** Hex digits. */
export declare function hexSha256(content: Uint8Array): Promise<string>;

export declare function base64(bytes: Uint8Array): string;

export declare function fromBase64(text: string): Uint8Array;

/** @throws {Difference} the log calls the PDF signed, and it has not the signature that was made for it */
export declare function mustBearSignature(
  file: string,
  pdf: Uint8Array,
  events: readonly { readonly type: string; readonly data: object }[],
): Promise<void>;

export declare function mustBeSignedAsAsked(
  place: string,
  events: readonly { readonly type: string; readonly data: object }[],
): void;
