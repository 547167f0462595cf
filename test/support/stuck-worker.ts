/** A render worker whose thread hangs with its first document, as none of ours should. */
import type { WorkerMessage, WorkerTask } from '../../src/renderer/messages.ts';

export default function work({ kind }: WorkerTask): WorkerMessage {
  if (kind === 'render') for (;;);
  if (kind === 'shutDown') return { kind: 'down' };
  const chrome = { product: 'none', sandboxNote: undefined };
  return { kind: 'warm', chrome };
}
