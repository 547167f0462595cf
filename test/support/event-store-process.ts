/** The event store server as a process that a test may kill: EVENTSTORE_TEST_COMMAND runs it at EVENTSTORE_TEST_URL. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { eventually } from './deadline.ts';
import { emptyLogUrl, openEventStoreServer } from './event-store-server.ts';

/** A server reads its files first. */
const READY_WITHIN_MS = 120_000;

const command = process.env['EVENTSTORE_TEST_COMMAND'];

/** The reason why the server cannot be killed, if there is one. */
export const noEventStoreCommand: string | false =
  command === undefined || command === ''
    ? 'EVENTSTORE_TEST_COMMAND starts no event store server'
    : false;

export class EventStoreProcess {
  #child: ChildProcess | undefined;

  /** Resolves when it answers. @throws {Error} it has ended, or does not answer */
  async start(): Promise<void> {
    // The server takes every variable of this beginning for an option of its own, and ends.
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('EVENTSTORE_'));
    const env = Object.fromEntries(kept);
    const child = spawn('sh', ['-c', `exec ${command}`], { stdio: 'ignore', env });
    this.#child = child;
    await eventually(
      'the event store server answers',
      async () => {
        if (child.exitCode !== null) throw new Error('The event store server has ended.');
        const store = await openEventStoreServer(emptyLogUrl()).catch(() => undefined);
        await store?.close();
        return store && true;
      },
      READY_WITHIN_MS,
    );
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

/** Nothing where the server is not the test's to start. */
export async function startEventStore(
  t: Pick<Test, 'teardown'>,
): Promise<EventStoreProcess | undefined> {
  if (noEventStoreCommand !== false) return undefined;
  const server = new EventStoreProcess();
  t.teardown(() => server.kill());
  await server.start();
  return server;
}
