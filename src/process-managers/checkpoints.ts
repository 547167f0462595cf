/** Signs a checkpoint of the log at an interval, if there is something new to cover. */

import type { Stoppable } from '../async/stoppable.ts';
import type { CheckpointSigner } from '../log/checkpoint-signer.ts';
import type { Logger } from '../observe/log.ts';
import { startBackgroundLoop } from './background-loop.ts';

export function startCheckpoints(
  { logger, signer }: { readonly logger: Logger; readonly signer: CheckpointSigner },
  seconds: number,
): Stoppable {
  const everyMs = seconds * 1000;
  return startBackgroundLoop('checkpoints', () => signer.signNews(), logger, { everyMs });
}
