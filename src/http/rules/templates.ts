/**
 * Headers and footers may load nothing: Chrome prints them without images that are elsewhere, and its tab
 * crashes on a style sheet or font that is. Both are told at once rather than seen in the PDF, or not.
 */
import { Tokenizer, type TokenHandler } from 'parse5';
import type { Issues } from '../schemas/issues.ts';

const ELSEWHERE = 'Cannot load anything: put styles into it, and images and fonts as data: URLs.';

/** Attributes whose addresses are fetched; of `href` those that are more than a link. */
const FETCHED = new Set(['src', 'srcset', 'poster', 'background', 'data']);
const HREF_IS_FETCHED = new Set(['link', 'use', 'image', 'feimage']);

const isHere = (address: string): boolean => /^\s*(?:data:|#|$)/i.test(address);

/** Text as CSS reads it: without comments and escapes. */
function cssText(text: string): string {
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

const ignore = (): void => {};

/** Adds to `issues` what is wrong with the template in that field. */
export function checkTemplate(issues: Issues, field: string, template: string): void {
  let fetches = stylesFetch(template);
  let decoded = '';
  const text = ({ chars }: { readonly chars: string }): void => {
    decoded += chars;
  };
  const handler: TokenHandler = {
    onStartTag: ({ tagName, attrs }) => {
      for (const { name, value } of attrs) {
        const isHref = name === 'href' || name === 'xlink:href';
        const fetched = FETCHED.has(name) || (isHref && HREF_IS_FETCHED.has(tagName.toLowerCase()));
        if (fetched && !isHere(value)) fetches = true;
        if (name === 'style' && stylesFetch(value)) fetches = true;
      }
    },
    onCharacter: text,
    onWhitespaceCharacter: text,
    onEndTag: ignore,
    onComment: ignore,
    onDoctype: ignore,
    onEof: ignore,
    onNullCharacter: ignore,
  };
  new Tokenizer({ sourceCodeLocationInfo: false }, handler).write(template, true);
  // In SVG, the text of a style sheet may be written with entities.
  if (fetches || stylesFetch(decoded)) issues.add(field, ELSEWHERE);
}
