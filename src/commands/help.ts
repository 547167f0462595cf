/** What the command line says about itself. */
import { COMMON_OPTIONS, type Command, type OptionSpec } from './command.ts';

/** @param name of a command or a group; empty: of the whole command line */
export function seeHelp(name: string): string {
  return `See '${['pressledger', name, '--help'].filter((word) => word !== '').join(' ')}'.`;
}

export function usageLine({ name, usage }: Command): string {
  return `pressledger ${name} ${usage}`.trimEnd();
}

/** A part of a help text, left out where it has nothing to say. */
function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}

const twoColumns = (name: string, text: string): string => `  ${name.padEnd(24)}  ${text}`;

function optionLines(options: Readonly<Record<string, OptionSpec>>): readonly string[] {
  return Object.entries(options).map(([name, { type, short, help }]) => {
    const value = type === 'string' ? ' …' : '';
    const prefix = short === undefined ? '' : `-${short}, `;
    return twoColumns(`${prefix}--${name}${value}`, help);
  });
}

function argumentLines({ positionals }: Command): readonly string[] {
  return Object.entries(positionals).map(([name, what]) => twoColumns(name, what));
}

export function commandHelp(command: Command): string {
  return [
    `Usage: ${usageLine(command)}`,
    '',
    command.summary,
    ...section('Arguments', argumentLines(command)),
    ...section('Options', optionLines({ ...command.options, ...COMMON_OPTIONS })),
  ].join('\n');
}

function commandLines(commands: readonly Command[]): readonly string[] {
  return commands.map(({ name, summary }) => twoColumns(name, summary));
}

/** @param commands those of the group */
export function groupHelp(group: string, commands: readonly Command[]): string {
  return [
    `Usage: pressledger ${group} COMMAND [ARGUMENTS] [--json]`,
    ...section('Commands', commandLines(commands)),
    '',
    `'pressledger ${group} COMMAND --help' says more.`,
  ].join('\n');
}

export function overallHelp(commands: readonly Command[]): string {
  return [
    'Usage: pressledger COMMAND [ARGUMENTS] [--json]',
    '       pressledger --version',
    ...section('Commands', commandLines(commands)),
    '',
    "'pressledger COMMAND --help' says more. Settings come from the environment; see README.md.",
  ].join('\n');
}
