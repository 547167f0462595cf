/** Work on finished PDFs, each in a thread of its own that is ended at the deadline. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { compileQpdf, type QpdfProgram, WorkFailure } from './qpdf.ts';
import type { Work, WorkAnswer, WorkResult } from './work-plan.ts';

/** Objects of a PDF while it is changed. What lies in buffers is not counted. */
const MAX_HEAP_MB = 512;

/** The thread's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const THREAD = new URL(`work-thread${extname(import.meta.filename)}`, import.meta.url);

let program: Promise<QpdfProgram> | undefined;

/**
 * @param unneeded ends the work when it is aborted
 * @throws {WorkFailure}
 */
export async function workOnPdf(
  work: Work,
  deadlineMs: number,
  unneeded?: AbortSignal,
): Promise<WorkResult> {
  const started = performance.now();
  program ??= compileQpdf().catch((error: unknown) => {
    // The next work tries again.
    program = undefined;
    throw error;
  });
  const compiled = await program;
  const { promise, resolve, reject } = Promise.withResolvers<WorkAnswer>();
  const thread = new Worker(THREAD, {
    workerData: { program: compiled, work },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: {},
    // It hears of no flag of ours, such as one that opens a debugger.
    execArgv: [],
  });
  const end = (): void => {
    reject(new WorkFailure('timeout', 'The time limit was reached while the PDF was worked on.'));
  };
  const giveUp = (): void => {
    reject(new WorkFailure('cancelled', 'The conversion was cancelled.'));
  };
  const timer = setTimeout(end, Math.max(0, deadlineMs - (performance.now() - started)));
  unneeded?.addEventListener('abort', giveUp);
  thread
    .on('message', (message: WorkAnswer) => resolve(message))
    .on('error', (error: Error & { readonly code?: string }) => {
      const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const message = 'The PDF takes more memory than work on a PDF may use.';
      reject(isFull ? new WorkFailure('too_large', message, { cause: error }) : error);
    })
    .on('exit', (code) => reject(new Error(`The thread for work on PDFs ended with ${code}.`)));
  try {
    if (unneeded?.aborted === true) giveUp();
    const answer = await promise;
    if (answer.kind === 'done') return answer.result;
    throw new WorkFailure(answer.fault, answer.message);
  } finally {
    clearTimeout(timer);
    unneeded?.removeEventListener('abort', giveUp);
    await thread.terminate();
  }
}
