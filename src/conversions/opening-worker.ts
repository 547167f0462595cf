/** A thread of its own: opens the names of conversions for searches, while the API goes on answering. */
import { parentPort } from 'node:worker_threads';
import { openerOf } from '../documents/keys/vault.ts';
import type { OpenedSlice, SealedSlice } from './opening-thread.ts';
import { entryOf } from './search-entry.ts';

parentPort?.on('message', ({ accountId, key, rows }: SealedSlice) => {
  const open = openerOf(Buffer.from(key), accountId);
  const entries: OpenedSlice = rows.map((row) => entryOf(row, open));
  parentPort?.postMessage(entries, []);
});
