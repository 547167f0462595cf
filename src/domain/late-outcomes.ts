/** Outcomes that come after the end: they change nothing, and few enough are recorded that no renderer can grow the log. */

/** Late outcomes recorded per conversion, so that a stuttering renderer cannot grow the log. */
const MAX_IGNORED = 10;

/** One renderer's outcome of one attempt. */
export interface Outcome {
  readonly renderer: string;
  readonly attempt: number;
  readonly outcome: 'completed' | 'failed';
}

export interface Outcomes {
  /** The outcome that counted and those recorded as ignored: a repeated report changes nothing. */
  readonly ended: Outcome | undefined;
  readonly ignored: readonly Outcome[];
}

export const noOutcomes: Outcomes = { ended: undefined, ignored: [] };

export const outcomeOf = (
  { renderer, attempt }: Pick<Outcome, 'renderer' | 'attempt'>,
  outcome: Outcome['outcome'],
): Outcome => ({ renderer, attempt, outcome });

/** True where a late outcome is to be recorded. */
export function isNews({ ended, ignored }: Outcomes, late: Outcome): boolean {
  const isRecorded = [ended, ...ignored].some(
    (known) =>
      known?.renderer === late.renderer &&
      known.attempt === late.attempt &&
      known.outcome === late.outcome,
  );
  return !isRecorded && ignored.length < MAX_IGNORED;
}
