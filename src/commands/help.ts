/** What the command line says about itself. */
import { COMMON_OPTIONS, type Command, type OptionSpec } from './command.ts';
import { settingsOf } from './settings-of.ts';

/** @param name of a command or a group; empty: of the whole command line */
export function seeHelp(name: string): string {
  return `See '${['pressledger', name, '--help'].filter((word) => word !== '').join(' ')}'.`;
}

export function usageLine({ name, usage }: Command): string {
  return `pressledger ${name} ${usage}`.trimEnd();
}

type Row = readonly [name: string, text: string];

/** A name and its text, wrapped for a terminal of a hundred columns. */
function rowLines([name, text]: Row): readonly string[] {
  const parts = text.match(/.{1,72}(?: |$)/g) ?? [text];
  return parts.map((part, index) => `  ${(index === 0 ? name : '').padEnd(24)}  ${part}`.trimEnd());
}

/** A part of a help text in two columns, left out where it has nothing to say. */
function section(title: string, rows: readonly Row[]): readonly string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, ...rows.flatMap(rowLines)];
}

function optionRow([name, { type, short, help }]: readonly [string, OptionSpec]): Row {
  const value = type === 'string' ? ' …' : '';
  return [`${short === undefined ? '' : `-${short}, `}--${name}${value}`, help];
}

const commandRow = ({ name, summary }: Command): Row => [name, summary];

export function commandHelp({ role, ...command }: Command): string {
  return [
    `Usage: ${usageLine(command)}`,
    '',
    command.summary,
    ...section('Arguments', Object.entries(command.positionals)),
    ...section('Options', Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(optionRow)),
    ...(role === undefined
      ? ['', "Settings come from the environment; 'pressledger start --help' lists them."]
      : section(
          'Settings, from the environment (with the prefix PRESSLEDGER_ too, which wins)',
          settingsOf(role),
        )),
  ].join('\n');
}

/** @param commands those of the group */
export function groupHelp(group: string, commands: readonly Command[]): string {
  return [
    `Usage: pressledger ${group} COMMAND [ARGUMENTS] [--json]`,
    ...section('Commands', commands.map(commandRow)),
    '',
    `'pressledger ${group} COMMAND --help' says more.`,
  ].join('\n');
}

export function overallHelp(commands: readonly Command[]): string {
  return [
    'Usage: pressledger COMMAND [ARGUMENTS] [--json]',
    '       pressledger --version',
    ...section('Commands', commands.map(commandRow)),
    '',
    "'pressledger COMMAND --help' says more; 'pressledger start --help' lists the settings, which",
    'come from the environment.',
  ].join('\n');
}
