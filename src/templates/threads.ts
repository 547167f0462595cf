/**
 * The threads that fill templates. One that takes too long or too much memory is ended, and all others go on.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { isOutOfMemory, threadFile, Threads } from '../async/threads.ts';
import type { Filled, FillJob, FillProblem, FillReport, FillTask } from './messages.ts';

const THREADS = 2;
/** For one of the data, from when the thread has the job. The library's own limit is shorter, and names the place. */
const STEP_MS = 3_000;
/** For all data of one job. */
const JOB_MS = 20_000;
const HEAP_MB = 128;

const SLOW = `It takes more than ${STEP_MS / 1000} s to fill the template and to check its data.`;
const LONG = `It takes more than ${JOB_MS / 1000} s to fill the template with all data. Send smaller batches.`;
const LARGE = 'It takes too much memory to fill the template.';

export interface FillResult {
  /** One for each of the data, in their order; fewer where the job ended before. */
  readonly filled: readonly Filled[];
  /** What is wrong with the template itself, or with what it took. */
  readonly problems: readonly FillProblem[];
  /** Milliseconds that a thread had the job. */
  readonly ms: number;
}

/** The reason why a job was ended. */
class TakesTooMuch extends Error {}

export class TemplateThreads {
  readonly #threads = new Threads<FillTask, readonly FillProblem[]>(
    threadFile(import.meta, 'fill-worker'),
    {
      maxThreads: THREADS,
      resourceLimits: {
        maxOldGenerationSizeMb: HEAP_MB,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
    },
  );

  /** @throws {ThreadsClosed} */
  async run(job: FillJob): Promise<FillResult> {
    const filled: Filled[] = [];
    const { port1: reports, port2 } = new MessageChannel();
    const abort = new AbortController();
    const endWith = (message: string): void => abort.abort(new TakesTooMuch(message));
    let began: number | undefined;
    const sinceBegun = (): number => (began === undefined ? 0 : performance.now() - began);
    let step: NodeJS.Timeout | undefined;
    let whole: NodeJS.Timeout | undefined;
    const hear = (report: FillReport): void => {
      began ??= performance.now();
      clearTimeout(step);
      step = setTimeout(endWith, STEP_MS, SLOW);
      if (report.kind === 'begun') whole = setTimeout(endWith, JOB_MS, LONG);
      else filled.push(report.filled);
    };
    reports.on('message', hear);
    try {
      const task = { job, reports: port2 };
      const { signal } = abort;
      const problems = await this.#threads.run(task, { signal, transferList: [port2] });
      return { filled: [...filled, ...reportsLeft(reports)], problems, ms: sinceBegun() };
    } catch (error) {
      const message = error instanceof TakesTooMuch ? error.message : LARGE;
      if (!(error instanceof TakesTooMuch || isOutOfMemory(error))) throw error;
      return { filled, problems: [{ path: ['html'], message }], ms: sinceBegun() };
    } finally {
      clearTimeout(step);
      clearTimeout(whole);
      reports.close();
    }
  }

  /** Takes no more jobs. Those under way are ended. */
  async close(): Promise<void> {
    await this.#threads.close();
  }
}

/** The answer comes by another port, and may come first. */
function* reportsLeft(reports: MessagePort): Generator<Filled> {
  for (let next = receiveMessageOnPort(reports); next; next = receiveMessageOnPort(reports)) {
    const report = next.message as FillReport;
    if (report.kind === 'filled') yield report.filled;
  }
}
