import { once } from 'node:events';

/** Resolves when the process is asked to stop: SIGTERM from a supervisor, SIGINT from a terminal. */
export async function stopAsked(): Promise<void> {
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
}
