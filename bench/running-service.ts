/** A service in a directory of a benchmark, without the limits that would slow its clients down. */
import { PressledgerClient } from '../client/src/client.ts';
import { cliJson } from '../test/support/cli.ts';
import { LAUNCHER, type Place, placeIn } from '../test/support/place.ts';
import { RendererProcess, Service } from '../test/support/service.ts';
import { isAddress } from './documents.ts';

const MANY = '1000000';

export interface RunningService {
  /** Its process, whose children are the Chromes. */
  readonly pid: number;
  /** Its origin. */
  readonly server: string;
  /** The first account's, as is the client. */
  readonly apiKey: string;
  readonly client: PressledgerClient;
  /** A key of a new account, with many credits. */
  accountKey(name: string, plan?: 'free' | 'starter' | 'pro'): Promise<string>;
  /** A client of a new account. */
  account(name: string): Promise<PressledgerClient>;
  /** Its lines since it started, from warnings on unless LOG_LEVEL says otherwise. */
  readonly log: () => string;
  stop(): Promise<unknown>;
}

/** The place of a process of the service that has its data in the directory. */
export const benchPlace = (directory: string, settings: Readonly<Record<string, string>>): Place =>
  placeIn(directory, {
    RATE_LIMIT_FREE: MANY,
    RATE_LIMIT_PRO: MANY,
    FREE_CREDITS: MANY,
    LOG_LEVEL: 'warn',
    ...settings,
  });

/**
 * @param role `api` needs renderers beside it
 * @param knownKey the first account's, where the store is not new
 */
export async function startService(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
  role: 'start' | 'api' = 'start',
  knownKey?: string,
): Promise<RunningService> {
  const place = benchPlace(directory, settings);
  const service = new Service(place, [LAUNCHER, role]);
  await service.start();
  const { url: server, pid } = service;
  const apiKey = knownKey ?? service.firstStart.apiKey;
  const accountKey: RunningService['accountKey'] = async (name, plan = 'free') => {
    const email = `${name}@example.com`;
    const account = ['account', 'create', '--email', email, '--credits', MANY, '--plan', plan];
    await cliJson(place, account);
    const made = await cliJson(place, ['account', 'create-key', email, '--name', 'bench']);
    return (made as { readonly key: string }).key;
  };
  return {
    pid,
    server,
    apiKey,
    client: new PressledgerClient({ server, apiKey }),
    accountKey,
    account: async (name) => new PressledgerClient({ server, apiKey: await accountKey(name) }),
    log: () => service.output.stderr,
    stop: () => service.stop(),
  };
}

export async function startRenderer(
  directory: string,
  settings: Readonly<Record<string, string>>,
): Promise<Pick<RunningService, 'pid' | 'stop'>> {
  const renderer = new RendererProcess(benchPlace(directory, settings));
  await renderer.start();
  return { pid: renderer.pid, stop: () => renderer.stop() };
}

/** @returns the id of the conversion that was accepted */
export async function create(client: PressledgerClient, document: string): Promise<string> {
  const { id } = await client.create(isAddress(document) ? { url: document } : { html: document });
  return id;
}

/** Resolves when the PDF is there to be fetched. @throws {Error} when there is none */
export async function untilCompleted(client: PressledgerClient, id: string): Promise<void> {
  const { status, error_message: message } = await client.wait(id);
  if (status !== 'completed') throw new Error(`${id} is ${status}: ${message ?? ''}`);
}

export async function convert(client: PressledgerClient, document: string): Promise<void> {
  await untilCompleted(client, await create(client, document));
}

/** Posts as a client with many documents does: so many at once, each as soon as one has ended. */
export async function convertAll(
  clients: readonly PressledgerClient[],
  documents: readonly string[],
  atOnce: number,
): Promise<void> {
  const queue = documents.entries();
  const work = async (): Promise<void> => {
    for (const [index, document] of queue) {
      const client = clients[index % clients.length];
      if (client) await convert(client, document);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
