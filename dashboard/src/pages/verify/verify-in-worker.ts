import type { BundleResult } from '../../proof/checks.ts';
import { t } from '../../words/words.ts';

export type BundleTask = { readonly zip: Uint8Array; readonly keys: readonly string[] };

/** Does what `verifyBundle` does, beside the page. The content of `zip` goes over to the worker. */
export function verifyInWorker(
  zip: Uint8Array<ArrayBuffer>,
  keys: readonly string[],
): Promise<BundleResult> {
  const worker = new Worker(new URL('./bundle.worker.ts', import.meta.url), { type: 'module' });
  const result = new Promise<BundleResult>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<BundleResult>) => resolve(data));
    worker.addEventListener('error', () => {
      reject(new Error(t('The browser could not check the bundle. It may be too large for it.')));
    });
  });
  const task: BundleTask = { zip, keys };
  worker.postMessage(task, [zip.buffer]);
  return result.finally(() => worker.terminate());
}
