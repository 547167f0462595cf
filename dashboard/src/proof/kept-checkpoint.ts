/**
 * The newest checkpoint that this browser has checked. A service that rewrites its log cannot show how the
 * log goes on from it.
 */
import type { Tree } from './consistency.ts';

export interface KeptCheckpoint extends Tree {
  /** The name of the log. */
  readonly origin: string;
  /** The verifier keys that were in force. */
  readonly keys: readonly string[];
  /** When it was checked, ISO 8601. */
  readonly checkedAt: string;
}

const NAME = 'pressledger.checkpoint';

function isKept(value: unknown): value is KeptCheckpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { origin, size, root, keys, checkedAt } = value as Partial<Record<string, unknown>>;
  const texts = [origin, root, checkedAt, ...(Array.isArray(keys) ? keys : [undefined])];
  return Number.isSafeInteger(size) && texts.every((text) => typeof text === 'string');
}

type KeeperStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export class CheckpointKeeper {
  readonly #storage: KeeperStorage | undefined;

  /** @param storage `localStorage`; undefined where the browser gives none */
  constructor(storage: KeeperStorage | undefined) {
    this.#storage = storage;
  }

  read(): KeptCheckpoint | undefined {
    const text = this.#storage?.getItem(NAME) ?? 'null';
    try {
      const value: unknown = JSON.parse(text);
      return isKept(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** @returns whether it is kept: a browser may give no storage, or have no space left */
  keep(checkpoint: KeptCheckpoint): boolean {
    try {
      this.#storage?.setItem(NAME, JSON.stringify(checkpoint));
      return this.#storage !== undefined;
    } catch {
      return false;
    }
  }

  forget(): void {
    this.#storage?.removeItem(NAME);
  }
}
