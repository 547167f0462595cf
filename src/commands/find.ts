/** Which command or group of commands the words of a line name. */
import { nearest } from '../nearest.ts';
import { type Command, UsageError } from './command.ts';
import { seeHelp } from './help.ts';

const firstWord = ({ name }: Command): string => name.split(' ')[0] ?? name;

/** @param words may go on with arguments */
export function commandOf(
  words: readonly string[],
  commands: readonly Command[],
): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
}

/** The commands of two words that begin with this one. */
export function groupOf(first: string, commands: readonly Command[]): readonly Command[] {
  return commands.filter((command) => firstWord(command) === first && command.name !== first);
}

function unknown(typed: string, meant: string | undefined, about: string): UsageError {
  const guess = meant === undefined ? '' : ` Did you mean '${meant}'?`;
  return new UsageError(`There is no command '${typed}'.${guess} ${seeHelp(about)}`);
}

/** Why these words name no command, and which one was likely meant. */
export function noSuchCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const [first, second] = words;
  if (first === undefined) return new UsageError(`No command given. ${seeHelp('')}`);
  const named = commandOf(words, commands);
  if (named) {
    return new UsageError(`Options go after '${named.name}', not into it. ${seeHelp(named.name)}`);
  }
  const group = groupOf(first, commands);
  if (group.length === 0) {
    const near = nearest(first, [...new Set(commands.map(firstWord))]);
    if (near === undefined) return unknown(first, undefined, '');
    return unknown(first, commandOf([near, ...words.slice(1)], commands)?.name ?? near, '');
  }
  const names = group.map(({ name }) => name.slice(first.length + 1));
  if (second === undefined) {
    const needed = names.length === 1 ? '' : 'one of ';
    return new UsageError(`'${first}' needs ${needed}${names.join(', ')}. ${seeHelp(first)}`);
  }
  const near = nearest(second, names);
  return unknown(`${first} ${second}`, near && `${first} ${near}`, first);
}
