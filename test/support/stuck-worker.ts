/** A render worker whose thread hangs with its first document, as none of ours should. */
import type { WorkerResult, WorkerTask } from '../../src/renderer/messages.ts';

export default function work(message: WorkerTask): WorkerResult {
  if (message.kind === 'render') for (;;);
  if (message.kind === 'shutDown') return { kind: 'down' };
  const chrome = { product: 'none', path: 'none', sandboxed: true, sandboxNote: undefined };
  return { kind: 'warm', chrome };
}
