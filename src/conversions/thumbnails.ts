/**
 * Pictures of the first pages of PDFs, made when somebody looks. A letter takes 5 to 8 ms of processor time for it: at each
 * conversion that would be a seventh of what the letter costs, and a stored picture would want an event, two files' syncs
 * and a place in each rule for what is deleted. So nothing is stored, and nothing has to be deleted, erased, counted or backed up.
 */
import { threadFile, Threads, ThreadsClosed } from '../async/threads.ts';
import { Turns } from '../async/turns.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Logger } from '../observe/log.ts';

/** A first page that takes longer has no picture now. A thread that starts needs a part of it. */
const MOST_MS = 5000;
const RETRY_SECONDS = 10;
/** A thread holds about 40 MB: it ends when nobody has looked for so long. */
const IDLE_MS = 60_000;
/** Most of a PDF is outside of it. */
const MAX_HEAP_MB = 128;

export class Thumbnails {
  readonly #logger: Logger;
  readonly #mostMs: number;
  readonly #turns = new Turns(1);
  readonly #threads = new Threads<Uint8Array, Uint8Array | undefined>(
    threadFile(import.meta, 'thumbnail-worker'),
    {
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    },
  );

  constructor(logger: Logger, mostMs = MOST_MS) {
    this.#logger = logger;
    this.#mostMs = mostMs;
  }

  /**
   * One PDF at a time. The accounts take turns.
   * @returns a PNG; undefined where none can be made: the PDF needs a password, is damaged, or takes too much memory
   * @throws {ServiceError} `service_unavailable` where it came too late: a busy machine may draw it later
   * @throws {ThreadsClosed}
   */
  async firstPage(accountId: string, pdf: Buffer): Promise<Buffer | undefined> {
    return await this.#turns.run(accountId, async () => {
      const late = AbortSignal.timeout(this.#mostMs);
      try {
        const png = await this.#threads.run(pdf, { signal: late });
        return png && Buffer.from(png.buffer, png.byteOffset, png.byteLength);
      } catch (error) {
        if (error instanceof ThreadsClosed) throw error;
        if (late.aborted) {
          const options = { retryAfter: RETRY_SECONDS, cause: error };
          const message = `It took more than ${this.#mostMs / 1000} s to draw the first page. Try again later.`;
          throw new ServiceError('service_unavailable', message, options);
        }
        this.#logger.warn({ err: error }, 'a first page could not be drawn');
        return undefined;
      }
    });
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }
}
