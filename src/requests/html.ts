import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import type { ValidationIssues } from './validation.ts';

/**
 * The patterns below read tokens as the HTML standard's tokenizer does
 * (https://html.spec.whatwg.org/multipage/parsing.html#tokenization). A real tokenizer keeps what it reads of a name: a
 * tag that never ends would cost many times its length. Each pattern takes what it has read for good, so that a text
 * is read in linear time. Unlike `\s`, `[\t\n\f\r ]` is what HTML takes for space.
 */

/** The name of a start tag or an end tag. */
const TAG = /<\/?[a-z][^\t\n\f\r />]*/iy;
/**
 * Text, comments, doctypes and what the standard calls bogus comments: even a quoted `>` ends the last two. As many at a
 * time as the stack of the pattern holds with ease.
 */
const NO_TAGS =
  /(?:[^<]+|<!--(?:-?>|.*?(?:--!?>|$))|<(?:[!?]|\/(?![a-z]))[^>]*>?|<(?![a-z/])){1,1000}/isy;
/** Spaces, and attributes with their values. A quoted value may hold `>`. */
const IN_TAG =
  /(?:[\t\n\f\r /]+|[^\t\n\f\r />][^\t\n\f\r />=]*(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"?|'[^']*'?|[^\t\n\f\r "'>][^\t\n\f\r >]*)?)?){1,1000}/y;

/** Returns the index behind the text that the pattern finds at `at`, or `at` if it finds none. */
function endOf(pattern: RegExp, html: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(html) ? pattern.lastIndex : at;
}

/**
 * Says whether the text, read as HTML, has an element that its author wrote. Any text at all parses to a
 * document, so that plain text sent by mistake would pass otherwise.
 */
export function hasElement(html: string): boolean {
  let at = 0;
  while (at < html.length) {
    const name = at;
    at = endOf(TAG, html, name);
    if (at === name) {
      at = endOf(NO_TAGS, html, at);
      continue;
    }
    for (let from = -1; at > from; ) {
      from = at;
      at = endOf(IN_TAG, html, from);
    }
    if (at < html.length && html[name + 1] !== '/') return true;
    at += 1;
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
