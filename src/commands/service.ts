/** The service that the command line is a client of: its address, the key there, and the file that keeps both. */
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PressledgerClient } from '../../client/src/client.ts';
import { isPressledgerError, PressledgerUnreachable } from '../../client/src/errors.ts';
import { addressOf } from '../../client/src/options.ts';
import {
  type Cell,
  type CommandContext,
  type Invocation,
  secretFromInput,
  textOption,
  UsageError,
  wholeNumber,
} from './command.ts';
import { SERVICE_OPTIONS } from './options.ts';

export type {
  ConversionOptions,
  PrintOptions,
} from '../../client/src/conversion-options.ts';
export type {
  DocumentOptions,
  DocumentSource,
  DocumentStep,
} from '../../client/src/documents.ts';
export type {
  ApiKey,
  Conversion,
  EndedConversion,
  NewApiKey,
  ProvenEvent,
} from '../../client/src/types.ts';
export { isPressledgerError, PressledgerClient, PressledgerUnreachable };

/** The content of the file that `pressledger login` writes. */
export interface Login {
  readonly server: string;
  readonly api_key: string;
  /** The id of a key that the sign-in has made, which `pressledger logout` revokes. */
  readonly key_id?: string;
}

export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_at: string;
}

export interface Service {
  readonly server: string;
  readonly client: PressledgerClient;
  /** The rate limit after the last answer, where that named one. */
  readonly rateLimit: () => RateLimit | undefined;
}

/** @throws {Error} it cannot be read, or other users of the machine can read it */
export async function readLogin(file: string): Promise<Login | undefined> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats) return undefined;
  if ((stats.mode & 0o077) !== 0) {
    throw new Error(`${file} holds an API key and is open to other users: chmod 600 it.`);
  }
  try {
    const { server, api_key, key_id } = JSON.parse(await readFile(file, 'utf8')) as Partial<Login>;
    if (server === undefined || api_key === undefined) throw new Error('a field is missing');
    return { server, api_key, ...(key_id === undefined ? {} : { key_id }) };
  } catch (error) {
    throw new Error(`${file} cannot be used: sign in again with 'pressledger login'`, {
      cause: error,
    });
  }
}

/** Keeps a sign-in for this user alone. */
export async function writeLogin(file: string, login: Login): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}.part`;
  await writeFile(partial, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
  await rename(partial, file);
}

/** Revokes the key that a sign-in has made, if it has made one. */
export async function revokeKeyOf({ server, api_key, key_id }: Login): Promise<void> {
  if (key_id === undefined) return;
  try {
    await new PressledgerClient({ server, apiKey: api_key }).revokeKey(key_id);
  } catch (error) {
    // Somebody has revoked it already.
    if (!isPressledgerError(error, 'unauthorized')) throw error;
  }
}

/** @throws {UsageError} it is not the address of a service */
export function serverAddress(server: string): string {
  try {
    return addressOf(server);
  } catch {
    throw new UsageError('A server is an http or https address such as http://localhost:8080.');
  }
}

function clientOf(server: string, apiKey: string): Service {
  let headers = new Headers();
  const client = new PressledgerClient({
    server,
    apiKey,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      headers = response.headers;
      return response;
    },
  });
  return {
    server,
    client,
    rateLimit: () => {
      const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) =>
        headers.get(`X-RateLimit-${name}`),
      );
      if (!limit || !remaining || !reset) return undefined;
      return {
        limit: Number(limit),
        remaining: Number(remaining),
        reset_at: new Date(Number(reset) * 1000).toISOString(),
      };
    },
  };
}

/**
 * The service that options, environment or sign-in name; undefined where none of them does.
 * @throws {UsageError} it is not the address of a service, or the key is missing or given twice
 */
export async function findService(
  invocation: Invocation,
  { client: { server: named, apiKey: inEnvironment, loginFile } }: CommandContext,
): Promise<Service | undefined> {
  const key = textOption(invocation, 'api-key');
  const keyFromInput = invocation.values['api-key-stdin'] === true;
  if (key !== undefined && keyFromInput) {
    throw new UsageError('--api-key and --api-key-stdin are two ways to give one key: choose one.');
  }
  const asked = textOption(invocation, 'server') ?? named;
  const isComplete = asked !== undefined && (keyFromInput || (key ?? inEnvironment) !== undefined);
  const login = isComplete ? undefined : await readLogin(loginFile);
  const server = asked ?? login?.server;
  if (server === undefined) {
    if (key === undefined && !keyFromInput) return undefined;
    throw new UsageError('A key is for a service: give --server too, or set PRESSLEDGER_SERVER.');
  }
  const address = serverAddress(server);
  // A key is for the service that has issued it, and for no other.
  const isKept = login && new URL(login.server).origin === new URL(address).origin;
  const apiKey =
    key ??
    (keyFromInput ? await secretFromInput() : undefined) ??
    inEnvironment ??
    (isKept ? login.api_key : undefined);
  if (apiKey === undefined || apiKey === '') {
    throw new UsageError(
      `There is no key for ${address}: sign in with 'pressledger login', set PRESSLEDGER_API_KEY, or pipe the key in with --api-key-stdin.`,
    );
  }
  return clientOf(address, apiKey);
}

/** @throws {UsageError} no service is named, or the key is missing or given twice */
export async function serviceOf(invocation: Invocation, context: CommandContext): Promise<Service> {
  const service = await findService(invocation, context);
  if (service) return service;
  throw new UsageError(
    "No service is named: sign in with 'pressledger login', or set PRESSLEDGER_SERVER and PRESSLEDGER_API_KEY.",
  );
}

const UNUSED_KEY =
  'The API key of the environment is not used, because no service is named: give --server, or set ' +
  'PRESSLEDGER_SERVER, to use it there.';

/**
 * The same where `--account` says that the store of the settings is meant, whatever environment and sign-in
 * say.
 * @throws {UsageError}
 */
export async function findServiceUnlessAccount(
  invocation: Invocation,
  context: CommandContext,
): Promise<Service | undefined> {
  if (textOption(invocation, 'account') === undefined) {
    const service = await findService(invocation, context);
    if (!service && context.client.apiKey !== undefined) context.output.note(UNUSED_KEY);
    return service;
  }
  const given = Object.keys(SERVICE_OPTIONS).find((name) => invocation.values[name] !== undefined);
  if (given === undefined) return undefined;
  throw new UsageError(`--account is for the store of the settings, not for --${given}.`);
}

export function limitOf(invocation: Invocation): number {
  return wholeNumber(textOption(invocation, 'limit') ?? '20', '--limit', 1, 100_000);
}

/** The first items of a list, in as few requests as it takes. */
export async function take<T>(
  limit: number,
  list: (query: { readonly pageSize: number }) => AsyncIterable<T>,
): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const item of list({ pageSize: Math.min(limit, 100) })) {
    items.push(item);
    if (items.length === limit) break;
  }
  return items;
}

const BUSY_SECONDS = 2;

export interface Patience {
  readonly statuses: readonly number[];
  /** Milliseconds for which a service that does not answer is asked again. */
  readonly lostMs?: number;
  readonly signal?: AbortSignal;
}

/** Asks again, as long as the service answers with one of the statuses, after the time that it says. */
export async function whenFree<T>(
  work: () => Promise<T>,
  { statuses, lostMs = 0, signal }: Patience,
): Promise<T> {
  let lostAt: number | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof PressledgerUnreachable) {
        lostAt ??= performance.now();
        if (performance.now() >= lostAt + lostMs) throw error;
      } else if (!isPressledgerError(error) || !statuses.includes(error.status)) throw error;
      else lostAt = undefined;
      const seconds = isPressledgerError(error) ? error.retryAfter : undefined;
      await pause(1000 * (seconds ?? BUSY_SECONDS), undefined, { signal });
    }
  }
}

/** A time of the API as a cell of a table. */
export const dateOf = (time: string | null | undefined): Date | undefined =>
  typeof time === 'string' ? new Date(time) : undefined;

/** The fields of a record for people to read, a row for each tag. */
export const recordRows = (record: object): (readonly Cell[])[] =>
  Object.entries(record).flatMap(([name, value]: [string, unknown]): (readonly Cell[])[] => {
    if (name === 'tags') {
      return Object.entries(value ?? {}).map(([tag, text]) => ['tag', `${tag}: ${String(text)}`]);
    }
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [[name, name.endsWith('_at') ? dateOf(text) : text]];
  });
