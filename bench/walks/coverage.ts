/**
 * Loaded into each thread of a service by `--import`: counts the calls of functions. For each folder `look…` that is made
 * in the directory WALKS, it writes the files of ours there that were called since the last: the main thread
 * `main.json`, and each other thread that has called any `worker.json`.
 */
import { watch, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const DIRECTORY = process.env['WALKS'] ?? '';

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
  writeFileSync(join(DIRECTORY, name), JSON.stringify(Object.fromEntries(files)));
}

watch(DIRECTORY, (_, name) => {
  if (name?.startsWith('look') === true) void write(isMainThread ? 'main.json' : 'worker.json');
}).unref();
