/** Command line → the command meant and its arguments. */
import { parseArgs } from 'node:util';
import { type Command, type Invocation, type OptionSpec, UsageError } from './command.ts';

export interface ParsedLine {
  readonly command: Command;
  readonly invocation: Invocation;
  readonly wantsHelp: boolean;
  readonly wantsJson: boolean;
}

const COMMON: Readonly<Record<string, OptionSpec>> = {
  json: { type: 'boolean', help: 'print one JSON document and nothing else' },
  help: { type: 'boolean', short: 'h', help: 'show this help' },
};

/** @throws {UsageError} */
export function parseLine(args: readonly string[], commands: readonly Command[]): ParsedLine {
  const command = commands.find(({ name }) => {
    const words = name.split(' ');
    return words.every((word, index) => args[index] === word);
  });
  if (!command) {
    const typed = args.filter((arg) => !arg.startsWith('-')).join(' ');
    const what = typed === '' ? 'No command given.' : `There is no command '${typed}'.`;
    throw new UsageError(`${what} 'pressledger --help' lists them.`);
  }
  const options = Object.fromEntries(
    Object.entries({ ...COMMON, ...command.options }).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  );
  const { values, positionals } = parseStrictly(
    args.slice(command.name.split(' ').length),
    options,
  );
  const wantsHelp = values['help'] === true;
  if (!wantsHelp && positionals.length !== command.positionals.length) {
    throw new UsageError(`Usage: ${usageLine(command)}`);
  }
  return {
    command,
    invocation: { values, positionals },
    wantsHelp,
    wantsJson: values['json'] === true,
  };
}

function parseStrictly(
  args: readonly string[],
  options: Record<string, { type: 'string' | 'boolean'; short?: string }>,
): Invocation {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values, positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export function usageLine({ name, usage }: Command): string {
  return `pressledger ${name} ${usage}`.trimEnd();
}

export function commandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON }).map(([name, spec]) => {
    const value = spec.type === 'string' ? ' …' : '';
    const short = spec.short === undefined ? '' : `-${spec.short}, `;
    return `  ${`${short}--${name}${value}`.padEnd(28)}${spec.help}`;
  });
  return [`Usage: ${usageLine(command)}`, '', command.summary, '', 'Options:', ...options].join(
    '\n',
  );
}

export function overallHelp(commands: readonly Command[]): string {
  const lines = commands.map((command) => `  ${command.name.padEnd(22)}${command.summary}`);
  return [
    'Usage: pressledger COMMAND [ARGUMENTS] [--json]',
    '',
    'Commands:',
    ...lines,
    '',
    "'pressledger COMMAND --help' says more. Settings come from the environment; see README.md.",
  ].join('\n');
}
