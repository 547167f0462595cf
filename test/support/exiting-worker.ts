/** A render worker that has a child and exits with its first document, as none of ours should. */
import { spawn } from 'node:child_process';
import { parentPort, threadId } from 'node:worker_threads';
import type { WorkerMessage, WorkerNotice, WorkerTask } from '../../src/renderer/messages.ts';

export default function work({ kind }: WorkerTask): WorkerMessage {
  if (kind === 'render') process.exit(1);
  if (kind === 'shutDown') return { kind: 'down' };
  const options = { detached: true, stdio: 'ignore' } as const;
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], options);
  const notice: WorkerNotice = { kind: 'chromeStarted', pid: child.pid ?? 0, thread: threadId };
  parentPort?.postMessage(notice, []);
  return { kind: 'warm', chrome: { product: 'none', sandboxNote: undefined } };
}
