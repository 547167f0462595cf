/** The types of `verify-evidence.mjs`, which has none of its own so that it can be read and run as it is. */

export declare class Difference extends Error {
  readonly at: Readonly<Record<string, string>>;
  readonly expected: unknown;
  readonly found: unknown;
}

export interface Found {
  readonly ok: true;
  readonly conversion: string;
  readonly origin: string;
  /** The number of events in the log that the checkpoint covers. */
  readonly size: number;
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

export declare function verifyEvidence(
  zip: Buffer,
  keys: readonly string[],
  witnesses?: readonly string[],
): Found;

export declare function describe(found: Found): string[];

/** A key as it is given, or the lines of the file of that name. */
export declare function keysIn(given: string): readonly string[];
