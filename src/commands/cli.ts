/** The command line, made of the table of commands: what a line asks for, help, and failures in words. */
import {
  Argument,
  Command as Commander,
  type CommanderError,
  InvalidArgumentError,
  Option,
} from 'commander';
import { ConfigError } from '../config/config.ts';
import { errorLine, errorMessage } from '../errors/error-message.ts';
import { ServiceError } from '../errors/errors.ts';
import { suggest } from '../text/suggest.ts';
import {
  COMMON_OPTIONS,
  type Command,
  type Invocation,
  type OptionSpec,
  UsageError,
} from './command.ts';
import { belowOptions } from './help.ts';
import { isPressledgerError } from './service.ts';

export type ParsedArgs =
  | { readonly type: 'help'; readonly text: string }
  | {
      readonly type: 'run';
      readonly command: Command;
      readonly invocation: Invocation;
      readonly wantsJson: boolean;
    };

const HELP = ['-h', '--help'];
const VERSION = ['-v', '-V', '--version'];

/** The help of `--json` for what runs until it is stopped. */
const ROLE_JSON =
  'when ready, print one JSON document, such as the address; logs stay on standard error';

/** The end of the help of the whole command line and of a group. */
const OVERVIEW = `
'pressledger <command> --help' shows its arguments, options and examples.
The exit status is 0, 1 for a refusal or failure, 2 for wrong usage.
`;

const isOption = (arg: string): boolean => arg.startsWith('-');

/** @param name of a command or a group; empty: of the whole command line */
export function seeHelp(name: string): string {
  return `See '${['pressledger', name, '--help'].filter((word) => word !== '').join(' ')}'.`;
}

/** @throws {UsageError} */
export function parseLine(typed: readonly string[], commands: readonly Command[]): ParsedArgs {
  const args = renamed(typed, commands);
  let parsed: ParsedArgs | undefined;
  const program = buildProgram(commands, (run) => {
    parsed = run;
  });
  const flags = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length);
  const words = args.filter((arg) => !isOption(arg));
  // A request for help is answered, whatever else the line says.
  if (words[0] === 'help') return helpAbout(program, words.slice(1), commands);
  if (flags.some((arg) => HELP.includes(arg))) return helpAbout(program, words, commands);
  const begin = args.findIndex((arg) => !isOption(arg) || VERSION.includes(arg));
  const first = args[begin];
  const line = first === undefined || !isOption(first) ? args : args.toSpliced(begin, 1, 'version');
  program.parse(line, { from: 'user' });
  if (!parsed) throw new UsageError(`No command given. ${seeHelp('')}`);
  return parsed;
}

/** The same with the name that a command has now in place of the one that it had before. */
function renamed(args: readonly string[], commands: readonly Command[]): readonly string[] {
  const isTyped = (word: string, at: number): boolean => args[at] === word;
  const command = commands.find(({ formerly }) => formerly?.split(' ').every(isTyped));
  if (command?.formerly === undefined) return args;
  return [...command.name.split(' '), ...args.slice(command.formerly.split(' ').length)];
}

/** @throws {UsageError} the words name neither a command nor a group of them */
function helpAbout(
  program: Commander,
  words: readonly string[],
  commands: readonly Command[],
): ParsedArgs {
  let about = program;
  for (const word of words) {
    const next = about.commands.find((each) => each.name() === word);
    const isGroup = about.commands.length > 0 && (about === program || !isCommand(about));
    if (!next && isGroup) program.parse([...words], { from: 'user' });
    about = next ?? about;
  }
  const command = commands.find(({ name }) => name === nameOf(about));
  const text = about.helpInformation() + (command ? belowOptions(about, command) : OVERVIEW);
  return { type: 'help', text: text.trimEnd() };
}

/** The command's name as typed after `pressledger`. */
const nameOf = (command: Commander): string =>
  command.parent === null ? '' : `${nameOf(command.parent)} ${command.name()}`.trim();

function buildProgram(commands: readonly Command[], onRun: (run: ParsedArgs) => void): Commander {
  const program = configure(new Commander('pressledger'))
    .usage('<command> [arguments] [options]')
    .description('HTML or a URL in, a PDF out, every step an event.')
    .addOption(new Option('-V, --version', 'show the version'));
  for (const command of commands) {
    const words = command.name.split(' ');
    const parent = words.length === 1 ? program : groupOf(program, command, words[0] ?? '');
    parent.addCommand(buildCommand(command, words.at(-1) ?? '', onRun));
  }
  return program;
}

/** A command can be a group as well: `backup` and `backup verify`. What is a group alone has no summary. */
const isCommand = (command: Commander): boolean => command.description() !== '';

const leavesOf = (command: Commander): Commander[] =>
  command.commands.flatMap((each) =>
    isCommand(each) ? [each, ...leavesOf(each)] : leavesOf(each),
  );

function groupOf(program: Commander, { section }: Command, name: string): Commander {
  const there = program.commands.find((each) => each.name() === name);
  if (there) return there;
  const group = configure(new Commander(name)).usage('<command> [arguments] [options]');
  if (section) group.helpGroup(`${section.heading}:`);
  program.addCommand(group);
  return group;
}

/** Adds what every command has: help, `--json`, and errors that are thrown. */
function configure(command: Commander, json: string = COMMON_OPTIONS.json.help): Commander {
  return (
    command
      .helpOption('-h, --help', COMMON_OPTIONS.help.help)
      .helpCommand(false)
      .option('--json', json)
      .enablePositionalOptions()
      .showSuggestionAfterError(false)
      // The commands of the groups are listed, not the groups.
      .configureHelp({
        visibleCommands: leavesOf,
        subcommandTerm: nameOf,
        argumentTerm: (argument) => `<${argument.name()}>`,
      })
      .configureOutput({ writeOut: () => {}, writeErr: () => {} })
      .exitOverride((error) => {
        throw usageError(error, command);
      })
  );
}

/** The arguments and the options that are needed, as the usage line names them. */
const usageOf = (args: readonly Argument[], { options = {} }: Command): readonly string[] => [
  ...args.map((argument) => {
    const term = `<${argument.name()}>${argument.variadic ? ' …' : ''}`;
    return argument.required ? term : `[${term}]`;
  }),
  ...Object.entries(options).flatMap(([name, { needed, short, value }]) =>
    needed === true ? `${short === undefined ? `--${name}` : `-${short}`} <${value}>` : [],
  ),
];

function buildCommand(command: Command, name: string, onRun: (run: ParsedArgs) => void): Commander {
  const built = new Commander(name).description(command.summary);
  // A list has room for the first clause; what stands before a comma is often half of one.
  built.summary(command.summary.replace(/[.:;] .*|\.$/, ''));
  if (command.section) built.helpGroup(`${command.section.heading}:`);
  const positionals = Object.entries(command.positionals ?? {});
  const needed = positionals.length - (command.optionalPositionals ?? 0);
  for (const [index, [argument, help]] of positionals.entries()) {
    const isMany = command.takesMany === true && index === positionals.length - 1;
    const term = isMany ? `${argument}...` : argument;
    built.addArgument(new Argument(index < needed ? `<${term}>` : `[${term}]`, help));
  }
  built.usage([...usageOf(built.registeredArguments, command), '[options]'].join(' '));
  const options = Object.entries(command.options ?? {}).map(
    ([long, spec]) => [long, buildOption(long, spec, built)] as const,
  );
  return configure(built, command.role && ROLE_JSON).action(() => {
    const values: Record<string, string | boolean | readonly string[]> = {};
    for (const [long, option] of options) {
      const key = option.attributeName();
      const given = built.getOptionValueSource(key) === 'cli';
      if (given) values[long] = option.negate || (built.getOptionValue(key) as string | string[]);
    }
    const wantsJson = built.optsWithGlobals()['json'] === true;
    onRun({ type: 'run', command, invocation: { values, positionals: built.args }, wantsJson });
  });
}

function buildOption(
  name: string,
  { value, many = false, short, help, heading }: OptionSpec,
  command: Commander,
): Option {
  const flags = `${short === undefined ? '' : `-${short}, `}--${name}`;
  const option = new Option(value === undefined ? flags : `${flags} <${value}>`, help);
  if (heading !== undefined) option.helpGroup(heading);
  command.addOption(option);
  if (value !== undefined) {
    option.argParser((given, earlier: unknown): unknown => {
      // The next option must not pass for a value that was forgotten.
      const known = command.options.flatMap((each) => [each.short, each.long]);
      if (known.includes(given)) throw new InvalidArgumentError('It is an option.');
      if (!many) return given;
      return Array.isArray(earlier) ? [...(earlier as readonly string[]), given] : [given];
    });
  }
  return option;
}

/** The same error in one line, with what was likely meant, and where help is. */
function usageError(error: CommanderError, command: Commander): UsageError {
  return new UsageError(`${wordsOf(error, command)} ${seeHelp(nameOf(command))}`);
}

const guess = (meant: string | undefined): string =>
  meant === undefined ? '' : ` Did you mean ${meant}?`;

function wordsOf({ code, message }: CommanderError, command: Commander): string {
  const about = nameOf(command);
  const names = command.commands.map((each) => each.name());
  if (code === 'commander.help') {
    if (about === '') return 'No command given.';
    return `'${about}' needs ${names.length === 1 ? '' : 'one of '}${names.join(', ')}.`;
  }
  const [, typed = ''] = /'([^']*)'/.exec(message) ?? [];
  if (code === 'commander.unknownCommand') {
    const near = suggest(typed, names);
    const group = command.commands.find((each) => each.name() === near);
    const below = group?.commands.find((each) => each.name() === command.args[1])?.name();
    const meant = near && [about, near, below].filter((word) => word).join(' ');
    return `There is no command '${`${about} ${typed}`.trim()}'.${guess(meant && `'${meant}'`)}`;
  }
  if (code === 'commander.optionMissingArgument' || code === 'commander.invalidArgument') {
    return `${typed.replace(/ <.*/, '')} needs a value.`;
  }
  if (code === 'commander.missingArgument') {
    const argument = command.registeredArguments.find((each) => each.name() === typed);
    return `<${typed}> (${argument?.description ?? ''}) is missing.`;
  }
  if (code === 'commander.unknownOption') {
    const longs = command.options.flatMap(({ long }) => long ?? []);
    const [long = typed] = typed.split('=');
    if (longs.includes(long)) return `${long} takes no value.`;
    const near = long.startsWith('--') ? suggest(long, longs) : undefined;
    const place = about === '' ? 'before a command' : `of '${about}'`;
    return `There is no option ${typed} ${place}.${guess(near)}`;
  }
  // commander names a command of a group by its last word.
  const text = message
    .replace(/^error: /, '')
    .replace(` for '${command.name()}'`, ` for '${about}'`);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

/** The option that sets a field of a request, where there is one: of `wait_for.selector` as of `scale`. */
function optionOf(field: string, command: Command | undefined): string | undefined {
  const parts = [field, field.split('.')[0] ?? field].map((each) => each.replaceAll(/[_.]/g, '-'));
  // An option that is given several times has the name of one.
  const names = [...parts, ...parts.map((each) => each.replace(/s$/, ''))];
  const name = names.find((each) => command?.options && Object.hasOwn(command.options, each));
  return name === undefined ? undefined : `--${name}`;
}

/** Of data, the option alone does not say the place. */
const placeOf = (field: string, command: Command | undefined): string =>
  field.startsWith('data.') ? field : (optionOf(field, command) ?? field);

/** The fields that a refusal names, each with what is wrong with it. */
const fieldsIn = (
  error: unknown,
): readonly (readonly [field: string, issues: readonly string[]])[] =>
  error instanceof ServiceError || isPressledgerError(error)
    ? Object.entries(error.details ?? {})
    : [];

/** Says whether the command line itself is wrong, also where only the service could tell. */
export function isWrongUsage(error: unknown, command: Command | undefined): boolean {
  if (error instanceof UsageError) return true;
  return fieldsIn(error).some(([field]) => optionOf(field, command) !== undefined);
}

/** One line for each thing to mend: what went wrong, and what lay below it where that says more. */
export function errorLines(error: unknown, command: Command | undefined): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  if (isPressledgerError(error, 'unauthorized') && command?.name !== 'login') {
    const remedy = "sign in again with 'pressledger login', or check PRESSLEDGER_API_KEY";
    return [`The service does not accept the API key: ${remedy}.`];
  }
  const lines = fieldsIn(error).flatMap(([field, issues]) =>
    issues.map((issue) => `${placeOf(field, command)}: ${issue}`),
  );
  if (lines.length > 0) return lines;
  const text = errorLine(error);
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || text.includes(errorMessage(cause))) return [text];
  const [said, line] = [errorMessage(cause), errorLine(cause)];
  return [line === said ? `${text} (${said})` : `${text.replace(/\.$/, '')}: ${line}`];
}
