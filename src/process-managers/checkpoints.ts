/** Signs a checkpoint of the log at an interval, if there is something new to cover. */

import type { Stoppable } from '../async/stoppable.ts';
import type { CheckpointSigner } from '../log/checkpoint-signer.ts';
import type { Logger } from '../observe/log.ts';
import { startBackgroundLoop } from './background-loop.ts';

export function startCheckpoints(
  { logger, signer }: { readonly logger: Logger; readonly signer: CheckpointSigner },
  seconds: number,
): Stoppable {
  const loop = startBackgroundLoop('checkpoints', () => signer.signNews(), logger);
  const timer = setInterval(() => loop.wake(), seconds * 1000);
  return {
    stop: async () => {
      clearInterval(timer);
      await loop.stop();
    },
  };
}
