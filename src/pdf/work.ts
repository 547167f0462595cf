/** Work on finished PDFs, each in a thread of its own that is ended at the deadline, with the runs of qpdf that it asks for. */
import { extname } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { QpdfRuns, type WorkPlace } from './qpdf-process.ts';
import { type Work, type WorkAnswer, WorkFailure, type WorkResult } from './work-plan.ts';

/** Objects of a PDF while it is changed. What lies in buffers is not counted. */
const MAX_HEAP_MB = 512;

/** The thread's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const THREAD = new URL(`work-thread${extname(import.meta.filename)}`, import.meta.url);

/** @throws {WorkFailure} */
export async function workOnPdf(work: Work, place: WorkPlace): Promise<WorkResult> {
  const started = performance.now();
  const { deadlineMs, unneeded } = place;
  const runs = await QpdfRuns.open(place);
  const { promise, resolve, reject } = Promise.withResolvers<WorkAnswer>();
  const { port1: asked, port2: port } = new MessageChannel();
  const { folder, qpdf } = runs;
  const thread = new Worker(THREAD, {
    workerData: { work, folder, program: qpdf.product, port },
    transferList: [port],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: {},
    // It hears of no flag of ours, such as one that opens a debugger.
    execArgv: [],
  });
  asked.on('message', (jobFile: string) => {
    runs.run(jobFile).then((end) => asked.postMessage(end, []), reject);
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
    asked.close();
    await runs.close();
  }
}
