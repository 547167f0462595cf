/** @param where the place, as its operator knows it @returns what to do where it holds no keyring, in one line */
export function missingKeyring(where: string): string {
  return (
    `There is no keyring in ${where}, and the event log is not empty: the accounts’ keys are still where they ` +
    'were, in the keyring of DATA_DIR or at the former BLOB_STORE_URL. Set BLOB_STORE_URL as it was, move them ' +
    '(docs/deployment.md, "Moving documents and keys"), or restore them from a backup if they were lost.'
  );
}
