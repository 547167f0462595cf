/**
 * Pictures of the first pages of PDFs, made when somebody looks. A letter takes 5 to 8 ms of processor time for it: at each
 * conversion that would be a seventh of what the letter costs, and a stored picture would want an event, two files' syncs
 * and a place in each rule for what is deleted. So nothing is stored, and nothing has to be deleted, erased, counted or backed up.
 */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Semaphore } from '../async/semaphore.ts';
import { Turns } from '../async/turns.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Logger } from '../observe/log.ts';

/** A first page that takes longer has no picture. A thread that starts needs a part of it. */
const MOST_MS = 5000;
/** A thread holds about 40 MB: it ends when nobody has looked for so long. */
const IDLE_MS = 60_000;
const RETRY_SECONDS = 2;

/** The thread's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const THREAD = join(import.meta.dirname, `thumbnail-worker${extname(import.meta.filename)}`);

export class Thumbnails {
  readonly #logger: Logger;
  readonly #turns = new Turns();
  readonly #thread = new Semaphore(1);
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * One PDF at a time. The accounts take turns.
   * @returns a PNG; undefined where none can be made: the PDF needs a password, is damaged, or takes too much
   */
  async firstPage(accountId: string, pdf: Buffer): Promise<Buffer | undefined> {
    return await this.#turns.run(accountId, async () => {
      const release = await this.#thread.acquire();
      try {
        if (this.#isClosed) {
          throw new ServiceError('service_unavailable', undefined, { retryAfter: RETRY_SECONDS });
        }
        return await this.#drawn(pdf);
      } finally {
        release();
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  async #drawn(pdf: Buffer): Promise<Buffer | undefined> {
    clearTimeout(this.#idle);
    const worker = this.#worker ?? this.#start();
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    const end = (): void => resolve(undefined);
    worker.once('message', resolve).once('exit', end);
    worker.postMessage(pdf, []);
    const late = setTimeout(() => void worker.terminate(), MOST_MS);
    try {
      const png = await promise;
      return png && Buffer.from(png.buffer, png.byteOffset, png.byteLength);
    } finally {
      clearTimeout(late);
      worker.off('message', resolve).off('exit', end);
      this.#idle = setTimeout(() => void worker.terminate(), IDLE_MS).unref();
    }
  }

  #start(): Worker {
    // It hears of no setting, such as a key, and of no flag of ours, such as one that opens a debugger.
    const worker = new Worker(THREAD, { env: {}, execArgv: [] });
    worker.unref();
    worker.on('error', (err) => this.#logger.warn({ err }, 'a first page could not be drawn'));
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }
}
