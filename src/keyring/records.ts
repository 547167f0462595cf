/** @param where the place, as its operator knows it @returns what to do where it holds no keyring, in one line */
export function missingKeyring(where: string): string {
  return (
    `There is no keyring in ${where}, and the event log is not empty: what this node accepts nobody else could ` +
    'read. If they were lost, restore the accounts’ keys from a backup. If not, set DATA_DIR and BLOB_STORE_URL as ' +
    'on the other nodes or as before, or move the keys (docs/moving.md).'
  );
}
