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

export type BundleStepName =
  | 'bundleFiles'
  | 'bundleCheckpoint'
  | 'bundleEvents'
  | 'bundleDocuments'
  | 'bundleReport';

/** All that the bundle shows, once all of it holds. */
type BundleFacts = Readonly<Record<BundleStepName, { readonly found?: Found }>>;

export interface StepFacts extends BundleFacts {
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
  /** The log of today goes on from the one of the bundle. */
  readonly growth: { readonly from: Tree; readonly to: Tree };
}

export type StepName = keyof StepFacts;

/** The difference that was found, as plain texts. */
export interface PlainDifference {
  readonly file: string;
  readonly of: string;
  readonly expected: string;
  readonly found: string;
}

interface Held<Name extends StepName> {
  readonly name: Name;
  readonly holds: true;
  readonly facts: StepFacts[Name];
}

interface Failed<Name extends StepName> {
  readonly name: Name;
  readonly holds: false;
  readonly difference: PlainDifference;
}

type StepOf<Name extends StepName> = Held<Name> | Failed<Name>;

export type Step = { [Name in StepName]: StepOf<Name> }[StepName];

export function plainDifference(error: unknown): PlainDifference {
  if (error instanceof Difference) {
    const { at, expected, found } = error;
    return { file: at.file, of: at.of ?? '', expected: String(expected), found: String(found) };
  }
  const found = error instanceof Error ? error.message : String(error);
  return { file: 'the proof', of: 'its form', expected: 'a form that can be read', found };
}

/** Does the checks of a step, which must ask nobody: whatever they throw is a fault of what is checked. */
export async function stepOf<Name extends StepName>(
  name: Name,
  check: () => Promise<StepFacts[Name]>,
): Promise<StepOf<Name>> {
  try {
    return { name, holds: true, facts: await check() };
  } catch (error) {
    return { name, holds: false, difference: plainDifference(error) };
  }
}
