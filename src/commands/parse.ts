/** Command line → what is asked for: help, the version, or a command with its arguments. */
import { COMMON_OPTIONS, type Command, type Invocation, UsageError } from './command.ts';
import { commandOf, groupOf, noSuchCommand } from './find.ts';
import { commandHelp, groupHelp, overallHelp, usageLine } from './help.ts';
import { parseOptions } from './parse-options.ts';

export type Asked =
  | { readonly type: 'help'; readonly text: string }
  | { readonly type: 'version'; readonly wantsJson: boolean }
  | {
      readonly type: 'run';
      readonly command: Command;
      readonly invocation: Invocation;
      readonly wantsJson: boolean;
    };

/** What may stand before a command. */
const LEADING_OPTIONS = {
  ...COMMON_OPTIONS,
  version: { type: 'boolean', short: 'v', help: 'show the version' },
} as const;

const isOption = (arg: string): boolean => arg.startsWith('-');

/** @throws {UsageError} the words name neither a command nor a group of them */
function helpAbout(words: readonly string[], commands: readonly Command[]): Asked {
  const [first] = words;
  if (first === undefined) return { type: 'help', text: overallHelp(commands) };
  const command = commandOf(words, commands);
  if (command) return { type: 'help', text: commandHelp(command) };
  const group = groupOf(first, commands);
  if (group.length === 0 || words.length > 1) throw noSuchCommand(words, commands);
  return { type: 'help', text: groupHelp(first, group) };
}

/** @throws {UsageError} an argument is missing, or one is too many */
function checkArguments(command: Command, positionals: readonly string[]): void {
  const wanted = Object.entries(command.positionals);
  const [name, what] = wanted[positionals.length] ?? [];
  if (name !== undefined) {
    throw new UsageError(`${name} (${what}) is missing. Usage: ${usageLine(command)}`);
  }
  const extra = positionals[wanted.length];
  if (extra !== undefined) {
    throw new UsageError(`'${extra}' is one argument too many. Usage: ${usageLine(command)}`);
  }
}

/** @throws {UsageError} */
export function parseLine(args: readonly string[], commands: readonly Command[]): Asked {
  const begin = args.findIndex((arg) => !isOption(arg));
  const line = begin === -1 ? [] : args.slice(begin);
  const leading = parseOptions(
    args.slice(0, args.length - line.length),
    LEADING_OPTIONS,
    '',
  ).values;
  const words = line.filter((arg) => !isOption(arg));
  if (leading['help'] === true) return helpAbout(words, commands);
  if (line[0] === 'help') return helpAbout(words.slice(1), commands);
  const json = leading['json'] === true;
  if (leading['version'] === true) {
    return { type: 'version', wantsJson: json };
  }

  const command = commandOf(line, commands);
  if (!command) {
    if (line.includes('--help') || line.includes('-h')) return helpAbout(words, commands);
    throw noSuchCommand(words, commands);
  }
  const { values, positionals } = parseOptions(
    line.slice(command.name.split(' ').length),
    { ...COMMON_OPTIONS, ...command.options },
    command.name,
  );
  if (values['help'] === true) return { type: 'help', text: commandHelp(command) };
  checkArguments(command, positionals);
  const wantsJson = json || values['json'] === true;
  return { type: 'run', command, invocation: { values, positionals }, wantsJson };
}
