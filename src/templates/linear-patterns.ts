/**
 * Patterns of schemas, matched in time that grows with the text alone. `RegExp` tries again from each place where it fails:
 * '^(a+)+$' takes years for 60 letters.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js';

/** Compiling takes a hundred times as long as matching, and each value is matched anew. */
const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 1_000;

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = RE2JS.compile(RE2JS.translateRegExp(pattern));
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

/** Says why a text is not a pattern that can be matched in linear time; undefined if it is. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compile(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const what = error.message.replace(/^error parsing regexp: /, '');
    return `Must be a regular expression without lookarounds, references back and more than 1,000 repeats: ${what}.`;
  }
}

/** The patterns that the writer of a schema chose: for values, and for names. */
interface Chosen {
  readonly values: Set<string>;
  readonly names: Set<string>;
}

function collect(schema: unknown, { values, names }: Chosen): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [name, value] of Object.entries(schema) as [string, unknown][]) {
    if (name === 'pattern' && typeof value === 'string') values.add(value);
    if (name === 'patternProperties' && typeof value === 'object' && value !== null) {
      for (const each of Object.keys(value)) names.add(each);
    }
    collect(value, { values, names });
  }
}

/**
 * Runs `check` with each expression that it makes of the schema's patterns matched in linear time. typebox makes them by
 * `new RegExp` and has no other place for it; nothing else runs in this thread meanwhile.
 */
export function withLinearPatterns<T>(schema: object, check: () => T): T {
  const chosen: Chosen = { values: new Set(), names: new Set() };
  collect(schema, chosen);
  const { values, names } = chosen;
  const Usual = RegExp;
  // One that typebox makes of the names of properties is plain, unless it joins them with patterns.
  const isChosen = (text: string): boolean =>
    values.has(text) || [...names].some((each) => text.includes(each));
  function Linear(text: string, flags?: string): RegExp | Pick<RegExp, 'test'> {
    if (!isChosen(text)) return new Usual(text, flags);
    const pattern = compile(text);
    return { test: (value) => pattern.test(value) };
  }
  Reflect.set(globalThis, 'RegExp', Linear);
  try {
    return check();
  } finally {
    Reflect.set(globalThis, 'RegExp', Usual);
  }
}
