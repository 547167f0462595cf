/** The interface of a command, and what several commands share. */
import { stat } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { BackupPlace } from '../archive/places/port.ts';
import type { ClientConfig } from '../client-config.ts';
import type { CopyableEventStore } from '../event-store/port.ts';
import type { Role } from '../setting.ts';
import type { Core } from '../core.ts';
import type { MoveParts } from '../archive/move.ts';
import type { KeyringSource } from '../archive/keyring-file.ts';
import type { KeyOpener } from '../archive/verify-keyring.ts';
import type { RestoreTarget } from '../archive/restore.ts';
import type { ReadModelOptions } from '../read-model/database.ts';
import type { Stoppable } from '../stoppable.ts';
import type { FirstAccount } from '../use-cases/accounts.ts';
import type { BackupTimes, ServiceStatus } from '../use-cases/service-status.ts';
import type { StoredLog } from '../use-cases/verify-log.ts';
import type { OperatorApi } from './operator-api.ts';

/** The composition root's part of a command. Settings are read when the first member needs them. */
export interface CommandContext {
  /** Opens the store of the settings, and closes it when `use` has ended. */
  readonly withCore: (use: (core: Core) => Promise<void>) => Promise<void>;
  /**
   * Asks the service that runs on the store of the settings, or opens that store, with an operator's rights.
   * @param options `renders`: what no service renders is rendered here; `orTemporary`: opens an empty store that is deleted
   * afterwards, where no store is named and none is found; `hurry`: aborted when nothing under way is to be waited for
   */
  readonly withOperator: (
    use: (api: OperatorApi, isTemporary: boolean) => Promise<void>,
    options?: {
      readonly renders?: boolean;
      readonly orTemporary?: boolean;
      readonly hurry?: AbortSignal;
    },
  ) => Promise<void>;
  /**
   * Opens the log of the settings for reading alone, and closes it when `use` has ended.
   * @param options `documents`: with the blob store
   */
  readonly withStoredLog: (
    use: (log: OpenedStoredLog) => Promise<void>,
    options?: { readonly documents: boolean },
  ) => Promise<void>;
  /** Opens the event store of the settings alone, also one that no service may start on, and closes it. */
  readonly withEventStore: (use: (store: CopyableEventStore) => Promise<void>) => Promise<void>;
  /** Looks at the service of the settings, as often as it is asked to; changes nothing. */
  readonly withStatus: (
    use: (look: () => Promise<ServiceStatus>) => Promise<void>,
  ) => Promise<void>;
  /** Checks what a process of the role needs, and the machine; changes nothing. */
  readonly examine: (role: Role) => Promise<readonly Examined[]>;
  /**
   * Opens the place of the settings and the one that a move goes to, and closes both.
   * @param settings those that are others there, by their names; an empty one is not set
   * @param options `ahead`: also while a service runs on the old place; `cancels`: to take the move back
   */
  readonly withMove: (
    settings: Readonly<Record<string, string>>,
    options: { readonly ahead: boolean; readonly cancels: boolean },
    use: (parts: MovePlaces) => Promise<void>,
  ) => Promise<void>;
  /**
   * Opens a place of backups, a folder or a bucket, and closes it.
   * @param options `write`: makes a folder where there is none
   */
  readonly withBackupPlace: (
    name: string,
    options: { readonly write: boolean },
    use: (place: BackupPlace) => Promise<void>,
  ) => Promise<void>;
  /** Opens the keyring of the settings for reading alone, and closes it. */
  readonly withKeyring: (use: (opened: OpenedKeyring) => Promise<void>) => Promise<void>;
  /** The master key of the settings, if any, to look whether keys open with it. */
  readonly keyOpener: () => KeyOpener | undefined;
  /**
   * Records in DATA_DIR when backups were made, for `status` and metrics.
   * @param log the one that it is a backup of, by its first name
   * @throws {Error} one line: it cannot be recorded there
   */
  readonly recordBackup: (times: BackupTimes, log: string | undefined) => Promise<void>;
  /** Opens the keyring of the settings for a change of its master key, with no service on it, and closes it. */
  readonly withKeyringChange: (use: (change: KeyringChange) => Promise<void>) => Promise<void>;
  /** The place of the settings that a restore fills. Nothing is made there before its stores are opened. */
  readonly restorePlace: () => RestorePlace;
  /** Puts a file in the place of another one as a whole; its owner alone may read it. */
  readonly writeSecret: (path: string, text: string) => Promise<void>;
  /** Starts the API, the process managers and the renderer in this process. */
  readonly startService: () => Promise<RunningService>;
  /** Starts the API and the process managers in this process. */
  readonly startApiNode: () => Promise<RunningService>;
  /** Starts a renderer node in this process. */
  readonly startRenderer: () => Promise<RunningRenderer>;
  /** The part of the environment that the command line reads as a client of a service. */
  readonly client: ClientConfig;
  /** The permissions of a file that is made for the user. */
  readonly outputMode: number;
  readonly output: Output;
}

/** The log as it is stored, and the place of the read models in use. Nothing of it is changed. */
export interface OpenedStoredLog extends StoredLog {
  /** An absolute path. */
  readonly dataDir: string;
  readonly store: CopyableEventStore;
  /** The place where the log goes on, where it was moved: this one is an old copy. */
  readonly movedTo: string | undefined;
  readonly readModel: ReadModelOptions;
  close(): Promise<void>;
}

export interface RunningService extends Stoppable {
  /** The origin where clients reach it, such as `https://pdf.example.com`. */
  readonly publicUrl: string;
  /** An absolute path. */
  readonly dataDir: string;
  /**
   * Resolves when it can accept and render, with the account that the first start has opened; rejects
   * when it never will.
   */
  readonly ready: Promise<FirstAccount | undefined>;
  /**
   * Resolves after a stop; rejects when the read models cannot go on. Accepting on, it would take
   * credits for conversions that nobody could see and nothing would render.
   */
  readonly ended: Promise<void>;
}

/** A renderer node that is ready. */
export interface RunningRenderer extends Stoppable {
  /** The origin where its /healthz and /readyz answer. */
  readonly healthUrl: string;
}

/** The result of a check. */
export interface Finding {
  readonly verdict: 'ok' | 'warning' | 'wrong';
  /** One line: what was found and, where that is not ok, how to mend it. */
  readonly text: string;
}

/** The result of the check of that name. */
export interface Examined extends Finding {
  readonly name: string;
}

export interface OpenedKeyring {
  readonly keyring: KeyringSource;
  /** Tells the master key of the keyring from others. */
  readonly masterKey: string;
  /** The file of the master key, where no setting names it. */
  readonly masterKeyFile?: string;
}

export interface KeyringChange {
  /** An absolute path. */
  readonly dataDir: string;
  /** The file that the new master key lies in, where no setting has it. */
  readonly masterKeyFile?: string;
  /** Can be killed and called again, with the same keys. @returns the number of data keys */
  readonly rewrap: (onKeys: (done: number, total: number) => void) => Promise<number>;
}

export interface RestorePlace {
  /** Tells the master key of the settings from others. */
  readonly masterKey: string;
  /** The checkpoint that this node signed or saw last, where it lies in DATA_DIR. */
  readonly lastCheckpoint?: string;
  /** Looks at the event store and changes nothing. @throws {Error} one line: it holds a log */
  readonly refuseUsed: () => Promise<void>;
  /** Opens the stores, and closes them when `use` has ended. */
  readonly withTarget: <T>(use: (target: RestoreTarget) => Promise<T>) => Promise<T>;
}

export interface MovePlaces extends MoveParts {
  /** The file of the master key that MASTER_KEY must be set to in the new place, where it was not set before. */
  readonly masterKeyFile?: string;
  /** A command for the user to copy that acts on the new place. */
  readonly commandThere: (...args: readonly string[]) => string;
}

/** A date is shown to the second on a terminal, as ISO 8601 elsewhere; in UTC on both. */
export type Cell = string | number | Date | null | undefined;

/** Standard output for answers, standard error for everything said on the way. */
export interface Output {
  /** One line of a human-readable answer; not printed with `--json`. */
  line(text: string): void;
  /**
   * The rows of an answer: in columns below their heads on a terminal, separated by tabs and without
   * heads elsewhere; not printed with `--json`.
   * @param ifNone the message on standard error where there is no row
   */
  table(heads: readonly string[], rows: readonly (readonly Cell[])[], ifNone?: string): void;
  /** The answer as data: the one JSON document on standard output with `--json`. */
  json(value: unknown): void;
  /** A message on standard error that stays. */
  note(text: string): void;
  /** Progress: rewritten in place on a terminal until something else is said, a line at a time elsewhere. */
  progress(text: string): void;
  /** The same for a wait, with the time that has passed. */
  waiting(text: string): void;
  readonly wantsJson: boolean;
}

export interface Command {
  /** The name as it is typed, for example `account create`. */
  readonly name: string;
  /** The arguments and required options, as the usage line names them. */
  readonly usage: string;
  readonly summary: string;
  /** The part of the help that lists it, as the registry sets it. */
  readonly section?: Section;
  /** It runs until it is stopped, and logs all that LOG_LEVEL asks for; others only what is wrong. */
  readonly role?: Role;
  /** It opens an empty store where there is none; others would then find nothing in it. */
  readonly createsStore?: true;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** The positional arguments by name, in their order, with what each is. */
  readonly positionals: Readonly<Record<string, string>>;
  /** The answer to more arguments than it takes: what to do instead. */
  readonly tooMany?: string;
  /** The number of positional arguments at the end that may be left out; none unless given. */
  readonly optionalPositionals?: number;
  /** The values of arguments that completion offers. */
  readonly argumentChoices?: readonly string[];
  /** Lines that work as they are, but for names. */
  readonly examples: readonly string[];
  run(invocation: Invocation, context: CommandContext): Promise<void>;
}

export interface Section {
  readonly heading: string;
  /** The origin of the commands' settings, at the end of their help. */
  readonly note?: string;
}

export interface OptionSpec {
  /** The name of its value in help; an option without a value is on or off. */
  readonly value?: string;
  readonly short?: string;
  readonly help: string;
  /** The values that completion offers. */
  readonly choices?: readonly string[];
  /** The heading below which help lists it; `Options` unless given. */
  readonly heading?: string;
}

/** The options of every command. */
export const COMMON_OPTIONS = {
  json: { help: 'print the answer as one JSON document' },
  help: { short: 'h', help: 'show this help' },
} as const satisfies Readonly<Record<string, OptionSpec>>;

export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

/** Wrong usage: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Ctrl-C, with what becomes of the work: the process then ends by that signal, so that loops of a shell end too. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** The value of an option that takes text. */
export function textOption({ values }: Invocation, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws {UsageError} it is absent */
export function requiredOption(invocation: Invocation, name: string): string {
  const value = textOption(invocation, name);
  if (value === undefined) throw new UsageError(`--${name} is needed.`);
  return value;
}

/** One line of standard input, without its end: a secret that the process list must not show. */
export async function secretFromInput(): Promise<string> {
  return (await textOf(process.stdin)).replace(/\r?\n$/, '');
}

/** The choice that a text names, in capitals or not; undefined where there is none. */
export function choiceOf<const T extends string>(
  text: string,
  choices: readonly T[],
): T | undefined {
  return choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
}

/** @throws {UsageError} there is no file of that name */
export async function assertFile(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile() !== true) throw new UsageError(`There is no file ${path}.`);
}

/** `1 page`, `2 pages`. */
export const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

/** The progress of reading the log. */
export function eventsRead(progress: {
  readonly done: number;
  readonly total: number;
  readonly isEstimate?: boolean;
  readonly perSecond: number;
}): string {
  const { done, total, isEstimate = false, perSecond } = progress;
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
  const rate = Math.round(perSecond);
  return `${done} of ${isEstimate ? 'about ' : ''}${counted(total, 'event')} (${percent} %), ${rate} a second`;
}

/** Seconds as `--json` prints them. */
export const toMilliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** @throws {UsageError} it is not a whole number in the bounds */
export function wholeNumber(text: string, name: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^[0-9]+$/.test(text) || number < min || number > max) {
    throw new UsageError(`${name} must be a whole number from ${min} to ${max}.`);
  }
  return number;
}
