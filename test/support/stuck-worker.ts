/** A render worker whose thread hangs with its first document, as none of ours should. */
import { parentPort } from 'node:worker_threads';
import type { WorkerMessage, WorkerTask } from '../../src/renderer/messages.ts';

function work({ kind }: WorkerTask): WorkerMessage {
  if (kind === 'render') for (;;);
  if (kind === 'shutDown') return { kind: 'down' };
  const chrome = { product: 'none', sandboxNote: undefined };
  return { kind: 'warm', chrome };
}

parentPort?.on('message', (task: WorkerTask) => parentPort?.postMessage(work(task), []));
