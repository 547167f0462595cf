import type { Stoppable } from '../async/stoppable.ts';
import type { EventType } from '../domain/events.ts';
import { LogDiffers } from '../event-store/port.ts';
import type { Logger } from '../observe/log.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';

export interface BackgroundLoop extends Stoppable {
  /** Asks for another run: at once, or after the one under way. */
  wake(): void;
  /** Asks the run under way to leave the rest, and resolves when it has ended; none follows. */
  stop(): Promise<void>;
}

/** What wakes a loop beside its own `wake`. */
export interface Wakes {
  /** The pause between two runs of a timer, in milliseconds. */
  readonly everyMs?: number;
  /** The events that wake it, once the read model holds them. */
  readonly after?: {
    readonly runner: Pick<ProjectionRunner, 'onCommit'>;
    readonly types: readonly EventType[];
  };
  /** Milliseconds from the first of these events to the run that is for all of them; 0 unless given. */
  readonly delayMs?: number;
}

const RETRY_MS = 1000;

/**
 * Runs `step` at once and whenever woken, never twice at a time. A step that fails is logged and tried again
 * after a second: what it works from is in the log, so nothing is lost by waiting.
 * @param step looks at the signal between one thing and the next: a stop must not wait for a backlog
 */
export function startBackgroundLoop(
  name: string,
  step: (stopping: AbortSignal) => Promise<void>,
  logger: Logger,
  { everyMs, after, delayMs = 0 }: Wakes = {},
): BackgroundLoop {
  let woken = false;
  let running = false;
  const stopping = new AbortController();
  let current = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;
  let delayed: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    running = true;
    try {
      while (woken) {
        woken = false;
        await step(stopping.signal);
      }
    } catch (error) {
      // Its line is logged by who stops the service.
      if (stopping.signal.aborted || error instanceof LogDiffers) return;
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
  const hear = (): void => {
    if (delayMs === 0) return wake();
    delayed ??= setTimeout(() => {
      delayed = undefined;
      wake();
    }, delayMs);
  };

  const unsubscribe = after?.runner.onCommit(hear, after.types);
  const timer = everyMs === undefined ? undefined : setInterval(wake, everyMs);
  wake();
  return {
    wake,
    stop: async () => {
      stopping.abort();
      unsubscribe?.();
      woken = false;
      for (const each of [timer, retry, delayed]) clearTimeout(each);
      await current;
    },
  };
}
