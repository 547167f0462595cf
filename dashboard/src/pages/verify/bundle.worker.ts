/** Checks a bundle beside the page, which a large one would hold up. */
import { verifyBundle } from '../../proof/checks.ts';
import type { BundleTask } from './verify-in-worker.ts';

async function answer({ zip, keys }: BundleTask): Promise<void> {
  // The second argument is about transfers in a worker; a message goes to the page that started it.
  globalThis.postMessage(await verifyBundle(zip, keys), {});
}

globalThis.addEventListener('message', ({ data }: MessageEvent<BundleTask>) => void answer(data));
