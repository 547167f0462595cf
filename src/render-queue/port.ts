import type { RenderJob, RenderReport } from './messages.ts';

/** A job in a renderer's hands, and a slot for it. Exactly one of `done`, `giveBack` and `putBack` ends it. */
export interface Delivery {
  readonly job: RenderJob;
  /**
   * Lets the next job have the slot before this one ends. A job that failed keeps its slot until its report
   * is recorded: by then the queue knows whether its account is to wait.
   */
  releaseSlot(): void;
  /** The outcome is reported: the queue forgets the job. */
  done(): Promise<void>;
  /** Not rendered here: another renderer, or this one later, takes it as the next attempt, if there is one. */
  giveBack(): Promise<void>;
  /** Not tried here, for no fault of its own: another renderer takes it with the same `attempt`. */
  putBack(): Promise<void>;
}

export interface Consumer {
  /** No further delivery starts; those under way go on. */
  stop(): Promise<void>;
}

/**
 * The render queue hands accepted conversions to renderer nodes and their reports back. It is a hint,
 * never the truth: what it loses is sent again from the log.
 */
export interface RenderQueue {
  /**
   * True if it counts tries by itself: a job whose renderer died comes back as the next attempt. Otherwise
   * the log counts them, by the starts that renderers report, and each must be reported at once.
   */
  readonly countsTries: boolean;
  /** Offers a job; one that is already queued or in a renderer's hands is not offered twice. */
  offer(job: RenderJob): Promise<void>;
  /** Forgets waiting jobs of conversions that have ended: those that `isUnfinished` is false for. */
  retain(isUnfinished: (conversionId: string) => boolean): Promise<void>;
  /**
   * Takes jobs in the turns of `FairTurns`: at most `slots` that hold a slot at a time, and as many again
   * that have released theirs.
   */
  consume(slots: number, handle: (delivery: Delivery) => Promise<void>): Consumer;
  /** Resolves when the report has been recorded by whoever follows `reports`. */
  report(report: RenderReport): Promise<void>;
  /** Hands over reports; a report whose handler rejects is handed over again. */
  reports(handle: (report: RenderReport) => Promise<void>): Consumer;
  /** Jobs waiting for a renderer. */
  waiting(): number;
  close(): Promise<void>;
}
