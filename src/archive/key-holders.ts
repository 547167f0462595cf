/** The part of a log that says whose keys there must be. */
import { decodeEvent } from '../event-store/codec.ts';
import type { Entry } from './log-lines.ts';

export class KeyHolders {
  /** The name that the log got at its first start. */
  openedAs: string | undefined;
  /** The id of its keyring, where it was recorded. */
  keyring: string | undefined;
  readonly open = new Set<string>();
  readonly erased = new Set<string>();

  take(entries: readonly Entry[]): void {
    for (const { event } of entries) this.#take(event);
  }

  #take(event: Entry['event']): void {
    // Few events matter, and the rest need not be readable by this release.
    if (!['LogOpened', 'AccountOpened', 'AccountErased'].includes(event.type)) return;
    const { type, data } = decodeEvent({ ...event, position: 0n });
    if (type === 'LogOpened') {
      this.openedAs = data.origin;
      this.keyring = data.keyring;
    } else if (type === 'AccountOpened') {
      this.open.add(data.accountId);
    } else if (type === 'AccountErased') {
      this.open.delete(data.accountId);
      this.erased.add(data.accountId);
    }
  }
}
