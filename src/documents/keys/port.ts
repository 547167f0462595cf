/**
 * The keyring: one data key per account, wrapped by the master key. What is personal in an event is
 * sealed with its account's key, so that deleting the key erases the person while the log stays whole.
 */
export interface Keyring {
  /**
   * Makes the account's data key (32 bytes), stored durably, unless there is one. Only an account that is
   * being opened has none: a second key would make unreadable what the first has sealed.
   * @throws {KeyErased} @throws {KeyringUnavailable}
   */
  makeKey(accountId: string): Promise<void>;
  /**
   * The account's data key.
   * @throws {KeyErased} @throws {KeyMissing} @throws {KeyringUnavailable}
   */
  dataKey(accountId: string): Promise<Buffer>;
  /**
   * Deletes the account's data key for good: what was sealed with it can never be read again.
   * @throws {KeyringUnavailable}
   */
  erase(accountId: string): Promise<void>;
}

/** Small secret texts under names, in a place that several nodes share. */
export interface KeyRecords {
  /** Stores the text durably unless there is one: of two at once, one does. @returns false if there is */
  create(name: string, text: string): Promise<boolean>;
  /** Resolves to the text that was created last, wherever it was created. */
  read(name: string): Promise<string | undefined>;
  /** Deletes it for good; does nothing if there is none. */
  remove(name: string): Promise<void>;
}

/** Records that can be listed: to keep a copy of all of them. */
export interface ListedKeyRecords extends KeyRecords {
  /** All names, in any order. */
  names(): Promise<readonly string[]>;
}

/** The account's data key was deleted. */
export class KeyErased extends Error {
  override readonly name = 'KeyErased';
}

/** The place where the keys lie does not answer; the cause says why, for the log. */
export class KeyringUnavailable extends Error {
  override readonly name: string = 'KeyringUnavailable';
}

/** The keyring is there, and the account's key is not: it was lost, or this is an older copy of the keyring. */
export class KeyMissing extends KeyringUnavailable {
  override readonly name = 'KeyMissing';

  constructor(accountId: string) {
    super(`The keyring has no key of ${accountId}: restore it from a backup.`);
  }
}

/** The place where the keys lay answers, and holds no keyring. */
export class KeyringGone extends KeyringUnavailable {
  override readonly name = 'KeyringGone';
}
