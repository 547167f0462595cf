/** Says which keyring this is and whose: two records beside the keys, which move along with them. */
import { randomBytes } from 'node:crypto';
import { type KeyRecords, KeyringGone } from './port.ts';

const ID = 'keyring.id';
const LOG = 'keyring.log';
/** Says where the keys and documents went; its second line, at how many events of the log. No copy of a keyring has it. */
export const MOVED_RECORD = 'keyring.moved';

export class KeyringIdentity {
  readonly #records: KeyRecords;
  /** The keyring's place, as its operator knows it. */
  readonly place: string;

  private constructor(records: KeyRecords, place: string) {
    this.#records = records;
    this.place = place;
  }

  /**
   * Gives the keyring an id where it has none. It must be there already.
   * @throws {Error} one line: it was moved
   */
  static async open(records: KeyRecords, place: string): Promise<KeyringIdentity> {
    const moved = await records.read(MOVED_RECORD);
    if (moved !== undefined) {
      throw new Error(
        `The keys and documents in ${place} were moved to ${moved.split('\n', 1)[0]}: start with the settings of that ` +
          "place. (Before anything was started there, 'pressledger move' with the options of the move and --cancel " +
          'takes it back.)',
      );
    }
    if ((await records.read(ID)) === undefined) {
      await records.create(ID, randomBytes(16).toString('hex'));
    }
    return new KeyringIdentity(records, place);
  }

  /** @throws {KeyringGone} it is not there any more */
  async id(): Promise<string> {
    const id = await this.#records.read(ID);
    if (id === undefined) throw new KeyringGone(`There is no keyring in ${this.place} any more.`);
    return id;
  }

  /** The name of the log that it is bound to; undefined before that. */
  async log(): Promise<string | undefined> {
    return await this.#records.read(LOG);
  }

  /** Binds it to the log of this name, unless it is bound. @returns the log that it is bound to */
  async bindTo(log: string): Promise<string> {
    const owner = await this.log();
    if (owner !== undefined) return owner;
    await this.#records.create(LOG, log);
    return (await this.log()) ?? log;
  }
}
