/**
 * Tells whether a remote place for blobs can be used right now, cheaply enough for every probe. It asks for
 * something small. The last write tells whether writes work; a failed one is tried again now and then.
 */
import { randomUUID } from 'node:crypto';
import { bufferContent, type ObjectContent, type Objects } from './objects.ts';

/** After a write that failed, the next try is as large as that one, up to this. */
const LARGEST_TRY_BYTES = 1024 * 1024;
const TRY_AGAIN_MS = 5000;

interface FailedWrite {
  readonly reason: string;
  readonly bytes: number;
}

export interface StoreHealthOptions {
  /** True (the default) repeats a failed write as a test. It needs the right to delete the test object. */
  readonly triesWrites?: boolean;
  readonly tryAgainMs?: number;
}

export class StoreHealth {
  readonly #objects: Objects;
  readonly #triesWrites: boolean;
  readonly #tryAgainMs: number;
  #failedWrite: FailedWrite | undefined;
  /** By `performance.now()`. */
  #lastTryAt = 0;
  #isTrying = false;

  constructor(
    objects: Objects,
    { triesWrites = true, tryAgainMs = TRY_AGAIN_MS }: StoreHealthOptions = {},
  ) {
    this.#objects = objects;
    this.#triesWrites = triesWrites;
    this.#tryAgainMs = tryAgainMs;
  }

  /** Stores, and remembers how it went. */
  async put(key: string, content: ObjectContent): Promise<void> {
    try {
      await this.#objects.put(key, content);
      this.#failedWrite = undefined;
    } catch (error) {
      this.#failedWrite = { reason: operatorMessage(error), bytes: content.bytes };
      this.#lastTryAt = performance.now();
      throw error;
    }
  }

  /** As `failure` if a write has failed since the last that worked; else asks nothing. */
  async knownFailure(): Promise<string | undefined> {
    return this.#failedWrite === undefined ? undefined : await this.failure();
  }

  /** Why it cannot be used, in the operator's words; nothing when it can. */
  async failure(): Promise<string | undefined> {
    try {
      await this.#objects.size(newName());
    } catch (error) {
      // A write that failed while it was away says nothing of how it is when it is back.
      this.#failedWrite = undefined;
      return operatorMessage(error);
    }
    const failed = this.#failedWrite;
    // A node that does not try again would report one failure for as long as it has nothing to store.
    if (failed === undefined || !this.#triesWrites) return undefined;
    const isDue = performance.now() - this.#lastTryAt >= this.#tryAgainMs;
    if (isDue && !this.#isTrying) void this.#tryWrite(failed);
    return `it takes no writes: ${failed.reason}`;
  }

  async #tryWrite({ bytes }: FailedWrite): Promise<void> {
    this.#isTrying = true;
    const name = newName();
    const content = bufferContent(Buffer.alloc(Math.min(bytes, LARGEST_TRY_BYTES)));
    // The next probe tells how it went.
    await this.put(name, content).catch(() => {});
    await this.#objects.delete(name).catch(() => {});
    this.#isTrying = false;
  }
}

/** A random name, so that no other writer can have prepared it. */
function newName(): string {
  return `check/${randomUUID()}`;
}

/** @returns why it failed, for an operator: without the keys and subjects that only the code knows */
function operatorMessage(error: unknown): string {
  const { name, message } = innermost(error);
  if (name === 'TimeoutError') return 'no answer in time';
  if (message.startsWith('no responders')) return 'its server does not have it';
  const [, status] = /\b([1-5]\d\d( \w+)?) ?\)?\.$/.exec(message) ?? [];
  return status === undefined ? message : `its server answers ${status}`;
}

function innermost(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? innermost(error.cause) : error;
}
