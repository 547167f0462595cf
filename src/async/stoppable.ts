/** Work that goes on in this process until it is stopped. */
export interface Stoppable {
  /**
   * Ends it in good order, and resolves when it has ended.
   * @param hurry aborted when what is under way is to be requeued, not to be ended
   */
  stop(hurry?: AbortSignal): Promise<void>;
}
