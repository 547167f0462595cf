import type { Logger } from '../log.ts';

export interface WakefulLoop {
  /** Asks for another run: at once, or after the one under way. */
  wake(): void;
  /** Resolves when the run under way has ended; none follows. */
  stop(): Promise<void>;
}

const RETRY_MS = 1000;

/**
 * Runs `step` whenever woken, never twice at a time. A step that fails is logged and tried again
 * after a second: what it works from is in the log, so nothing is lost by waiting.
 */
export function startWakefulLoop(
  name: string,
  step: () => Promise<void>,
  logger: Logger,
): WakefulLoop {
  let woken = true;
  let stopped = false;
  let running: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    while (woken && !stopped) {
      woken = false;
      try {
        await step();
      } catch (error) {
        if (stopped) return;
        logger.error({ err: error, processManager: name }, 'a step failed and will be tried again');
        retry = setTimeout(wake, RETRY_MS);
        return;
      }
    }
  };
  function wake(): void {
    woken = true;
    if (stopped || running) return;
    clearTimeout(retry);
    running = run().finally(() => {
      running = undefined;
    });
  }

  wake();
  return {
    wake,
    stop: async () => {
      stopped = true;
      clearTimeout(retry);
      await running;
    },
  };
}
