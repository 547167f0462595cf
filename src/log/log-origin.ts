import { randomBytes } from 'node:crypto';
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { ActorSystem } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { BlobStore } from '../documents/port.ts';
import { LOG_ID, type LogState, logAggregate } from '../domain/log.ts';
import type { EventStore } from '../event-store/port.ts';
import type { ReadModel } from '../read-model/database.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import type { Clock } from '../time/clock.ts';

export interface OpenedLog extends LogState {
  /** Tells this log from all others, whatever it is called later. */
  readonly openedAs: string;
  /** The name under which this deployment signs checkpoints, tokens and links. */
  readonly origin: string;
}

/** The log of a process: what it stores, what decides on it, and what was read of it. */
export interface Log {
  readonly store: EventStore;
  readonly actors: ActorSystem;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
  readonly clock: Clock;
}

/** The documents of conversions, and the keys that open them. */
export interface Documents {
  readonly blobs: BlobStore;
  readonly vault: Vault;
}

type Decides = Pick<Log, 'actors' | 'clock'>;

/**
 * The log, which is named where it has no name; of nodes that start at the same time, one stores its own
 * and the others take that.
 * @param name the name that the operator has chosen
 * @param keyring the id of this node's keyring, which a log that is opened here is bound to
 * @throws {Error} one line: the log has signed checkpoints under another name
 * @throws {EventStoreUnavailable}
 */
export async function openLog(deps: Decides, name?: string, keyring?: string): Promise<OpenedLog> {
  const { state } = await deps.actors.read(logAggregate, LOG_ID);
  if (isOpened(state) && (name === undefined || name === state.origin)) return state;
  const origin = randomOrigin();
  const command = {
    type: 'OpenLog',
    origin,
    ...(keyring !== undefined && { keyring }),
    ...(name !== undefined && { name }),
  } as const;
  const context = firstCommand(deps.clock.now(), { kind: 'service' });
  const outcome = await deps.actors.send(logAggregate, LOG_ID, command, context);
  if (outcome.accepted && isOpened(outcome.state)) return outcome.state;
  if (name !== undefined && state.formerOrigins.includes(name)) {
    throw new Error(
      `LOG_ORIGIN is ${name}, which this log was before it was restored from a backup: choose another name, or ` +
        `take LOG_ORIGIN back, and it stays ${state.origin}.`,
    );
  }
  throw new Error(
    `LOG_ORIGIN is ${name}, but this log has signed checkpoints as ${state.origin} and keeps that name: ` +
      'take LOG_ORIGIN back.',
  );
}

/**
 * Renames a restored log, so that one name never signs two histories.
 * @param checkpoint the newest one of the old name that is known, as it was signed
 */
export async function continueLog(
  { actors, clock }: Decides,
  formerOrigin: string,
  checkpoint?: string,
): Promise<string> {
  const at = clock.now();
  const origin = randomOrigin();
  const command = {
    type: 'ContinueLog',
    origin,
    formerOrigin,
    ...(checkpoint !== undefined && { checkpoint }),
    at,
  } as const;
  const context = firstCommand(at, { kind: 'operator' });
  const { state } = orThrow(await actors.send(logAggregate, LOG_ID, command, context));
  return state.origin ?? origin;
}

const randomOrigin = (): string => `pressledger/${randomBytes(8).toString('hex')}`;

const isOpened = (state: LogState): state is OpenedLog => state.origin !== undefined;

/** A keyring as far as it says whose it is. */
export interface BoundKeyring {
  /** Its place, as its operator knows it. */
  readonly place: string;
  /** Its own name, made with it. */
  id(): Promise<string>;
  /** Binds it to the log of this name, unless it is bound. @returns the log that it is bound to */
  bindTo(log: string): Promise<string>;
}

/**
 * Keeps log and keyring together: each names the other. A node with another keyring would accept what nobody
 * else can read.
 * @param options `create`: opens a log that is empty
 * @returns the log; undefined if it is empty, and stays so
 * @throws {Error} one line: this keyring is not the log's, or it is not a log
 * @throws {EventStoreUnavailable} @throws {KeyringUnavailable}
 */
export async function checkKeyring(
  deps: Decides & Pick<Log, 'store'>,
  keyring: BoundKeyring,
  { create }: { readonly create: boolean },
): Promise<OpenedLog | undefined> {
  const id = await keyring.id();
  // The head first: where another node opens the log meanwhile, the state has it.
  const isEmpty = (await deps.store.head()) === 0n;
  const { state: found } = await deps.actors.read(logAggregate, LOG_ID);
  if (!isEmpty && !isOpened(found)) {
    throw new Error(
      'The event log has events and does not begin with LogOpened, and nothing was changed: it was put back empty while ' +
        'a service ran on it, or others write to it. Restore the log from its backup, or set EVENT_STORE_URL to it.',
    );
  }
  const state = create && isEmpty ? await openLog(deps, undefined, id) : found;
  if (!isOpened(state)) return undefined;
  const isOurs = state.keyring === undefined || state.keyring === id;
  const owner = isOurs ? await keyring.bindTo(state.openedAs) : undefined;
  if (owner === state.openedAs) return state;
  throw new Error(
    `The keyring in ${keyring.place} is not the one of the event log ${state.openedAs}` +
      `${owner === undefined ? '' : `, but of ${owner}`}, and nothing was changed: set DATA_DIR, BLOB_STORE_URL ` +
      'and EVENT_STORE_URL as they are on the other nodes, or restore the keyring of this log from its backup.',
  );
}
