/** Which Chromes and which task each render thread has, and whom it is warm for, by what it told. */
import { killGroup } from './chrome/processes.ts';
import type { WorkerNotice } from './messages.ts';

export class Threads {
  /** More than one while the next takes over from one that is worn out. */
  readonly #chromes = new Map<number, Set<number>>();
  readonly #tasks = new Map<string, number>();
  missing: string | undefined;

  note(notice: WorkerNotice): void {
    switch (notice.kind) {
      case 'chromeStarted': {
        const chromes = this.#chromes.get(notice.threadId) ?? new Set();
        this.#chromes.set(notice.threadId, chromes.add(notice.pid));
        this.missing = undefined;
        break;
      }
      case 'chromeEnded':
        this.#chromes.get(notice.threadId)?.delete(notice.pid);
        break;
      case 'chromeMissing':
        this.missing = notice.message;
        break;
      case 'taskTaken':
        this.#tasks.set(notice.conversionId, notice.threadId);
        break;
    }
  }

  killChromesOf(conversionId: string): void {
    this.#kill(this.#tasks.get(conversionId) ?? -1);
  }

  taskEnded(conversionId: string): void {
    this.#tasks.delete(conversionId);
  }

  /** Ends the Chromes of threads that are no more. */
  killOrphans(living: readonly number[]): void {
    for (const thread of this.#chromes.keys()) {
      if (living.includes(thread)) continue;
      this.#kill(thread);
      this.#chromes.delete(thread);
    }
  }

  #kill(thread: number): void {
    for (const pid of this.#chromes.get(thread) ?? []) killGroup(pid);
  }
}
