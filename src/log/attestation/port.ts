/** Parties outside that vouch for checkpoints of the log. Each may be away, slow or wrong at any time. */

/** A checkpoint to cosign. */
export interface Cosignable {
  readonly size: number;
  /** The note with the log's own signatures. */
  readonly note: string;
  /** Proves that the tree of `from` events is the beginning of the checkpoint's. */
  readonly consistencyProof: (from: number) => readonly Buffer[];
}

export interface Witness {
  /** The name of its key. */
  readonly name: string;
  /** Says whether a note has a line of its key. */
  hasCosigned(note: string): boolean;
  /**
   * Gets the line of its cosignature on a checkpoint, verified.
   * @throws {Error} there is none that holds; one line
   */
  cosign(checkpoint: Cosignable, stopping: AbortSignal): Promise<string>;
}

/** https://www.rfc-editor.org/rfc/rfc3161 */
export interface TimestampAuthority {
  /** Its host, for messages. */
  readonly name: string;
  /**
   * Gets a timestamp of the SHA-256 of a text or of bytes, verified but for its certificate.
   * @returns the TimeStampToken, DER
   * @throws {Error} there is none that holds; one line
   */
  timestamp(content: string | Buffer, stopping: AbortSignal): Promise<Buffer>;
}

export interface Attestors {
  readonly witnesses: readonly Witness[];
  readonly timestampAuthority?: TimestampAuthority;
}
