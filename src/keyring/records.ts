/** Small secret texts under names, in a place that several nodes share. */
export interface KeyRecords {
  /** Stores the text durably unless there is one: of two at once, one does. @returns false where there is */
  create(name: string, text: string): Promise<boolean>;
  /** Resolves to the text that was created last, wherever it was created. */
  read(name: string): Promise<string | undefined>;
  /** Deletes it for good; nothing happens where there is none. */
  remove(name: string): Promise<void>;
}

/** Records that can be listed: to keep a copy of all of them. */
export interface ListedKeyRecords extends KeyRecords {
  /** In any order. */
  names(): Promise<readonly string[]>;
}

/** @param where the place, as its operator knows it @returns what to do where it holds no keyring, in one line */
export function missingKeyring(where: string): string {
  return (
    `There is no keyring in ${where}, and the event log is not empty: what this node accepts nobody else could ` +
    'read. If they were lost, restore the accounts’ keys from a backup. If not, set DATA_DIR and BLOB_STORE_URL as ' +
    'on the other nodes or as before, or move the keys (docs/deployment.md, "Moving documents and keys").'
  );
}
