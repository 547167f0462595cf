/** The parts of this browser and of the service that the checks need. */
import { ApiError } from '../api/error.ts';
import { CheckpointKeeper } from './kept-checkpoint.ts';
import type { CheckDependencies } from './log.ts';
import { t } from '../words/words.ts';

/** Asks without the person's token: what the log publishes is for everybody. */
async function ask(path: string): Promise<Response> {
  const response = await fetch(path);
  if (!response.ok) throw await ApiError.from(response);
  return response;
}

async function consistency(from: number, to: number): Promise<readonly string[] | undefined> {
  try {
    const response = await ask(`/tlog/consistency?from=${from}&to=${to}`);
    return ((await response.json()) as { readonly proof: readonly string[] }).proof;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_error') return undefined;
    throw error;
  }
}

/** @returns undefined where the person has forbidden it */
function storage(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

export const keeper = new CheckpointKeeper(storage());

export const dependencies: CheckDependencies = {
  log: {
    keys: async () => await (await ask('/tlog/key')).text(),
    checkpoint: async () => await (await ask('/tlog/checkpoint')).text(),
    consistency,
  },
  keeper,
  now: () => new Date(),
};

/** @throws {Error} this page cannot compute hashes; the message says why and what to do */
export function assertCanHash(): void {
  // The types of the browser promise it, but a page over plain HTTP has none.
  if ((globalThis.crypto as Partial<Crypto>).subtle !== undefined) return;
  throw new Error(
    t(
      'Browsers compute hashes and check signatures only on pages over HTTPS or of localhost. Open this page over HTTPS.',
    ),
  );
}

/** @throws {Error} this browser cannot do the checks; the message says why and what to do */
export async function assertCanCheck(): Promise<void> {
  assertCanHash();
  try {
    await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  } catch {
    throw new Error(
      t(
        'This browser cannot check Ed25519 signatures. Chrome and Edge can from version 137 on, Firefox from 129, Safari from 17.',
      ),
    );
  }
}
