/** Small secret texts under names, in a place that several nodes share. */
export interface KeyRecords {
  /** Stores the text durably unless there is one: of two at once, one does. @returns false where there is */
  create(name: string, text: string): Promise<boolean>;
  /** Resolves to the text that was created last, wherever it was created. */
  read(name: string): Promise<string | undefined>;
  /** Deletes it for good; nothing happens where there is none. */
  remove(name: string): Promise<void>;
}

/** @param where the place, as its operator knows it @returns what to do where it holds no keyring, in one line */
export function missingKeyring(where: string): string {
  return (
    `There is no keyring in ${where}, and the event log is not empty: the accounts’ keys are still where they ` +
    'were, in the keyring of DATA_DIR or at the former BLOB_STORE_URL. Set BLOB_STORE_URL as it was, move them ' +
    '(docs/deployment.md, "Moving documents and keys"), or restore them from a backup if they were lost.'
  );
}
