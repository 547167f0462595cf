/** Fills templates by the library of Liquid, with its bounds and without files. */
import { Context, Liquid, type Template, toValueSync } from 'liquidjs';
import { localDate, money, number } from './filters.ts';
import type { FillProblem, TemplateTexts } from './messages.ts';

/** Milliseconds that one text may be filled for. Another limit ends a thread that does not notice this one. */
export const FILL_MS = 1_000;
/** The library's count of what filters, ranges and captured texts take. */
const MEMORY = 20_000_000;
const MAX_MESSAGE_CHARACTERS = 300;

export const TEXT_NAMES = ['html', 'header_html', 'footer_html'] as const;
type TextName = (typeof TEXT_NAMES)[number];

/** A template with an error; the message is for its writer. */
class TemplateError extends Error {}

const engine = new Liquid({
  outputEscape: 'escape',
  ownPropertyOnly: true,
  strictFilters: true,
  timezoneOffset: 0,
  memoryLimit: MEMORY,
  renderLimit: FILL_MS,
  // There are no other texts, in memory or in files.
  templates: {},
});

engine.registerFilter('money', money);
engine.registerFilter('number', number);
engine.registerFilter('local_date', localDate);
// A text in a script cannot end the script.
const json: unknown = engine.filters['json'];
for (const name of ['json', 'jsonify']) {
  engine.registerFilter(name, function (this: unknown, ...given: unknown[]) {
    const text = String((json as (...args: unknown[]) => unknown).apply(this, given));
    return text.replaceAll('<', '\\u003c');
  });
}
for (const name of ['include', 'render', 'layout', 'block']) {
  engine.registerTag(name, {
    parse() {
      throw new TemplateError(`there is no tag ${name}: a template is one text without others`);
    },
    render: () => '',
  });
}

/** Counts what it has, so that an endless text ends before it fills the memory. */
class BoundedEmitter {
  buffer = '';
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  write(html: unknown): void {
    this.buffer += typeof html === 'string' ? html : toText(html);
    if (this.buffer.length > this.#most) throw new TemplateError(tooLong(this.#most));
  }
}

const tooLong = (most: number): string => `what it makes of the data has more than ${most} bytes`;

/** As the library's own emitter writes values, but for objects, which say nothing to a reader. */
function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(toText).join('');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/template render limit exceeded/, `it takes more than ${FILL_MS / 1000} s to fill`],
  [/memory alloc limit exceeded/, 'it takes too much memory to fill'],
  [/Maximum call stack size exceeded/, 'it is nested too deeply'],
];

/** What is wrong with a text, with its line and column where the library knows them. */
function problemOf(field: TextName, error: unknown): FillProblem {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const [, said = message, line, column] =
    /^(.*?), (?:file:[^,]*, )?line:(\d+), col:(\d+)$/s.exec(message.split('\n', 1)[0] ?? '') ?? [];
  const known = KNOWN.find(([pattern]) => pattern.test(said))?.[1] ?? said;
  const text =
    known.length > MAX_MESSAGE_CHARACTERS ? `${known.slice(0, MAX_MESSAGE_CHARACTERS)}…` : known;
  const place = line === undefined ? '' : `Line ${line}, column ${column ?? 1}: `;
  return { path: [field], message: `${place}${text.replace(/\.$/, '')}.` };
}

/** The texts as the library has read them. */
export type ParsedTexts = ReadonlyMap<TextName, Template[]>;

export function parseTexts(texts: TemplateTexts): ParsedTexts | readonly FillProblem[] {
  const parsed = new Map<TextName, Template[]>();
  const problems: FillProblem[] = [];
  for (const name of TEXT_NAMES) {
    const text = texts[name];
    if (text === undefined) continue;
    try {
      parsed.set(name, engine.parse(text));
    } catch (error) {
      problems.push(problemOf(name, error));
    }
  }
  return problems.length > 0 ? problems : parsed;
}

/** @param maxBytes of all texts together */
export function fillTexts(
  parsed: ParsedTexts,
  data: object,
  maxBytes: number,
): { readonly texts: TemplateTexts; readonly bytes: number } | readonly FillProblem[] {
  const filled: { [K in TextName]?: string } = {};
  let left = maxBytes;
  for (const [name, templates] of parsed) {
    try {
      const context = new Context(data, engine.options, { sync: true }, { liquid: engine });
      const emitter = new BoundedEmitter(left);
      toValueSync(engine.renderer.renderTemplates(templates, context, emitter));
      left -= Buffer.byteLength(emitter.buffer);
      if (left < 0) throw new TemplateError(tooLong(maxBytes));
      filled[name] = emitter.buffer;
    } catch (error) {
      return [problemOf(name, error)];
    }
  }
  return { texts: { html: '', ...filled }, bytes: maxBytes - left };
}
