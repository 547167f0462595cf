import { PageFailure } from '../browser/failure.ts';

/**
 * The longest that each wait for a page may take: a part of what is left of the time limit, so that no single wait eats
 * all of it, and milliseconds. A wait that is given up is noted in the record, and the page is printed as it is.
 */
const CAPS = {
  /** The answer to the first command. */
  ping: [0.6, 5_000],
  /** The load event. A page whose document has ended is taken as it is after that. */
  load: [0.5, 15_000],
  /** The end of a load once what it waits for was given up. */
  givenUp: [0.5, 2_000],
  /** What the client asked for. */
  selector: [0.7, 600_000],
  delay: [0.8, 600_000],
  networkIdle: [0.4, 10_000],
  /** Running ahead, in real time. The client may allow the page more of its own. */
  runAhead: [0.4, 5_000],
  /** The answers to what the page fetches: its clock does not run ahead meanwhile. */
  requests: [0.2, 5_000],
  workers: [0.2, 2_000],
  /** Work that Chrome does off the thread of the page's scripts. */
  nativeWork: [0.2, 3_000],
  /** Frames that bring what observers tell, for all of the page. */
  view: [0.2, 3_000],
  /** A page that never rests is not waited for any longer than this, nor one that does not say what it still lacks. */
  rest: [0.2, 500],
  /** Fonts and images. */
  complete: [0.5, 10_000],
  /** What the page reported as errors. */
  errors: [0.2, 5_000],
} as const satisfies Readonly<Record<string, readonly [part: number, ms: number]>>;
export type Cap = keyof typeof CAPS;

/** The step under way, in the words of the message that a client reads when time runs out. */
export type Phase = 'was loading' | 'was getting ready' | 'was being printed';

/** What a client looks for when time ran out, whoever noticed that it did. */
export const TIMEOUT_REASONS =
  'A script that never ends, a slow server or a very large document can be the reason.';

/** The one time limit of a conversion, seen from inside its page. All times in milliseconds. */
export class Deadline {
  phase: Phase = 'was loading';
  readonly #end: number;

  constructor(ms: number) {
    this.#end = performance.now() + ms;
  }

  remaining(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /**
   * The longest that a wait may take from now.
   * @param ownMs what the client allows it, if that is more than the table does
   */
  share(cap: Cap, ownMs = 0): number {
    const [part, ms] = CAPS[cap];
    return Math.min(this.remaining() * part, Math.max(ms, ownMs));
  }

  failure(): PageFailure {
    return new PageFailure(
      'timeout',
      `The time limit was reached while the page ${this.phase}. ${TIMEOUT_REASONS}`,
    );
  }
}
