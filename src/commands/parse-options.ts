/** The options and arguments of a command line, with every slip told in one clear line. */
import { parseArgs } from 'node:util';
import { nearest } from '../nearest.ts';
import { type Invocation, type OptionSpec, UsageError } from './command.ts';
import { seeHelp } from './help.ts';

interface OptionToken {
  readonly name: string;
  /** As typed: `-o` or `--output`. */
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** Why an option cannot be taken as it was typed; undefined where it can. */
function slipIn(
  { name, rawName, value, inlineValue }: OptionToken,
  specs: Readonly<Record<string, OptionSpec>>,
  about: string,
): string | undefined {
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
  if (spec === undefined) {
    const near = rawName.startsWith('--') ? nearest(name, Object.keys(specs)) : undefined;
    const guess = near === undefined ? '' : ` Did you mean --${near}?`;
    return `There is no option ${rawName} ${about === '' ? 'before a command' : `of '${about}'`}.${guess}`;
  }
  if (spec.type === 'boolean')
    return value === undefined ? undefined : `${rawName} takes no value.`;
  if (value === undefined) return `${rawName} needs a value.`;
  // Where the value was forgotten, the next option must not pass for it.
  if (inlineValue !== true && value.length > 1 && value.startsWith('-')) {
    return `${rawName} needs a value; one that begins with '-' is given as --${name}=${value}.`;
  }
  return undefined;
}

/**
 * @param about whose options they are, for the hint: a command's name, or empty
 * @throws {UsageError} an unknown option, or one whose value is missing or too much
 */
export function parseOptions(
  args: readonly string[],
  specs: Readonly<Record<string, OptionSpec>>,
  about: string,
): Invocation {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  );
  // Not strict: Node's own words for a slip name neither the command nor its help.
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === 'option');
  const values = Object.fromEntries(given.map(({ name, value }) => [name, value ?? true]));
  // Who asks for help has it, whatever else the line says.
  if (values['help'] === true) return { values: { help: true }, positionals };
  for (const token of given) {
    const slip = slipIn(token, specs, about);
    if (slip !== undefined) throw new UsageError(`${slip} ${seeHelp(about)}`);
  }
  return { values, positionals };
}
