/** The published side of the log: its newest checkpoint, its tree of hashes, and proofs of single events. */
import { checkpointQueries, type StoredCheckpoint } from '../../projections/checkpoints.ts';
import { conversionQueries } from '../../projections/conversions.ts';
import { historyQueries } from '../../projections/history.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { readEvents } from '../conversions/history.ts';
import { ServiceError } from '../errors/errors.ts';
import type { EventStore, RecordedEvent } from '../event-store/port.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import { parseCheckpoint } from '../transparency-log/checkpoint.ts';
import { consistencyProof, inclusionProof, leafHash } from '../transparency-log/merkle-tree.ts';
import { formatProof, parseTilePath, tile } from '../transparency-log/published.ts';
import { openNote } from '../transparency-log/signed-note.ts';
import type { CheckpointSigner } from './checkpoint-signer.ts';

export interface TransparencyLogDependencies extends ReadDependencies {
  readonly streams: Pick<EventStore, 'readStream'>;
  readonly signer: Pick<CheckpointSigner, 'sign'>;
}

/** More events than one conversion has: its downloads are bounded, and so are its tries. */
const MOST_EVENTS = 1_000;
/** Signatures that another node may be ahead of before it is our fault. */
const ATTEMPTS = 3;

/** The newest checkpoint; the first is signed if there is none. */
export const currentCheckpoint = (deps: TransparencyLogDependencies): Promise<StoredCheckpoint> =>
  checkpointCovering(deps, 0n);

/** The verifier keys in force, the newest first. */
export async function currentKeys(deps: TransparencyLogDependencies): Promise<readonly string[]> {
  await currentCheckpoint(deps);
  return keysInForce(deps);
}

const keysInForce = ({ readModel }: TransparencyLogDependencies): readonly string[] =>
  readModel
    .query(checkpointQueries)
    .keys()
    .map(({ verifierKey }) => verifierKey);

/**
 * The newest checkpoint, signed now where the log's newest does not cover the event at that position.
 * @throws {LogDiffers} @throws {ServiceError} `service_unavailable`
 */
export async function checkpointCovering(
  deps: TransparencyLogDependencies,
  position: bigint,
): Promise<StoredCheckpoint> {
  for (let attempt = 0; attempt <= ATTEMPTS; attempt += 1) {
    const { indexAt } = await consistentQuery(deps, logTreeQueries);
    const newest = deps.readModel.query(checkpointQueries).newest();
    const index = position === 0n ? 0 : indexAt(position);
    if (newest !== undefined && index !== undefined && index < newest.size) return newest;
    if (attempt < ATTEMPTS) await deps.signer.sign();
  }
  throw new ServiceError('service_unavailable', undefined, { retryAfter: 1 });
}

/** One event, and the proof that a checkpoint covers it. */
export interface ProvenEvent {
  /** The event's number in the log, from 0. */
  readonly index: number;
  /** The canonical text, whose hash is the leaf. */
  readonly event: string;
  /** https://c2sp.org/tlog-proof, with the checkpoint. */
  readonly proof: string;
}

/**
 * @param checkpoint one that covers all the events
 * @throws {Error} an event is not the one that the tree holds: the log was changed
 */
export function inclusionProofs(
  { readModel }: Pick<TransparencyLogDependencies, 'readModel'>,
  events: readonly RecordedEvent[],
  { size, note }: Pick<StoredCheckpoint, 'size' | 'note'>,
): readonly ProvenEvent[] {
  const { hashes, indexAt } = readModel.query(logTreeQueries);
  const known = new Map<string, Buffer>();
  return events.map((recorded) => {
    const event = canonicalEvent(recorded);
    const index = indexAt(recorded.position) ?? size;
    const [leaf] = hashes.leaves(index, index + 1);
    if (leaf?.equals(leafHash(event)) !== true) {
      const { type, position } = recorded;
      throw new Error(
        `${type} at position ${position} is not the event that the log's tree holds.`,
      );
    }
    const proof = inclusionProof(hashes, index, size, known);
    return { index, event, proof: formatProof({ index, proof, checkpoint: note }) };
  });
}

export interface ConversionProof {
  readonly origin: string;
  /** The verifier keys in force, one a line. */
  readonly key: string;
  readonly checkpoint: string;
  /** All events of the conversion, those of its account's stream included, in the log's order. */
  readonly entries: readonly ProvenEvent[];
}

/** @throws {ServiceError} `not_found`, `service_unavailable` */
export async function proofOfConversion(
  deps: TransparencyLogDependencies,
  conversionId: string,
): Promise<ConversionProof> {
  const conversion = (await consistentQuery(deps, conversionQueries)).byId(conversionId);
  if (conversion === undefined) {
    throw new ServiceError('not_found', `There is no conversion ${conversionId}.`);
  }
  const all = { order: 'oldest first', offset: 0, limit: MOST_EVENTS } as const;
  const { places } = deps.readModel
    .query(historyQueries)
    .page(conversion.accountId, { conversionId }, all);
  const events = await readEvents(deps.streams, places);
  const last = events.at(-1)?.position ?? 0n;
  const checkpoint = await checkpointCovering(deps, last);
  return {
    origin: parseCheckpoint(openNote(checkpoint.note).text).origin,
    key: keysInForce(deps).join('\n'),
    checkpoint: checkpoint.note,
    entries: inclusionProofs(deps, events, checkpoint),
  };
}

/**
 * The hashes of a published tile.
 * @param path what follows `/tlog/tile/`
 * @returns undefined where it names no tile of hashes that the newest checkpoint covers
 */
export async function publishedTile(
  deps: TransparencyLogDependencies,
  path: string,
): Promise<Buffer | undefined> {
  const asked = parseTilePath(path);
  if (asked === undefined) return undefined;
  const { size } = await currentCheckpoint(deps);
  return tile(deps.readModel.query(logTreeQueries).hashes, size, asked);
}

/** The consistency proof between two sizes of the published log; `to` must not be beyond it. */
export function consistencyBetween(
  { readModel }: Pick<TransparencyLogDependencies, 'readModel'>,
  from: number,
  to: number,
): readonly Buffer[] {
  return consistencyProof(readModel.query(logTreeQueries).hashes, from, to);
}
