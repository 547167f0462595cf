import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import type { ValidationIssues } from '../validation.ts';

/**
 * Finds the first start tag of a text as the HTML standard's tokenizer would
 * (https://html.spec.whatwg.org/multipage/parsing.html#tokenization), in one pass that keeps nothing.
 * A tokenizer keeps what it reads of a name: a tag that never ends would cost many times its length.
 */

const [QUOTATION_MARK, APOSTROPHE] = [0x22, 0x27];
const [DASH, SLASH, OPEN, EQUALS, CLOSE] = [0x2d, 0x2f, 0x3c, 0x3d, 0x3e];
const [EXCLAMATION_MARK, QUESTION_MARK] = [0x21, 0x3f];
const NONE = -1;

/** The place of a character in a tag. Each comes from states of the tokenizer that end in the same way. */
type Place = 'name' | 'between' | 'attribute' | 'after attribute' | 'before value' | 'value';

// The lower case of an ASCII letter; nothing else becomes one.
const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;

/** Tab, line feed, form feed, carriage return (read as a line feed) or space. */
const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;

function afterSpace(place: Place): Place {
  if (place === 'attribute' || place === 'after attribute') return 'after attribute';
  return place === 'before value' ? place : 'between';
}

function afterOther(place: Place): Place {
  if (place === 'name') return place;
  return place === 'before value' || place === 'value' ? 'value' : 'attribute';
}

/** The index of the `>` that ends the tag whose name begins at `from`. A quoted value may hold others. */
function endOfTag(html: string, from: number): number {
  let place: Place = 'name';
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at);
    if (code === CLOSE) return at;
    if (isSpace(code)) place = afterSpace(place);
    else if (code === SLASH && place !== 'before value' && place !== 'value') place = 'between';
    else if (code === EQUALS && (place === 'attribute' || place === 'after attribute')) {
      place = 'before value';
    } else if (place === 'before value' && (code === QUOTATION_MARK || code === APOSTROPHE)) {
      at = html.indexOf(code === APOSTROPHE ? "'" : '"', at + 1);
      if (at === NONE) return NONE;
      place = 'between';
    } else place = afterOther(place);
  }
  return NONE;
}

/** The index of the `>` that ends the comment whose text begins at `from`. */
function endOfComment(html: string, from: number): number {
  if (html.charCodeAt(from) === CLOSE) return from;
  if (html.startsWith('->', from)) return from + 1;
  let dashes = 0;
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at);
    if (dashes >= 2 && code === CLOSE) return at;
    if (dashes >= 2 && code === EXCLAMATION_MARK && html.charCodeAt(at + 1) === CLOSE)
      return at + 1;
    dashes = code === DASH ? dashes + 1 : 0;
  }
  return NONE;
}

/** The index of the `>` that ends what is not a start tag at the `<` of this index; `at` for a mere `<`. */
function endOfOther(html: string, at: number): number {
  const next = html.charCodeAt(at + 1);
  if (next === SLASH && isLetter(html.charCodeAt(at + 2))) return endOfTag(html, at + 2);
  if (html.startsWith('<!--', at)) return endOfComment(html, at + 4);
  // A doctype, or what the standard calls a bogus comment: even a quoted `>` ends these.
  if (next === EXCLAMATION_MARK || next === QUESTION_MARK || next === SLASH) {
    return html.indexOf('>', at + 2);
  }
  return at;
}

/**
 * Says whether the text, read as HTML, has an element that its author wrote: any text at all parses to a
 * document, so that plain text sent by mistake would pass otherwise. Some 30 ms for 5 MiB at worst.
 */
export function hasElement(html: string): boolean {
  for (let at = 0; at < html.length; at += 1) {
    if (html.charCodeAt(at) !== OPEN) continue;
    if (isLetter(html.charCodeAt(at + 1))) return endOfTag(html, at + 1) !== NONE;
    at = endOfOther(html, at);
    if (at === NONE) return false;
  }
  return false;
}

/**
 * Headers and footers may load nothing: Chrome prints them without images that are elsewhere, and its tab
 * crashes on a style sheet or font that is. Both are refused at once.
 */

const ELSEWHERE = 'Cannot load anything: put styles into it, and images and fonts as data: URLs.';

/** Attributes whose addresses are fetched; of `href` those that are more than a link. */
const FETCHED = new Set(['src', 'srcset', 'poster', 'background', 'data']);
const HREF_IS_FETCHED = new Set(['link', 'use', 'image', 'feimage']);

const isHere = (address: string): boolean => /^\s*(?:data:|#|$)/i.test(address);

/** Text as CSS reads it: without comments and escapes. */
export function cssText(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?(?:\*\/|$)/g, '')
    .replaceAll(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, code?: string, plain?: string) => {
      const point = Number.parseInt(code ?? '', 16);
      return plain ?? (point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '');
    });
}

function stylesFetch(text: string): boolean {
  const css = cssText(text);
  if (/@import/i.test(css)) return true;
  const addresses = css.matchAll(/(?:url\(\s*|image-set\(\s*)["']?([^"')]{0,20})/gi);
  return [...addresses].some(([, address = '']) => !isHere(address));
}

/** Adds to `issues` what is wrong with the template in that field. */
export function checkTemplate(issues: ValidationIssues, field: string, template: string): void {
  // A list rather than recursion: a template may nest its elements deeply.
  const nodes: DefaultTreeAdapterTypes.Node[] = [parseFragment(template)];
  for (const node of nodes) {
    if ('attrs' in node && elementFetches(node)) {
      issues.add(field, ELSEWHERE);
      return;
    }
    if ('childNodes' in node) for (const child of node.childNodes) nodes.push(child);
    if ('content' in node) nodes.push(node.content);
  }
}

function elementFetches(element: DefaultTreeAdapterTypes.Element): boolean {
  const { tagName, attrs, childNodes } = element;
  if (tagName === 'style') {
    const texts = childNodes.map((each) => ('value' in each ? each.value : ''));
    if (stylesFetch(texts.join(''))) return true;
  }
  return attrs.some(({ name, prefix, value }) => {
    const isHref = name === 'href' && (prefix === undefined || prefix === '' || prefix === 'xlink');
    const isFetched = FETCHED.has(name) || (isHref && HREF_IS_FETCHED.has(tagName.toLowerCase()));
    return (isFetched && !isHere(value)) || (name === 'style' && stylesFetch(value));
  });
}
