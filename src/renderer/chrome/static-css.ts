/** Judges the CSS of HTML that may be written into a window. */
import { hash } from 'node:crypto';

export interface WrittenCss {
  /** True if it may leave something in its window, which the next document must not find. */
  readonly leaves: boolean;
  /** True if it has images or fonts, all of them data of its own. */
  readonly loads: boolean;
  /** True if it may have animations. */
  readonly moves: boolean;
  /** Selectors of elements that Chrome prints otherwise, or by chance, before it has drawn them for a screen. */
  readonly drawnFirst: ReadonlySet<string>;
}

/** The longest CSS of a document that is worth looking through, but for its data. */
const MAX_CSS_LENGTH = 1024 * 1024;
/** Selectors that are looked for; with more of them one for every element is as cheap. */
const MAX_SELECTORS = 1_000;
const CSS_ESCAPE = /\\(?:([0-9a-f]{1,6})(?:\r\n|[\t\n\f\r ])?|([^]))/gi;
const unescaped = (css: string): string =>
  css.includes('\\')
    ? css.replace(CSS_ESCAPE, (_, hex: string | undefined, character: string | undefined) =>
        hex === undefined ? (character ?? '') : characterOf(Number.parseInt(hex, 16)),
      )
    : css;
const characterOf = (code: number): string =>
  code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';

const CSS_FETCHES =
  /url\((?![\t\n\f\r ]*["']?(?:#|data:))|image-set|(?<![-\w])(?:src|image|element|paint)\(|@(?:import|namespace|view-transition|function)/i;
const CSS_LOADS = /url\([\t\n\f\r ]*["']?data:/i;
const CSS_MOVES = /animation|@starting-style/i;
const CSS_LEAVES = /transition|@keyframes|@property|@font-|@counter-style|@position-try/i;
const CSS_DRAWN_FIRST =
  /(?<!text-)transform|translate|rotate|scale|perspective|filter|blend|isolation|will-change|mask|clip-path|backface|offset-|reflect/i;

const PSEUDO_ELEMENT = /::[\w-]+(?:\([^()]*\))?|:(?:before|after|first-l\w+)(?![\w-])/gi;
/** Selectors that mean the same when they are looked for alone. A value of an attribute may hold anything else. */
const PLAIN_SELECTOR =
  /^(?:[\w\s.#:>+~,*()-]|\[[\w-]+(?:[~|^$*]?=(?:[\w-]+|"[\w-]*"|'[\w-]*'))?\])*$/;
/** A rule with such a selector is none for Chrome. */
const OTHERS_SELECTOR = /:-(?:moz|ms)-/;
const FORGIVING = /:(?:is|where)\(/i;

/** What a rule gives a custom property draws nothing. Where it is used, the property that uses it says so. */
const CUSTOM_PROPERTY = /(?<=^|;)\s*--[^:;]*:[^;]*/g;
/** Selectors of keyframes. The elements that are animated are asked for by themselves. */
const KEYFRAMES = /^(?:from|to|[\d.]+%)(?:\s*,\s*(?:from|to|[\d.]+%))*$/i;

// URLs and strings may hold what looks like a comment. What does not end goes to its line's or the sheet's end: looked
// for again from each beginning, it would take minutes.
const URL_STRING_OR_COMMENT =
  /url\([\t\n\f\r ]*(?:[^\t\n\f\r )"'](?:\\[^]|[^)"'\\])*["']?)?|"(?:\\[^]|[^"\\\n\f\r])*"?|'(?:\\[^]|[^'\\\n\f\r])*'?|\/\*[^]*?(?:\*\/|$)/gi;
/** A URL with a quotation mark in it, which is none, or a brace that begins or ends no block. */
const UNCLEAR = /^url\([^"']+["']$|[{}]/i;

const isDrawnFirst = (rules: string): boolean =>
  CSS_DRAWN_FIRST.test(unescaped(rules).replace(CUSTOM_PROPERTY, ''));

/** Adds the selectors of the rules that say so; `*` where it is not clear which elements they are for. */
function noteDrawnFirst(css: string, selectors: Set<string>): void {
  if (/\\[{}]/.test(css)) selectors.add('*');
  const text = css.replace(URL_STRING_OR_COMMENT, (all) => {
    if (all.startsWith('/*')) return '';
    if (UNCLEAR.test(all)) selectors.add('*');
    return all;
  });
  for (const block of text.split('}')) {
    const parts = block.split('{');
    const [first = ''] = parts;
    const declarations = parts.length === 1 ? first : first.slice(0, first.lastIndexOf(';') + 1);
    if (isDrawnFirst(declarations)) selectors.add('*');
    for (const [index, rules] of parts.entries()) {
      const before = parts[index - 1];
      if (before === undefined || !isDrawnFirst(rules)) continue;
      const written = before.slice(before.lastIndexOf(';') + 1).trim();
      const selector = written.replace(PSEUDO_ELEMENT, '');
      if (KEYFRAMES.test(selector)) continue;
      const isPlain = PLAIN_SELECTOR.test(written) && !/:scope/i.test(written);
      if (isPlain && OTHERS_SELECTOR.test(selector) && !FORGIVING.test(selector)) continue;
      selectors.add(isPlain ? selector : '*');
    }
  }
  if (selectors.size > MAX_SELECTORS) selectors.add('*');
}

type Judged = WrittenCss | undefined;
/** Sheets of a framework, which come with each document of a kind, by their hashes; the last one last. */
const knownSheets = new Map<string, Judged>();
const MAX_KNOWN_SHEETS = 4;
const LONG_SHEET = 16 * 1024;

/** @returns undefined if it may fetch something */
export function judgeSheet(css: string): Judged {
  if (css.length < LONG_SHEET || css.length > MAX_CSS_LENGTH) return lookThrough(css);
  const digest = hash('sha256', css);
  // A copy: a part of a text keeps all of its document in memory.
  const judged = knownSheets.has(digest)
    ? knownSheets.get(digest)
    : lookThrough(Buffer.from(css).toString());
  knownSheets.delete(digest);
  knownSheets.set(digest, judged);
  const [oldest] = knownSheets.keys();
  if (oldest !== undefined && knownSheets.size > MAX_KNOWN_SHEETS) knownSheets.delete(oldest);
  return judged;
}

function lookThrough(css: string): Judged {
  if (css.length > MAX_CSS_LENGTH) return undefined;
  const text = unescaped(css);
  if (CSS_FETCHES.test(text)) return undefined;
  const drawnFirst = new Set<string>();
  if (CSS_DRAWN_FIRST.test(text)) noteDrawnFirst(css, drawnFirst);
  const loads = CSS_LOADS.test(text);
  const moves = CSS_MOVES.test(text);
  return { loads, moves, leaves: loads || moves || CSS_LEAVES.test(text), drawnFirst };
}
