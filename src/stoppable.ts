/** Work that goes on in this process until it is stopped. */
export interface Stoppable {
  /** Ends it in good order, and resolves when it has ended. */
  stop(): Promise<void>;
}
