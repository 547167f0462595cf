/** A render worker whose thread hangs with its first document, as none of ours should. */
import type { WorkerMessage, WorkerTask } from '../../src/renderer/messages.ts';

export default function work(message: WorkerTask): WorkerMessage {
  const { kind } = message;
  if (kind === 'render') {
    message.port.postMessage('begun', []);
    for (;;);
  }
  if (kind === 'shutDown') return { kind: 'down' };
  const chrome = { product: 'none', sandboxNote: undefined };
  return { kind: 'warm', chrome };
}
