import type { Stoppable } from '../async/stoppable.ts';
import type { Logger } from '../observe/log.ts';

export interface BackgroundLoop extends Stoppable {
  /** Asks for another run: at once, or after the one under way. */
  wake(): void;
  /** Asks the run under way to leave the rest, and resolves when it has ended; none follows. */
  stop(): Promise<void>;
}

const RETRY_MS = 1000;

/**
 * Runs `step` whenever woken, never twice at a time. A step that fails is logged and tried again
 * after a second: what it works from is in the log, so nothing is lost by waiting.
 * @param step looks at the signal between one thing and the next: a stop must not wait for a backlog
 */
export function startBackgroundLoop(
  name: string,
  step: (stopping: AbortSignal) => Promise<void>,
  logger: Logger,
): BackgroundLoop {
  let woken = false;
  let running = false;
  const stopping = new AbortController();
  let current = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    running = true;
    try {
      while (woken) {
        woken = false;
        await step(stopping.signal);
      }
    } catch (error) {
      if (stopping.signal.aborted) return;
      logger.error({ err: error, processManager: name }, 'a step failed and will be tried again');
      retry = setTimeout(wake, RETRY_MS);
    } finally {
      running = false;
    }
  };
  function wake(): void {
    if (stopping.signal.aborted) return;
    woken = true;
    if (running) return;
    clearTimeout(retry);
    current = run();
  }

  wake();
  return {
    wake,
    stop: async () => {
      stopping.abort();
      woken = false;
      clearTimeout(retry);
      await current;
    },
  };
}
