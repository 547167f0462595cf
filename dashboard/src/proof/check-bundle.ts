/** Checks a bundle of evidence with the keys of this service, then against the log as it is now. */
import {
  type Found,
  GROUPS,
  type Group,
  verifyEvidence,
} from '../../../verifier/verify-evidence.mjs';
import { historyStep } from './check-proof.ts';
import {
  type CheckDependencies,
  growthBetween,
  mustGrow,
  openCheckpoint,
  trustedKeys,
} from './log.ts';
import {
  type BundleStepName,
  type PlainDifference,
  plainDifference,
  type Step,
  type StepName,
  stepOf,
} from './steps.ts';

/** The verifier's report on a bundle, as a worker can send it. */
export type BundleResult =
  | { readonly ok: true; readonly found: Found }
  | { readonly ok: false; readonly passed: readonly Group[]; readonly difference: PlainDifference };

export async function verifyBundle(
  zip: Uint8Array,
  keys: readonly string[],
): Promise<BundleResult> {
  const passed: Group[] = [];
  try {
    return { ok: true, found: await verifyEvidence(zip, keys, [], (group) => passed.push(group)) };
  } catch (error) {
    return { ok: false, passed, difference: plainDifference(error) };
  }
}

const BUNDLE_STEPS: Readonly<Record<Group, BundleStepName>> = {
  files: 'bundleFiles',
  checkpoint: 'bundleCheckpoint',
  events: 'bundleEvents',
  documents: 'bundleDocuments',
  report: 'bundleReport',
};

/** The steps of `checkBundle` in their order. */
export const BUNDLE_PLAN: readonly StepName[] = [
  'keys',
  ...GROUPS.map((group) => BUNDLE_STEPS[group]),
  'checkpoint',
  'growth',
  'history',
];

/** @param verify does what `verifyBundle` does, where it holds up nothing else */
export async function* checkBundle(
  zip: Uint8Array<ArrayBuffer>,
  verify: (zip: Uint8Array<ArrayBuffer>, keys: readonly string[]) => Promise<BundleResult>,
  dependencies: CheckDependencies,
): AsyncGenerator<Step> {
  const { log, keeper } = dependencies;
  const inForce = await log.keys();
  const kept = keeper.read();
  const keys = await stepOf('keys', () => trustedKeys(inForce, kept));
  yield keys;
  if (!keys.holds) return;
  const result = await verify(zip, keys.facts.keys);
  if (!result.ok) {
    for (const group of result.passed) {
      yield { name: BUNDLE_STEPS[group], holds: true, facts: {} };
    }
    const failed = GROUPS[result.passed.length] ?? 'report';
    yield { name: BUNDLE_STEPS[failed], holds: false, difference: result.difference };
    return;
  }
  const { found } = result;
  for (const group of GROUPS) yield { name: BUNDLE_STEPS[group], holds: true, facts: { found } };
  const note = await log.checkpoint();
  const current = await stepOf('checkpoint', () => openCheckpoint(note, keys.facts.keys));
  yield current;
  if (!current.holds) return;
  const growth = await growthBetween(log, found, current.facts);
  const growing = await stepOf('growth', async () => {
    await mustGrow(growth);
    return { from: found, to: current.facts };
  });
  yield growing;
  if (!growing.holds) return;
  yield await historyStep(current.facts, inForce, kept, dependencies);
}
