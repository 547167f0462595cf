/**
 * A node's cache of actor states. Never the truth: any entry may be missing or wrong about the stream,
 * and its user checks it against the log. No method throws.
 */
export interface SnapshotCache {
  /** The last one put for the stream, if it is of this codec version. */
  get(stream: string, version: number): Snapshot | undefined;
  put(stream: string, version: number, revision: number, json: string): void;
  close(): void;
}

export interface Snapshot {
  /** Of the last event in the state. */
  readonly revision: number;
  readonly json: string;
}

/** For tools that end before a snapshot pays. */
export const noSnapshots: SnapshotCache = {
  get: () => undefined,
  put: () => {},
  close: () => {},
};
