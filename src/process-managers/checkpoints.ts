/** Signs a checkpoint of the log at an interval and at the end, if there is something new to cover. */

import type { Stoppable } from '../async/stoppable.ts';
import { withTimeout } from '../async/with-timeout.ts';
import { errorReason } from '../errors/error-message.ts';
import type { CheckpointSigner } from '../log/checkpoint-signer.ts';
import type { Logger } from '../observe/log.ts';
import { startBackgroundLoop } from './background-loop.ts';

/** Longest that a stop waits for its checkpoint: this node signs at most once a second. */
const LAST_MS = 2_000;

interface Dependencies {
  readonly logger: Logger;
  readonly signer: Pick<CheckpointSigner, 'signNews'>;
}

export function startCheckpoints({ logger, signer }: Dependencies, seconds: number): Stoppable {
  const everyMs = seconds * 1000;
  return startBackgroundLoop('checkpoints', () => signer.signNews(), logger, { everyMs });
}

/** Signs what no checkpoint covers at a stop: the next start could not tell whether it is still there. Never rejects. */
export async function signNewest({ logger, signer }: Dependencies): Promise<void> {
  try {
    await withTimeout(LAST_MS, signer.signNews());
  } catch (error) {
    const reason = errorReason(error);
    logger.warn({ reason }, 'the newest events are in no checkpoint: the next start signs one');
  }
}
