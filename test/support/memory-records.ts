/** The keyring's records, kept in memory, where a test may look. */
import type { KeyRecords } from '../../src/keyring/records.ts';

export class MemoryRecords implements KeyRecords {
  readonly kept = new Map<string, string>();

  async create(name: string, text: string): Promise<boolean> {
    if (this.kept.has(name)) return false;
    this.kept.set(name, text);
    return true;
  }

  async read(name: string): Promise<string | undefined> {
    return this.kept.get(name);
  }

  async remove(name: string): Promise<void> {
    this.kept.delete(name);
  }
}
