export interface Limits {
  /** Commands that may wait for one stream; more are refused with 503. */
  readonly mailbox: number;
  /** Commands decided together. An event store server takes 1 MiB in one append. */
  readonly batch: number;
  /** Appends tried for one batch before version conflicts end in 503. */
  readonly attempts: number;
  /** Events read in one go; the event loop gets its turn between two. */
  readonly page: number;
  /** Streams kept warm. */
  readonly warm: number;
  /** Milliseconds after which an unused stream is let go. */
  readonly idleMs: number;
  /** Events between two snapshots of a warm stream, at least. */
  readonly snapshotEvery: number;
  /** Events since the last snapshot that make one worth while when a stream is let go. */
  readonly snapshotOnRelease: number;
}

export const DEFAULT_LIMITS: Limits = {
  mailbox: 2_000,
  batch: 256,
  attempts: 50,
  page: 1_000,
  warm: 10_000,
  idleMs: 60_000,
  snapshotEvery: 100,
  snapshotOnRelease: 50,
};
