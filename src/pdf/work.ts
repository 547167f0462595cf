/** Work on finished PDFs, in threads that are ended at the deadline, with the runs of qpdf that it asks for. */
import { MessageChannel } from 'node:worker_threads';
import { isOutOfMemory, threadFile, Threads } from '../async/threads.ts';
import { QpdfRuns, type WorkPlace } from './qpdf-process.ts';
import {
  type PrintStamp,
  type Work,
  type WorkAnswer,
  WorkFailure,
  type WorkQuestion,
  type WorkResult,
} from './work-plan.ts';
import type { WorkTask } from './work-thread.ts';

/** Objects of a PDF while it is changed. What lies in buffers is not counted. */
const MAX_HEAP_MB = 512;
/** Another PDF may come soon. A thread that waits keeps the memory of the last one. */
const IDLE_MS = 1_000;

const threads = new Threads<WorkTask, WorkAnswer>(threadFile(import.meta, 'work-thread'), {
  // Each render thread has this module for itself, and one document at a time.
  maxThreads: 1,
  idleTimeout: IDLE_MS,
  resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
});

const noPrinter: PrintStamp = () => Promise.reject(new Error('This work prints no stamps.'));

/**
 * @param print what it rejects with ends the work
 * @throws {WorkFailure}
 */
export async function workOnPdf(
  work: Work,
  place: WorkPlace,
  print: PrintStamp = noPrinter,
): Promise<WorkResult> {
  const { deadlineMs, unneeded } = place;
  const end = new AbortController();
  const late = (): void => {
    const message = 'The time limit was reached while the PDF was worked on.';
    end.abort(new WorkFailure('timeout', message));
  };
  const giveUp = (): void => {
    end.abort(new WorkFailure('cancelled', 'The conversion was cancelled.'));
  };
  const timer = setTimeout(late, Math.max(0, deadlineMs));
  unneeded?.addEventListener('abort', giveUp);
  if (unneeded?.aborted === true) giveUp();
  try {
    const answer = await answerOf(work, place, print, end);
    if (answer.kind === 'done') return answer.result;
    throw new WorkFailure(answer.fault, answer.message);
  } finally {
    clearTimeout(timer);
    unneeded?.removeEventListener('abort', giveUp);
  }
}

async function answerOf(
  work: Work,
  place: WorkPlace,
  print: PrintStamp,
  end: AbortController,
): Promise<WorkAnswer> {
  const runs = await QpdfRuns.open(place);
  const { folder, qpdf } = runs;
  const { port1: asked, port2: port } = new MessageChannel();
  let printing: Promise<unknown> = Promise.resolve();
  const printed = ({ html, papers }: Extract<WorkQuestion, { kind: 'print' }>) => {
    const stamps = print(html, papers, end.signal);
    printing = stamps.catch(() => {});
    return stamps;
  };
  asked.on('message', (question: WorkQuestion) => {
    const answered = question.kind === 'run' ? runs.run(question) : printed(question);
    answered.then(
      (answer) => asked.postMessage(answer, []),
      (error: unknown) => end.abort(error),
    );
  });
  try {
    const task = { work, folder, program: qpdf.product, port };
    return await threads.run(task, { signal: end.signal, transferList: [port] });
  } catch (cause) {
    end.abort(cause);
    if (!isOutOfMemory(cause)) throw cause;
    const message = 'The PDF takes more memory than work on a PDF may use.';
    throw new WorkFailure('too_large', message, { cause });
  } finally {
    asked.close();
    // Its tab and its file must be gone when the next document begins.
    await printing;
    await runs.close();
  }
}
