/** Signs a checkpoint of the log at an interval, if there is something new to cover. */
import type { Logger } from '../log.ts';
import type { Stoppable } from '../stoppable.ts';
import type { CheckpointSigner } from '../use-cases/checkpoint-signer.ts';
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
