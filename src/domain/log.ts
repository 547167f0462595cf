/**
 * The log itself: its name, so that what one deployment signs is good for no other, the keys that sign its
 * checkpoints, and the newest of these.
 */
import type { AggregateType, Decider, Rejection } from './decider.ts';
import type { EventOf, EventType } from './events.ts';

/** There is one. Its name must not be the beginning of streams that others keep on the same server. */
const LOG_STREAM = 'pressledger-log';
/** There is one log to a store. */
export const LOG_ID = '';

/** Events about checkpoints. They alone do not cause another checkpoint. */
export const CHECKPOINT_EVENTS = [
  'CheckpointSigned',
  'CheckpointCosigned',
  'CheckpointTimestamped',
] as const satisfies readonly EventType[];

export type LogEvent = EventOf<
  | 'LogOpened'
  | 'LogRenamed'
  | 'LogContinued'
  | 'SigningKeyAdded'
  | 'MailSwitched'
  | (typeof CHECKPOINT_EVENTS)[number]
>;

export const KEYS_IN_FORCE = 2;
/** Checkpoints that a late witness or timestamp may still be recorded for. */
const KEPT_CHECKPOINTS = 16;

export interface SigningKey {
  readonly generation: number;
  readonly verifierKey: string;
}

interface Checkpoint {
  readonly size: number;
  readonly root: string;
  /** Names of the witnesses that have cosigned it. */
  readonly witnesses: readonly string[];
  readonly isTimestamped: boolean;
}

export interface LogState {
  /** The name that it got at its first start, and keeps: absent before that. */
  readonly openedAs: string | undefined;
  /** The id of the keyring that it was begun with; absent where that was not recorded. */
  readonly keyring: string | undefined;
  /** The name in checkpoints, tokens and links. */
  readonly origin: string | undefined;
  /** Names that a checkpoint may have been signed under that is not of this history. They are never taken again. */
  readonly formerOrigins: readonly string[];
  /** The generation of the newest key that there ever was; 0 if there was none. */
  readonly generation: number;
  /** The keys in force, the newest last. */
  readonly keys: readonly SigningKey[];
  /** The newest key has signed a checkpoint. */
  readonly isKeyUsed: boolean;
  /** The newest last. */
  readonly checkpoints: readonly Checkpoint[];
  /** The service sends mail. */
  readonly sendsMail: boolean;
}

export type LogCommand =
  | {
      readonly type: 'OpenLog';
      /** A random one, taken where the log has none. */
      readonly origin: string;
      /** The id of this node's keyring, taken where the log is opened. */
      readonly keyring?: string;
      /** The name that the operator has chosen. */
      readonly name?: string;
    }
  | {
      /** Goes on after a restore that left signed events behind. Safe to repeat. */
      readonly type: 'ContinueLog';
      /** A random one. */
      readonly origin: string;
      readonly formerOrigin: string;
      readonly checkpoint?: string;
      readonly at: number;
    }
  | ({ readonly type: 'AddSigningKey'; readonly at: number } & SigningKey)
  | {
      readonly type: 'SignCheckpoint';
      readonly origin: string;
      readonly size: number;
      readonly root: string;
      readonly note: string;
      /** The newest key that has signed it. */
      readonly generation: number;
      readonly at: number;
    }
  | {
      readonly type: 'RecordCosignatures';
      readonly size: number;
      readonly signatures: readonly string[];
      readonly at: number;
    }
  | {
      readonly type: 'RecordTimestamp';
      readonly size: number;
      readonly token: string;
      readonly at: number;
    }
  | { readonly type: 'SwitchMail'; readonly on: boolean; readonly at: number };

/** The name in a signature line. */
const signerOf = (line: string): string => line.split(' ')[1] ?? '';

function changeCheckpoint(
  state: LogState,
  size: number,
  change: (checkpoint: Checkpoint) => Partial<Checkpoint>,
): LogState {
  const checkpoints = state.checkpoints.map((each) =>
    each.size === size ? { ...each, ...change(each) } : each,
  );
  return { ...state, checkpoints };
}

export const log: Decider<LogState, LogCommand, LogEvent> = {
  initialState: {
    openedAs: undefined,
    keyring: undefined,
    origin: undefined,
    formerOrigins: [],
    generation: 0,
    keys: [],
    isKeyUsed: false,
    checkpoints: [],
    sendsMail: false,
  },

  evolve(state, { type, data }) {
    switch (type) {
      case 'LogOpened':
        return { ...state, openedAs: data.origin, keyring: data.keyring, origin: data.origin };
      case 'LogRenamed':
        return { ...state, origin: data.origin, keys: [] };
      case 'LogContinued': {
        const formerOrigins = [...state.formerOrigins, data.formerOrigin];
        return { ...state, origin: data.origin, formerOrigins, keys: [], checkpoints: [] };
      }
      case 'SigningKeyAdded': {
        const { generation, verifierKey } = data;
        const keys = [...state.keys, { generation, verifierKey }].slice(-KEYS_IN_FORCE);
        return { ...state, generation, keys, isKeyUsed: false };
      }
      case 'CheckpointSigned': {
        const { size, root } = data;
        const checkpoint = { size, root, witnesses: [], isTimestamped: false };
        const checkpoints = [...state.checkpoints, checkpoint].slice(-KEPT_CHECKPOINTS);
        return { ...state, checkpoints, isKeyUsed: true };
      }
      case 'CheckpointCosigned':
        return changeCheckpoint(state, data.size, ({ witnesses }) => ({
          witnesses: [...witnesses, ...data.signatures.map(signerOf)],
        }));
      case 'CheckpointTimestamped':
        return changeCheckpoint(state, data.size, () => ({ isTimestamped: true }));
      case 'MailSwitched':
        return { ...state, sendsMail: data.on };
    }
  },

  decide(command, state) {
    switch (command.type) {
      case 'OpenLog': {
        const { origin, keyring, name } = command;
        const data = { origin, ...(keyring !== undefined && { keyring }) };
        const opened: LogEvent[] = state.origin === undefined ? [{ type: 'LogOpened', data }] : [];
        if (name === undefined || name === (state.origin ?? origin)) return opened;
        if (state.formerOrigins.includes(name)) {
          return {
            rejected: 'validation_error',
            message: `The log was ${name} before it was restored, and never takes that name again.`,
          };
        }
        if (state.checkpoints.length > 0) {
          return {
            rejected: 'validation_error',
            message: `The log has signed checkpoints as ${state.origin}, and keeps that name.`,
          };
        }
        return [...opened, { type: 'LogRenamed', data: { origin: name } }];
      }
      case 'ContinueLog': {
        const { type: _, ...data } = command;
        if (state.formerOrigins.includes(data.formerOrigin)) return [];
        return [{ type: 'LogContinued', data }];
      }
      case 'AddSigningKey': {
        const { generation, verifierKey, at } = command;
        // Another node has just added one.
        if (generation !== state.generation + 1) return [];
        // Else a checkpoint could be in use that no key in force has signed.
        if (state.keys.length > 0 && !state.isKeyUsed) {
          return {
            rejected: 'service_unavailable',
            message: 'The newest key has signed nothing yet.',
          };
        }
        return [{ type: 'SigningKeyAdded', data: { generation, verifierKey, addedAt: at } }];
      }
      case 'SignCheckpoint': {
        const { origin, size, root, note, generation, at } = command;
        if (origin !== state.origin || generation !== state.keys.at(-1)?.generation) {
          return { rejected: 'service_unavailable', message: 'The log has another name or key.' };
        }
        if (size <= (state.checkpoints.at(-1)?.size ?? 0)) {
          return { rejected: 'service_unavailable', message: 'A later checkpoint is signed.' };
        }
        return [{ type: 'CheckpointSigned', data: { size, root, note, signedAt: at } }];
      }
      case 'RecordCosignatures': {
        const { size, at } = command;
        const checkpoint = state.checkpoints.find((each) => each.size === size);
        if (checkpoint === undefined) return unknownCheckpoint(size);
        const signatures = command.signatures.filter(
          (line) => !checkpoint.witnesses.includes(signerOf(line)),
        );
        if (signatures.length === 0) return [];
        return [{ type: 'CheckpointCosigned', data: { size, signatures, at } }];
      }
      case 'RecordTimestamp': {
        const { size, token, at } = command;
        const checkpoint = state.checkpoints.find((each) => each.size === size);
        if (checkpoint === undefined) return unknownCheckpoint(size);
        if (checkpoint.isTimestamped) return [];
        return [{ type: 'CheckpointTimestamped', data: { size, token, at } }];
      }
      case 'SwitchMail': {
        const { on, at } = command;
        return on === state.sendsMail ? [] : [{ type: 'MailSwitched', data: { on, at } }];
      }
    }
  },
};

function unknownCheckpoint(size: number): Rejection {
  return { rejected: 'not_found', message: `No recent checkpoint covers ${size} events.` };
}

export const logAggregate: AggregateType<LogState, LogCommand, LogEvent> = {
  name: 'log',
  stream: () => LOG_STREAM,
  decider: log,
  snapshot: {
    version: 5,
    encode: (state) => state,
    decode: (json) => json as LogState,
  },
};
