/** Compares the keyring's copy with the log of a backup: would a restore of the two have every key, and none too many? */
import { Difference, type Place } from '../log/verify-log/difference.ts';
import { ownersOf, parseKeyring, type StoredKeyring } from './keyring-file.ts';
import type { KeyHolders } from './keys.ts';

/** Records that are wrapped with the master key. */
const SEALED = /\.key$|^keyring\.secrets$/;

export interface GivenCopy {
  /** Its name, for messages. */
  readonly file: string;
  /** Undefined where there is no such file. */
  readonly text: string | undefined;
  /** The master key of the settings, if any. */
  readonly opener: KeyOpener | undefined;
}

export interface KeyOpener {
  /** Tells the master key from others. */
  readonly masterKey: string;
  readonly opens: (owner: string, wrapped: string) => boolean;
}

export interface CheckedCopy {
  readonly file: string;
  readonly made_at: number;
  readonly keys: number;
  readonly erased: number;
  /** Each key was opened with the master key. False: it is not in the settings, so nobody looked. */
  readonly opened: boolean;
}

const placeOf = (owner: string, account: string): Place => ({
  account,
  ...(owner !== account && { owner }),
});

/** @returns whose it is instead of the log's, in words; undefined where it is the log's */
export function foreignKeyring(
  { records }: StoredKeyring,
  log: { readonly openedAs: string | undefined; readonly keyring?: string | undefined },
): string | undefined {
  const [id, owner] = ['keyring.id', 'keyring.log'].map((name) => records.get(name));
  if (owner !== undefined && owner !== log.openedAs) return `that of the log ${owner}`;
  return log.keyring === undefined || log.keyring === id ? undefined : 'another keyring';
}

/**
 * @param holders undefined where the log could not be read
 * @returns what was looked at; with all that is wrong in `onProblem`
 */
export function checkCopy(
  { file, text: given, opener }: GivenCopy,
  holders: KeyHolders | undefined,
  onProblem: (problem: Difference) => void,
): CheckedCopy | undefined {
  const wrong = (expected: string, found: string, at: Place = {}): void =>
    onProblem(new Difference({ keyring: file, ...at }, expected, found));
  if (given === undefined) {
    wrong('the file that backup keyring wrote', 'no such file');
    return undefined;
  }
  let copy: StoredKeyring;
  try {
    copy = parseKeyring(given);
  } catch (error) {
    const found = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
    wrong('the file that backup keyring wrote', `a file that ${found}`);
    return undefined;
  }
  const names = [...copy.records.keys()];
  const [keys, erased] = [ownersOf(names, 'keys'), ownersOf(names, 'erased')];
  const foreign = holders && foreignKeyring(copy, holders);
  if (holders && foreign !== undefined) {
    wrong(`the keyring of the log ${holders.openedAs}`, foreign);
    return undefined;
  }
  if (opener !== undefined && opener.masterKey !== copy.masterKey) {
    wrong('keys wrapped with the master key of these settings', 'keys wrapped with another one');
    return undefined;
  }
  for (const [name, text] of copy.records) {
    if (!SEALED.test(name) || opener?.opens(name.replace(/\.key$/, ''), text) !== false) continue;
    wrong('a record that opens with MASTER_KEY', 'one that does not', { record: name });
  }
  for (const [owner, account] of holders?.open ?? []) {
    if (keys.has(owner) || erased.has(owner)) continue;
    wrong('a key', 'none: the copy is older than the log, make a new one', placeOf(owner, account));
  }
  for (const [owner, account] of holders?.erased ?? []) {
    if (!keys.has(owner)) continue;
    const found =
      'its key: the copy is older than the erasure, make a new one and destroy this one';
    const whose = owner === account ? 'an erased account' : 'what was erased';
    wrong(`no key of ${whose}`, found, placeOf(owner, account));
  }
  const opened = opener !== undefined;
  return { file, made_at: copy.madeAt, keys: keys.size, erased: erased.size, opened };
}
