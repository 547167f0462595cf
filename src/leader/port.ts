/** The right to do what one process at a time does: to lead. */
export interface Lease {
  /**
   * Takes the lease if nobody holds it. The operating system or a server ends it with its holder.
   * @returns undefined while somebody holds it, or nobody can be asked
   * @throws {Error} one line: it cannot be had like this, and the remedy
   */
  acquire(): Promise<HeldLease | undefined>;
}

export interface HeldLease {
  /** Resolves when it is not held any more: before another process can have it, or at its release. */
  readonly lost: Promise<void>;
  /** Gives it up, so that another can have it at once. Safe to repeat. */
  release(): Promise<void>;
}
