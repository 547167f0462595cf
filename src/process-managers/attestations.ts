/**
 * Asks witnesses to cosign the log's newest checkpoint, and a timestamp authority to say when it was there.
 * Their answers become events. Each is asked separately, so one that is away delays nothing.
 */
import { checkpointQueries, type StoredCheckpoint } from '../../projections/checkpoints.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { firstCommand } from '../actors/command-context.ts';
import type { Stoppable } from '../async/stoppable.ts';
import { LOG_ID, type LogCommand, logAggregate } from '../domain/log.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { Attestors } from '../log/attestation/port.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { signedByLog } from '../transparency-log/checkpoint.ts';
import { consistencyProof } from '../transparency-log/merkle-tree.ts';
import { startBackgroundLoop } from './background-loop.ts';

/** The time between two tries while one of them is away. Checkpoints of that time are not made up for. */
const RETRY_MS = 30_000;

type Dependencies = Log & Attestors & { readonly logger: Logger; readonly retryMs?: number };

/** A party that can say something about a checkpoint. */
interface Attestor {
  /** Its name in messages, such as `the witness example.com/w1`. */
  readonly name: string;
  has(checkpoint: StoredCheckpoint): boolean;
  ask(checkpoint: StoredCheckpoint, stopping: AbortSignal): Promise<LogCommand>;
}

export function startAttestations(deps: Dependencies): Stoppable {
  const { clock, readModel, timestampAuthority, witnesses } = deps;

  const attestors: Attestor[] = witnesses.map((witness) => ({
    name: `the witness ${witness.name}`,
    has: ({ note }) => witness.hasCosigned(note),
    ask: async ({ note, size }, stopping) => {
      const { hashes } = readModel.query(logTreeQueries);
      const cosignable = {
        size,
        note: signedByLog(note),
        consistencyProof: (from: number) => consistencyProof(hashes, from, size),
      };
      const signatures = [await witness.cosign(cosignable, stopping)];
      return { type: 'RecordCosignatures', size, signatures, at: clock.now() };
    },
  }));
  if (timestampAuthority !== undefined) {
    attestors.push({
      name: `the timestamp authority ${timestampAuthority.name}`,
      has: ({ timestamp }) => timestamp !== undefined,
      ask: async ({ note, size }, stopping) => {
        const token = await timestampAuthority.timestamp(signedByLog(note), stopping);
        const at = clock.now();
        return { type: 'RecordTimestamp', size, token: token.toString('base64'), at };
      },
    });
  }
  const loops = attestors.map((attestor) => startAsking(attestor, deps));
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}

function startAsking(attestor: Attestor, deps: Dependencies): Stoppable {
  const { actors, clock, logger, readModel, runner, retryMs = RETRY_MS } = deps;
  let isAway = false;
  let retry: NodeJS.Timeout | undefined;

  const step = async (stopping: AbortSignal): Promise<void> => {
    if (retry !== undefined) return;
    const newest = readModel.query(checkpointQueries).newest();
    if (newest === undefined || attestor.has(newest)) return;
    const command = await attestor.ask(newest, stopping).catch((error: unknown) => {
      if (!stopping.aborted) postpone(error);
    });
    if (command === undefined) return;
    if (isAway) logger.info(`${attestor.name} answers again`);
    isAway = false;
    const context = firstCommand(clock.now(), { kind: 'service' });
    const outcome = await actors.send(logAggregate, LOG_ID, command, context);
    // Else it would be asked again for what is recorded.
    if (outcome.accepted && outcome.position !== undefined) await runner.waitFor(outcome.position);
  };
  const postpone = (error: unknown): void => {
    // Once for a time of failures.
    if (!isAway) {
      const reason = errorMessage(error);
      logger.warn(`${attestor.name} is asked again later, checkpoints go on without it: ${reason}`);
    }
    isAway = true;
    retry = setTimeout(() => {
      retry = undefined;
      loop.wake();
    }, retryMs);
  };

  const loop = startBackgroundLoop(attestor.name, step, logger, {
    after: { runner, types: ['CheckpointSigned'] },
  });
  return {
    stop: async () => {
      await loop.stop();
      clearTimeout(retry);
    },
  };
}
