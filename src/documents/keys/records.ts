import type { KeyRecords } from './port.ts';

/** @param where the place, as its operator knows it @returns what to do where it holds no keyring, in one line */
export function missingKeyring(where: string): string {
  return (
    `There is no keyring in ${where}, and the event log is not empty: what this node accepts nobody else could ` +
    'read. If they were lost, restore the accounts’ keys from a backup. If not, set DATA_DIR and BLOB_STORE_URL as ' +
    'on the other nodes or as before, or move the keys (docs/moving.md).'
  );
}

/** There while the keys are wrapped with a new master key; its text tells that key from others. */
export const REWRAP_RECORD = 'keyring.rewrap';

/** The message of a process that has the old master key: nobody could open what it would wrap. */
export const MASTER_KEY_CHANGED =
  'The keyring has another master key now: restart this process with that one as MASTER_KEY.';

/** @throws {Error} one line: the master key is being changed */
export async function refuseRewrap(
  records: Pick<KeyRecords, 'read'>,
  place: string,
): Promise<void> {
  if ((await records.read(REWRAP_RECORD)) === undefined) return;
  throw new Error(
    `The keys in ${place} are being wrapped with a new master key, and some may still have the old one: repeat ` +
      "'pressledger keyring rewrap' with both keys until it ends.",
  );
}
