/** The steps of a check, each with its result as data. A check ends with the first step that fails. */
import { Difference, type Found, type ProvedEvent } from '../../../verifier/verify-evidence.mjs';
import type { Tree } from './consistency.ts';
import type { KeptCheckpoint } from './kept-checkpoint.ts';

/** The signed statement about the log, opened. */
export interface Checkpoint extends Tree {
  readonly origin: string;
  readonly note: string;
  /** Witnesses, whose cosignatures are not checked. */
  readonly cosigners: readonly string[];
}

/** The keys that a check trusts: those in force, one of which this browser knew before if it kept any. */
export interface TrustedKeys {
  readonly keys: readonly string[];
  readonly kept: KeptCheckpoint | undefined;
}

/** The answer of `POST /verify/public` about a PDF that is known. */
export interface PublicAnswer {
  readonly created_at: string;
  readonly checkpoint: string;
  readonly entries: readonly {
    readonly index: number;
    readonly leaf: string;
    readonly proof: string;
    readonly statement: string;
  }[];
}

export interface StepFacts {
  readonly keys: TrustedKeys;
  readonly checkpoint: Checkpoint;
  /** `kept` is undefined where the browser had nothing to compare with. */
  readonly history: {
    readonly checkpoint: Checkpoint;
    readonly kept: KeptCheckpoint | undefined;
    /** True if the browser can compare at the next visit. */
    readonly isKept: boolean;
  };
  readonly events: { readonly events: readonly ProvedEvent[] };
  readonly document: { readonly sha256: string; readonly event: ProvedEvent };
  /** The hash of an event, of which strangers are told no more. */
  readonly entry: PublicAnswer['entries'][number];
  /** The signed words of the service: that event names the PDF. */
  readonly statement: { readonly statement: string };
  /** The log of today goes on from the one of the bundle. */
  readonly growth: { readonly from: Tree; readonly to: Tree };
  /** Undefined where a later step of the bundle fails: nothing of it is shown then. */
  readonly bundleFiles: Found | undefined;
  readonly bundleCheckpoint: Found | undefined;
  readonly bundleEvents: Found | undefined;
  readonly bundleDocuments: Found | undefined;
  readonly bundleReport: Found | undefined;
}

export type StepName = keyof StepFacts;

/** The difference that was found, as plain texts. */
export interface PlainDifference {
  readonly file: string;
  readonly of: string;
  readonly expected: string;
  readonly found: string;
}

export interface Held<Name extends StepName = StepName> {
  readonly name: Name;
  readonly holds: true;
  readonly facts: StepFacts[Name];
}

export interface Failed {
  readonly name: StepName;
  readonly holds: false;
  readonly difference: PlainDifference;
}

export type Step = { [Name in StepName]: Held<Name> }[StepName] | Failed;

/**
 * Does a step and tells of it. What is done must ask nobody: whatever it throws is a fault of what is checked.
 * @throws ends the check if the step fails
 */
export type DoStep = <Name extends StepName>(
  name: Name,
  check: () => Promise<StepFacts[Name]>,
) => Promise<StepFacts[Name]>;

export interface Check {
  /** The steps in their order. */
  readonly plan: readonly StepName[];
  readonly run: (doStep: DoStep) => Promise<void>;
}

export function plainDifference(error: unknown): PlainDifference {
  if (error instanceof Difference) {
    const { at, expected, found } = error;
    return { file: at.file, of: at.of ?? '', expected: String(expected), found: String(found) };
  }
  const found = error instanceof Error ? error.message : String(error);
  return { file: 'the proof', of: 'its form', expected: 'a form that can be read', found };
}

class StepFailed extends Error {}

/**
 * Resolves after the last step, or after the first that fails.
 * @param onStep gets each step as it is done
 * @throws where something prevents the check, such as a lost connection
 */
export async function runCheck({ run }: Check, onStep: (step: Step) => void): Promise<void> {
  try {
    await run(async (name, check) => {
      try {
        const facts = await check();
        onStep({ name, holds: true, facts } as Step);
        return facts;
      } catch (error) {
        onStep({ name, holds: false, difference: plainDifference(error) });
        throw new StepFailed();
      }
    });
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
  }
}
