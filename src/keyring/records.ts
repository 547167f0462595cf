/** Small secret texts under names, in a place that several nodes share. */
export interface KeyRecords {
  /** Stores the text durably unless there is one: of two at once, one does. @returns false where there is */
  create(name: string, text: string): Promise<boolean>;
  /** What was created last, wherever it was created. */
  read(name: string): Promise<string | undefined>;
  /** Deletes it for good; nothing happens where there is none. */
  remove(name: string): Promise<void>;
}
