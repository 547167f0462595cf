/**
 * Loaded into each thread of a service by `--import`: counts the calls of functions. At each SIGUSR2 it writes into the
 * directory WALKS the files of ours that were called since the last: `main.json` and, of all other threads, `worker.json`.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Path to the number of functions that were called. */
async function write(name: string): Promise<void> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = result
    .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'))
    .map(({ url, functions }): [string, number] => [
      fileURLToPath(url),
      functions.filter(({ ranges: [whole] }) => whole !== undefined && whole.count > 0).length,
    ])
    .filter(([file, calls]) => calls > 0 && file !== import.meta.filename);
  if (files.length === 0) return;
  writeFileSync(join(process.env['WALKS'] ?? '', name), JSON.stringify(Object.fromEntries(files)));
}

const threads = new BroadcastChannel('walks');
threads.unref();
if (isMainThread) {
  process.on('SIGUSR2', () => {
    threads.postMessage('look');
    void write('main.json');
  });
} else threads.onmessage = () => void write('worker.json');
