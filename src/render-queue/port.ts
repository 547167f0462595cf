import type {
  Recorded,
  RenderJob,
  RenderReport,
  SigningAnswer,
  SigningRequest,
} from './messages.ts';

/** A job that a renderer has, and a slot for it. The first of `ack`, `nack` and `requeue` ends it. */
export interface Delivery {
  readonly job: RenderJob;
  /** Aborted when its conversion has ended meanwhile. It is a hint: the answer to a report says whether that is so. */
  readonly unneeded: AbortSignal;
  /**
   * Lets the next job have the slot before this one ends. A job that failed keeps its slot until its outcome
   * is recorded: by then the queue knows whether its account is to wait.
   */
  releaseSlot(): void;
  /** Its conversion has ended: the job leaves the queue. */
  ack(): void;
  /** The try failed: the job comes again after a pause. */
  nack(): void;
  /** It was not tried: the job comes again at once. */
  requeue(): void;
}

export interface Consumer {
  /** No further delivery starts; those under way go on. */
  stop(): Promise<void>;
}

/** A renderer that takes jobs, as others see it. */
export interface SeenRenderer {
  readonly id: string;
  readonly slots: number;
}

/** Sees the renderers of the queue from any process. */
export interface RendererWatch {
  /** `isLed`: a process feeds the queue; undefined while nobody can be asked. */
  look(): Promise<{
    readonly isLed: boolean | undefined;
    readonly renderers: readonly SeenRenderer[];
  }>;
  close(): void;
}

/**
 * The render queue hands accepted conversions to renderer nodes and their reports back. It is a hint,
 * never the truth: what it loses is sent again from the log, which alone counts tries.
 */
export interface RenderQueue {
  /** True if the conversion's job is in the queue: it waits, or a renderer has it. */
  has(conversionId: string): boolean;
  /** Offers a job; one that is already in the queue is not offered twice. */
  offer(job: RenderJob): Promise<void>;
  /** Forgets jobs of conversions that have ended: those that `isUnfinished` is false for. */
  retain(isUnfinished: (conversionId: string) => boolean): Promise<void>;
  /** Forgets the jobs of these conversions, which have ended, and tells the renderers that have some of them. */
  discard(conversionIds: ReadonlySet<string>): Promise<void>;
  /**
   * Takes jobs in the turns of `FairTurns`: at most `slots` that hold a slot at a time, and as many again
   * that have released theirs. `handle` reports the start of each, and its outcome before it ends it.
   */
  consume(slots: number, handle: (delivery: Delivery) => Promise<void>): Consumer;
  /** Resolves when the report has been recorded by the handler of `onReport`. */
  report(report: RenderReport): Promise<Recorded>;
  /** Asks those who record reports for a signature: a renderer has no key. It is asked for until there is an answer. */
  sign(request: SigningRequest): Promise<SigningAnswer>;
  /** Hands over reports and requests for signatures; one whose handler rejects is handed over again. */
  onReport(
    handle: (report: RenderReport) => Promise<Recorded>,
    sign?: (request: SigningRequest) => Promise<SigningAnswer>,
  ): Consumer;
  /** Jobs that no renderer has started. */
  waiting(): number;
  /** Jobs of the account that wait for their turn: all, or those of normal priority. */
  waitingOf(accountId: string, priority?: 'normal'): number;
  close(): Promise<void>;
}
