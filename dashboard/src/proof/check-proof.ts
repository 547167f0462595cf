/**
 * Checks the proofs of one conversion. Only Web Crypto and byte arrays are used, so that it runs in browsers
 * and in Node alike.
 */
import {
  Difference,
  type Entry,
  provedEvents,
  type ProvedEvent,
} from '../../../verifier/verify-evidence.mjs';
import type { KeptCheckpoint } from './kept-checkpoint.ts';
import {
  type CheckDependencies,
  growthBetween,
  mustGrow,
  openCheckpoint,
  trustedKeys,
} from './log.ts';
import { type Checkpoint, type Step, stepOf } from './steps.ts';

/** The answer of `GET /conversions/{id}/proof/` or `POST /verify/` about a conversion. */
export interface Proof {
  readonly conversionId: string;
  readonly entries: readonly Entry[];
  /** The keys that the answer names, one a line. */
  readonly key?: string;
  /** The SHA-256 of a PDF, hex digits: the events must name it. */
  readonly pdfSha256?: string;
}

export const PROOF_STEPS = ['keys', 'checkpoint', 'history', 'events'] as const;

/** The checkpoint that a proof carries; an empty text where it carries none. */
function noteOf([first]: readonly Entry[]): string {
  const end = first?.proof.indexOf('\n\n') ?? -1;
  return end === -1 ? '' : (first?.proof.slice(end + 2) ?? '');
}

/** Yields each step as it is done, in the order of `PROOF_STEPS`, then `document` if there is a PDF. */
export async function* checkProof(
  { conversionId, entries, key, pdfSha256 }: Proof,
  dependencies: CheckDependencies,
): AsyncGenerator<Step> {
  const { log, keeper } = dependencies;
  const inForce = await log.keys();
  const kept = keeper.read();
  const keys = await stepOf('keys', () => trustedKeys(inForce, kept, key));
  yield keys;
  if (!keys.holds) return;
  const opened = await stepOf('checkpoint', () => openCheckpoint(noteOf(entries), keys.facts.keys));
  yield opened;
  if (!opened.holds) return;
  const history = await historyStep(opened.facts, inForce, kept, dependencies);
  yield history;
  if (!history.holds) return;
  const { note, size, root } = opened.facts;
  const checkpoint = { note, size: `${size}`, root };
  const events = await stepOf('events', async () => ({
    events: await provedEvents('the proof', entries, checkpoint, conversionId),
  }));
  yield events;
  if (!events.holds || pdfSha256 === undefined) return;
  yield await stepOf('document', async () => documentOf(events.facts.events, pdfSha256));
}

/** Compares a checkpoint with the one that this browser kept, and keeps the larger one. */
export async function historyStep(
  checkpoint: Checkpoint,
  inForce: string,
  kept: KeptCheckpoint | undefined,
  { log, keeper, now }: CheckDependencies,
): Promise<Extract<Step, { name: 'history' }>> {
  const growth = kept && (await growthBetween(log, kept, checkpoint));
  return await stepOf('history', async () => {
    if (growth !== undefined) await mustGrow(growth);
    if (kept !== undefined && kept.size > checkpoint.size) {
      return { checkpoint, kept, isKept: true };
    }
    const { origin, size, root } = checkpoint;
    const keys = inForce.trim().split('\n');
    const isKept = keeper.keep({ origin, size, root, keys, checkedAt: now().toISOString() });
    return { checkpoint, kept, isKept };
  });
}

function documentOf(events: readonly ProvedEvent[], sha256: string) {
  const event = events.find(({ type }) => type === 'ConversionCompleted');
  const pdf = event?.data['pdf'] as { readonly sha256?: string } | undefined;
  if (event !== undefined && pdf?.sha256 === sha256) return { sha256, event };
  const at = { file: 'the event ConversionCompleted', of: 'SHA-256 of the PDF' };
  throw new Difference(at, sha256, pdf?.sha256 ?? 'none');
}
