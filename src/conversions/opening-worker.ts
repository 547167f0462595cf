/** A thread of its own: opens the names of conversions for searches, while the API goes on answering. */
import { openerOf } from '../documents/keys/vault.ts';
import type { OpenedSlice, SealedSlice } from './opening-thread.ts';
import { entryOf } from './search-entry.ts';

export default function open({ accountId, key, rows }: SealedSlice): OpenedSlice {
  const opener = openerOf(Buffer.from(key), accountId);
  return rows.map((row) => entryOf(row, opener));
}
