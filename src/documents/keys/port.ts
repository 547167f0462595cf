/**
 * The keyring: data keys, wrapped by the master key. Each belongs to one owner: an account, or what has a key of its own
 * within one (`KEY_OWNER_ID`). What is personal or secret in an event is sealed with a data key, so that deleting the key
 * erases it while the log stays whole.
 */
export interface Keyring {
  /**
   * Makes the owner's data key (32 bytes), stored durably, unless there is one. Only an owner that begins has none: a
   * second key would make unreadable what the first has sealed.
   * @throws {KeyErased} @throws {KeyringUnavailable}
   */
  makeKey(owner: string): Promise<void>;
  /**
   * The owner's data key.
   * @throws {KeyErased} @throws {KeyMissing} @throws {KeyringUnavailable}
   */
  dataKey(owner: string): Promise<Buffer>;
  /**
   * Deletes the owner's data key for good: what was sealed with it can never be read again.
   * @throws {KeyringUnavailable}
   */
  erase(owner: string): Promise<void>;
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

/** The data key was deleted. */
export class KeyErased extends Error {
  override readonly name = 'KeyErased';
}

/** The place where the keys lie does not answer; the cause says why, for the log. */
export class KeyringUnavailable extends Error {
  override readonly name: string = 'KeyringUnavailable';
}

/** The keyring is there, and the owner's key is not: it was lost, or this is an older copy of the keyring. */
export class KeyMissing extends KeyringUnavailable {
  override readonly name = 'KeyMissing';

  constructor(owner: string) {
    super(`The keyring has no key of ${owner}: restore it from a backup.`);
  }
}

/** The place where the keys lay answers, and holds no keyring. */
export class KeyringGone extends KeyringUnavailable {
  override readonly name = 'KeyringGone';
}
