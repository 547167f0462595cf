/** The interface of a command, and what several commands share. */
import { stat } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { ClientConfig } from '../config/client-config.ts';
import type { Role } from '../config/settings.ts';
import type * as opener from '../service/for-commands.ts';

/** Opens what the settings name. */
export type Opener = typeof opener;

/** What a command works with. */
export interface CommandContext {
  readonly open: Opener;
  readonly output: Output;
  /** The part of the environment that the command line reads as a client of a service. */
  readonly client: ClientConfig;
  /** The permissions of a file that is made for the user. */
  readonly outputMode: number;
}

export type Run = (invocation: Invocation, context: CommandContext) => Promise<void>;

/** A date is shown to the second on a terminal, as ISO 8601 elsewhere; in UTC on both. */
export type Cell = string | number | Date | null | undefined;

/** Standard output for answers, standard error for everything said on the way. */
export interface Output {
  /** One line of a human-readable answer; not printed with `--json`. */
  line(text: string): void;
  /**
   * The rows of an answer: in columns below their heads on a terminal; elsewhere separated by tabs, with heads only if
   * `--header` asks for them; not printed with `--json`.
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
  readonly summary: string;
  /** The name that it had before, which still works. */
  readonly formerly?: string;
  /** The part of the help that lists it, as the registry sets it. */
  readonly section?: Section;
  /** It runs until it is stopped, and logs all that LOG_LEVEL asks for; others only what is wrong. */
  readonly role?: Role;
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** The positional arguments by name, in their order, with what each is. */
  readonly positionals?: Readonly<Record<string, string>>;
  /** True if it opens the store of the settings even where a service runs on it, which others ask. */
  readonly opensStore?: true;
  /** True if the last positional argument may be given several times. */
  readonly takesMany?: boolean;
  /** The number of positional arguments at the end that may be left out; none unless given. */
  readonly optionalPositionals?: number;
  /** The values of arguments that completion offers. */
  readonly argumentChoices?: readonly string[];
  /** Lines that work as they are, but for names. */
  readonly examples: readonly string[];
  /** Loads the command's own module. */
  readonly run: Run;
}

export interface Section {
  readonly heading: string;
  /** Where the commands work, and the settings that they need, at the end of their help. */
  readonly note?: string;
}

export interface OptionSpec {
  /** The name of its value in help; an option without a value is on or off. */
  readonly value?: string;
  /** True if it may be given several times. */
  readonly many?: boolean;
  readonly short?: string;
  /** The usage line names it. */
  readonly needed?: boolean;
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
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
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

/** The values of an option that may be given several times. */
export function listOption({ values }: Invocation, name: string): readonly string[] {
  const value = values[name];
  return typeof value === 'object' ? value : [];
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
