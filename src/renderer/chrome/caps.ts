/**
 * The longest that each wait for a page may take: a part of what is left of the time limit, so that no single wait eats
 * all of it, and milliseconds. A wait that is given up is noted in the record, and the page is printed as it is.
 */
export const CAPS = {
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
  /** Frames that bring what observers tell, for all of the page. */
  view: [0.2, 3_000],
  /** A page that never rests is not waited for any longer than this. */
  rest: [0.2, 500],
  /** Fonts and images. */
  complete: [0.5, 10_000],
  /** The question what a wait that was given up still lacked. */
  lacking: [0.1, 300],
} as const satisfies Readonly<Record<string, readonly [part: number, ms: number]>>;
