/** Completion scripts for shells, generated from the table of commands. */
import { COMMON_OPTIONS, type Command, type OptionSpec, type Section } from './command.ts';

/** A place in a line, and the words that may follow there. */
interface Place {
  /** The words typed so far, each with a blank behind it. */
  readonly path: string;
  readonly next: readonly (readonly [word: string, about: string])[];
}

/** The places where a command or a group is expected. */
function placesOf(commands: readonly Pick<Command, 'name' | 'summary'>[]): readonly Place[] {
  const places = new Map<string, Map<string, string>>();
  for (const { name, summary } of commands) {
    const words = name.split(' ');
    for (const [index, word] of words.entries()) {
      const path = words
        .slice(0, index)
        .map((each) => `${each} `)
        .join('');
      const next = places.get(path) ?? new Map<string, string>();
      const isLast = index === words.length - 1;
      if (isLast || !next.has(word)) next.set(word, isLast ? summary : `${word} commands`);
      places.set(path, next);
    }
  }
  return [...places].map(([path, next]) => ({ path, next: [...next] }));
}

/** Each command, and help about it. */
const withHelp = (commands: readonly Command[]): readonly Pick<Command, 'name' | 'summary'>[] => [
  ...commands,
  ...commands.map(({ name, summary }) => ({ name: `help ${name}`, summary })),
];

const optionsOf = ({ options }: Command): readonly (readonly [string, OptionSpec])[] =>
  Object.entries({ ...options, ...COMMON_OPTIONS });

const flagsOf = (name: string, { short }: OptionSpec): readonly string[] =>
  short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The branches of a `case` over the word before: what may follow an option that takes a value. */
function valueBranches(
  command: Command,
  offer: (choices: readonly string[]) => string,
): readonly string[] {
  return optionsOf(command)
    .filter(([, { value }]) => value !== undefined)
    .map(
      ([name, spec]) => `        ${flagsOf(name, spec).join('|')}) ${offer(spec.choices ?? [])} ;;`,
    );
}

const bashWords = (words: readonly string[]): string => `words=${quoted(words.join(' '))}`;

function bash(commands: readonly Command[]): readonly string[] {
  return [
    '# bash completion for pressledger; load it with: source <(pressledger completion bash)',
    '_pressledger() {',
    "  local IFS=$' \\t\\n' words=''",
    '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
    '  local path="${COMP_WORDS[*]:1:COMP_CWORD-1}"',
    '  case "${path:+$path }" in',
    ...placesOf(withHelp(commands)).map(
      ({ path, next }) => `    ${quoted(path)}) ${bashWords(next.map(([each]) => each))} ;;`,
    ),
    ...commands.flatMap((command) => [
      `    ${quoted(`${command.name} `)}*)`,
      '      case "$before" in',
      ...valueBranches(command, bashWords),
      `        *) ${bashWords([
        ...(command.argumentChoices ?? []),
        ...optionsOf(command).flatMap(([name, spec]) => flagsOf(name, spec)),
      ])} ;;`,
      '      esac ;;',
    ]),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    '# Where nothing matches, the names of files are offered.',
    'complete -o default -F _pressledger pressledger',
  ];
}

const zshFound = (rows: readonly (readonly [string, string])[]): string =>
  `found=(${rows.map(([word, about]) => quoted(`${word}:${about}`)).join(' ')})`;

const zshValues = (values: readonly string[] = []): string =>
  values.length === 0 ? '' : `found=(${values.join(' ')}); _describe value found; `;

function zsh(commands: readonly Command[]): readonly string[] {
  return [
    '#compdef pressledger',
    '# zsh completion for pressledger; load it with: source <(pressledger completion zsh)',
    '_pressledger() {',
    '  local -a found',
    '  local before="${words[CURRENT-1]}" path_="${(j: :)words[2,CURRENT-1]}"',
    '  case "${path_:+$path_ }" in',
    ...placesOf(withHelp(commands)).map(
      ({ path, next }) => `    ${quoted(path)}) ${zshFound(next)}; _describe command found ;;`,
    ),
    ...commands.flatMap((command) => [
      `    ${quoted(`${command.name} `)}*)`,
      '      case "$before" in',
      ...valueBranches(command, (choices) =>
        choices.length === 0 ? '_files' : `found=(${choices.join(' ')}); _describe value found`,
      ),
      `        *) ${zshValues(command.argumentChoices)}${zshFound(
        optionsOf(command).flatMap(([name, spec]) =>
          flagsOf(name, spec).map((flag) => [flag, spec.help] as const),
        ),
      )}; _describe -o option found; _files ;;`,
      '      esac ;;',
    ]),
    '  esac',
    '}',
    'if [ "${funcstack[1]}" = _pressledger ]; then _pressledger "$@"; else compdef _pressledger pressledger; fi',
  ];
}

const fishAt = (pattern: string): string =>
  `complete -c pressledger -n ${quoted(`__pressledger_at "${pattern}"`)}`;

const fishOption = (name: string, { value, short, help, choices = [] }: OptionSpec): string =>
  [
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(value === undefined ? [] : ['-r']),
    ...(choices.length === 0 ? [] : [`-f -a ${quoted(choices.join(' '))}`]),
    `-d ${quoted(help)}`,
  ].join(' ');

function fish(commands: readonly Command[]): readonly string[] {
  return [
    '# fish completion for pressledger; load it with: pressledger completion fish | source',
    'function __pressledger_at',
    '  set -l words (commandline -opc)',
    '  set -e words[1]',
    '  set -l path (string join " " -- $words)',
    '  test -n "$path"; and set path "$path "',
    '  string match -q -- $argv[1] "$path"',
    'end',
    ...placesOf(withHelp(commands)).flatMap(({ path, next }) =>
      next.map(([word, about]) => `${fishAt(path)} -f -a ${word} -d ${quoted(about)}`),
    ),
    ...commands.flatMap((command) => [
      ...(command.argumentChoices ?? []).map(
        (choice) => `${fishAt(`${command.name} *`)} -f -a ${choice}`,
      ),
      ...optionsOf(command).map(
        ([name, spec]) => `${fishAt(`${command.name} *`)} ${fishOption(name, spec)}`,
      ),
    ]),
  ];
}

const SHELLS = {
  bash: { script: bash, file: '~/.local/share/bash-completion/completions/pressledger' },
  zsh: { script: zsh, file: '"${fpath[1]}/_pressledger"' },
  fish: { script: fish, file: '~/.config/fish/completions/pressledger.fish' },
};

/** @param commands all others */
export function completionCommands(
  commands: readonly Command[],
  section: Section,
): readonly Command[] {
  const own = Object.entries(SHELLS).map(
    ([shell, { script, file }]): Command => ({
      name: `completion ${shell}`,
      section,
      summary: `Print the completion script for ${shell}.`,
      examples: [`completion ${shell} > ${file}`],
      run: async (_, { output }) => {
        const lines = script([...commands, ...own]);
        output.json({ shell, script: lines.join('\n') });
        for (const line of lines) output.line(line);
      },
    }),
  );
  return own;
}
