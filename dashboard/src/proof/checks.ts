/**
 * The check of a conversion's proof, and that of a bundle of evidence. Only Web Crypto and byte arrays are used,
 * so that both run in browsers and in Node alike.
 */
import {
  Difference,
  type Entry,
  type Found,
  GROUPS,
  fromBase64,
  type Group,
  mustBeInLog,
  mustBearSignature,
  mustBeSigned,
  openNote,
  parseKey,
  type ProvedEvent,
  provedEvents,
  verifyEvidence,
} from '../../../verifier/verify-evidence.mjs';
import {
  type CheckDependencies,
  growthBetween,
  mustGrow,
  openCheckpoint,
  trustedKeys,
} from './log.ts';
import {
  type Check,
  type Checkpoint,
  type DoStep,
  type PlainDifference,
  type PublicAnswer,
  plainDifference,
} from './steps.ts';

/** The answer of `GET /conversions/{id}/proof/` or `POST /verify/` about a conversion. */
export interface Proof {
  readonly conversionId: string;
  readonly entries: readonly Entry[];
  /** The keys that the answer names, one a line. */
  readonly key?: string;
}

/** The checkpoint that a proof carries; an empty text where it carries none. */
function noteOf([first]: readonly Entry[]): string {
  const end = first?.proof.indexOf('\n\n') ?? -1;
  return end === -1 ? '' : (first?.proof.slice(end + 2) ?? '');
}

/** A PDF that the events must name. */
export interface ProvedPdf {
  /** Hex digits. */
  readonly sha256: string;
  /** Reads it, where it is at hand: then its signature is checked too. */
  readonly read?: () => Promise<Uint8Array>;
}

/** Begins a check with the keys that it trusts. */
async function begin(doStep: DoStep, { log, keeper, now }: CheckDependencies, named?: string) {
  const inForce = await log.keys();
  const kept = keeper.read();
  const { keys } = await doStep('keys', () => trustedKeys(inForce, kept, named));
  /** Compares a checkpoint with the one that this browser kept, and keeps the larger one. */
  const compare = async (checkpoint: Checkpoint): Promise<void> => {
    const growth = kept && (await growthBetween(log, kept, checkpoint));
    await doStep('history', async () => {
      if (growth !== undefined) await mustGrow(growth);
      if (kept !== undefined && kept.size > checkpoint.size) {
        return { checkpoint, kept, isKept: true };
      }
      const { origin, size, root } = checkpoint;
      const ofLog = inForce.trim().split('\n');
      const checkedAt = now().toISOString();
      return {
        checkpoint,
        kept,
        isKept: keeper.keep({ origin, size, root, keys: ofLog, checkedAt }),
      };
    });
  };
  return {
    keys,
    compare,
    open: (note: string) => doStep('checkpoint', () => openCheckpoint(note, keys)),
  };
}

export function checkProof(
  load: () => Promise<Proof>,
  pdf: ProvedPdf | undefined,
  dependencies: CheckDependencies,
): Check {
  const document = pdf === undefined ? [] : (['document'] as const);
  return {
    plan: ['keys', 'checkpoint', 'history', 'events', ...document],
    run: async (doStep) => {
      const { conversionId, entries, key } = await load();
      const { open, compare } = await begin(doStep, dependencies, key);
      const opened = await open(noteOf(entries));
      await compare(opened);
      const { note, size, root } = opened;
      const checkpoint = { note, size: `${size}`, root };
      const { events } = await doStep('events', async () => ({
        events: await provedEvents('the proof', entries, checkpoint, conversionId),
      }));
      if (pdf === undefined) return;
      await doStep('document', async () => {
        const named = documentOf(events, pdf.sha256);
        if (pdf.read) await mustBearSignature('the PDF', await pdf.read(), events);
        return named;
      });
    },
  };
}

function documentOf(events: readonly ProvedEvent[], sha256: string) {
  const event = events.find(({ type }) => type === 'ConversionCompleted');
  const pdf = event?.data['pdf'] as { readonly sha256?: string } | undefined;
  if (event !== undefined && pdf?.sha256 === sha256) return { sha256, event };
  const at = { file: 'the event ConversionCompleted', of: 'SHA-256 of the PDF' };
  throw new Difference(at, sha256, pdf?.sha256 ?? 'none');
}

/**
 * Checks what strangers can: a signed log has an event of that hash, and its keys have signed that the event names the
 * PDF. What the event says is its account's, so that nobody else can compare the two.
 * @param pdfSha256 hex digits
 */
export const checkPublicProof = (
  { created_at: created, checkpoint: note, entries }: PublicAnswer,
  pdfSha256: string,
  dependencies: CheckDependencies,
): Check => ({
  plan: ['keys', 'checkpoint', 'history', 'entry', 'statement'],
  run: async (doStep) => {
    const { keys, open, compare } = await begin(doStep, dependencies);
    const opened = await open(note);
    await compare(opened);
    const { origin, size, root } = opened;
    const { index, leaf, statement } = await doStep('entry', async () => {
      const [entry, ...others] = entries;
      if (entry === undefined || others.length > 0) {
        throw new Difference({ file: 'the answer', of: 'entries' }, 1, entries.length);
      }
      const hashed = { ...entry, leaf: fromBase64(entry.leaf) };
      await mustBeInLog(`event ${entry.index}`, hashed, { note, size: `${size}`, root });
      return entry;
    });
    await doStep('statement', async () => {
      const place = 'the statement';
      const parsed = await Promise.all(keys.map((key) => parseKey(key, 1)));
      const { lines, signers } = await openNote(place, statement, parsed);
      mustBeSigned(place, parsed, signers);
      const expected = [
        'pressledger-pdf/v1',
        `origin ${origin}`,
        `sha256 ${pdfSha256}`,
        `created ${created}`,
        `event ${index} ${leaf}`,
      ].join(', ');
      if (lines.join(', ') === expected) return { statement };
      throw new Difference({ file: place, of: 'text' }, expected, lines.join(', '));
    });
  },
});

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

/** In the order of `GROUPS`. */
const BUNDLE_STEPS = {
  files: 'bundleFiles',
  checkpoint: 'bundleCheckpoint',
  events: 'bundleEvents',
  documents: 'bundleDocuments',
  report: 'bundleReport',
} as const satisfies Record<Group, string>;

/**
 * Checks a bundle of evidence with the keys of this service, then against the log as it is now.
 * @param verify does what `verifyBundle` does, where it holds up nothing else
 */
export const checkBundle = (
  load: () => Promise<Uint8Array<ArrayBuffer>>,
  verify: (zip: Uint8Array<ArrayBuffer>, keys: readonly string[]) => Promise<BundleResult>,
  dependencies: CheckDependencies,
): Check => ({
  plan: ['keys', ...Object.values(BUNDLE_STEPS), 'checkpoint', 'growth', 'history'],
  run: async (doStep) => {
    const zip = await load();
    const { log } = dependencies;
    const { keys, open, compare } = await begin(doStep, dependencies);
    const result = await verify(zip, keys);
    const failed = result.ok ? undefined : (GROUPS[result.passed.length] ?? 'report');
    for (const group of GROUPS) {
      await doStep(BUNDLE_STEPS[group], async () => {
        if (result.ok) return result.found;
        if (group !== failed) return undefined;
        const { file, of, expected, found } = result.difference;
        throw new Difference({ file, of }, expected, found);
      });
    }
    if (!result.ok) return;
    const { found } = result;
    const current = await open(await log.checkpoint());
    const growth = await growthBetween(log, found, current);
    await doStep('growth', async () => {
      await mustGrow(growth);
      return { from: found, to: current };
    });
    await compare(current);
  },
});
