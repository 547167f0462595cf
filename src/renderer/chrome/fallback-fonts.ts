/**
 * The font that Chrome falls back to for a character that no named font has. A renderer process keeps it by
 * the character alone, whatever the language was that it was chosen for. So a Korean text after a Japanese
 * one would be set in the Japanese font. (Chrome 156, `unicode_font_families_` of
 * `child_process_sandbox_support_impl_linux.cc`.)
 */
import type { RequestDocument } from '../../domain/request-document.ts';
import { withoutData } from './own-data.ts';

/**
 * - `none`: it needs no such font.
 * - `mixed`: it may need some, and its languages are several, or not known.
 * - any other text: the one language that it needs them for.
 */
export type FallbackLanguage = 'none' | 'mixed' | `lang ${string}`;

/** True if a document may be set in a process in which the other one was. */
export function mayFollow(before: FallbackLanguage | undefined, next: FallbackLanguage): boolean {
  if (before === undefined || before === 'none' || next === 'none') return true;
  return before === next && next !== 'mixed';
}

// Characters that every standard font has: Latin, Greek, Cyrillic, and the usual punctuation.
const UNUSUAL = /[^\0-\u024f\u0370-\u03ff\u0400-\u045f\u2010-\u203a\u20ac\u2116\u2122\ufeff]/;
// A character by its number: a reference, or an escape of a script or a style sheet. Less than three digits are Latin.
const NUMBERED = /&#(\d+)|(?:&#x|\\u\{)([0-9a-f]+)|\\u([0-9a-f]{4})|\\([0-9a-f]{3,6})/gi;
// A reference by name but to Latin and the usual punctuation. Those that need no semicolon are Latin.
const NAMED =
  /&(?!(?:amp|AMP|lt|LT|gt|GT|quot|apos|nbsp|shy|copy|reg|trade|euro|pound|yen|cent|sect|para|deg|middot|bull|hellip|[nm]dash|times|szlig|[lr][as]quo|[lrb]dquo|sbquo|[A-Za-z](?:acute|grave|circ|uml|tilde|cedil|ring|slash|caron));)[A-Za-z][A-Za-z0-9]*;/;
// The same in a script, where "a && b;" names nothing.
const NAMED_IN_SCRIPT = new RegExp(`(?<!&)${NAMED.source}`);
const SCRIPT_TAG = /<(\/?)script(?![\w-])/gi;
// Characters that a script makes, also of a reference's parts.
const MADE =
  /fromC(?:har|ode)|atob|unescape|decodeURI|TextDecoder|\\u(?!\{?[0-9a-f])|&#(?!\d|x[0-9a-f])/i;
// A script may have dates and numbers written in another script: "ja-JP", ("ja"), lang=ja. A short name alone is often
// something else.
const LOCALIZED = /toLocale|Intl\b/;
const CODES =
  '(?:am|ar|as|bn|bo|ckb|dv|dz|fa|gu|he|hi|hy|ja|ka|km|kn|ko|lo|ml|mn|mr|my|ne|or|pa|ps|sa|sd|si|ta|te|th|ti|ug|ur|yi|yue|zh)';
const OTHER_SCRIPT = new RegExp(
  `["'\`]${CODES}-[a-z]|[([]\\s*["'\`]${CODES}["'\`]|lang\\s*=\\s*["']?${CODES}\\b`,
  'i',
);
// A language that is set in another way than by a literal attribute, and mathematics, which is one of its own.
const LANGUAGE_BY_OTHER_MEANS =
  /content-language|-webkit-locale|<math|(?<![-\w])lang\b(?!\s*=\s*["']?[\w-]*["'\s>])/i;
const LANGUAGE = /(?<![-\w])lang\s*=\s*["']?([\w-]*)/gi;

// Names of files without text. Any other file is read, and rather counts as text when it is none.
const WITHOUT_TEXT = /\.(?:avif|bmp|gif|ico|jpe?g|mp4|otf|png|ttf|wasm|webm|webp|woff2?)$/i;
/** Text in an encoding that says so by characters of ASCII alone, such as ISO-2022-JP. */
const SHIFTED = '\x1b';
const SVG_DATA = /data:image\/svg\+xml[^,"'<>\s]{0,60};base64,([\w+/=]+)/gi;
const CODE = /\.(?:css|json|m?js)$/i;
// Parts that come over the network: of the document itself, of its styles, and by an address in a script. The text is a
// stranger's: what follows a tag's name ends at the next tag, and no two parts may match the same spaces, so that each
// pattern takes time in proportion to it.
const REMOTE =
  /(?:\s(?:src|srcset|data|poster|xlink:href)\s*=|<(?:link|base|image|use|feImage)\b[^<>]*\shref\s*=|\burl\s*[(=]|@import)\s*(?:(?:["']|&quot;|&#39;)\s*)?(?:https?:)?\/\//i;
const REMOTE_ADDRESS = /["'`](?:https?:)?\/\/(?!www\.w3\.org\/)/i;

/** The language of the fallback fonts that a document may ask for, and of those that it leaves in its process. */
export interface FallbackUse {
  readonly needs: FallbackLanguage;
  /** The language that it leaves where it uses no network. The process of any other document ends with it. */
  readonly leaves: FallbackLanguage;
}

/** Judged by the text, and rather `mixed` than one language too few. */
export function fallbackUseOf(request: RequestDocument): FallbackUse {
  if (request.html === undefined) return { needs: 'mixed', leaves: 'mixed' };
  const { html, files = {}, header_html = '', footer_html = '' } = request;
  const parts = [header_html, footer_html];
  for (const [name, content] of Object.entries(files)) parts.push(textOf(name, content));
  for (const each of [html, ...parts]) {
    for (const [, svg = ''] of each.matchAll(SVG_DATA)) parts.push(decoded(svg));
  }
  const text = withoutData([html, ...parts].join('\n'));
  const isPlain = parts.join('') === '';
  const leaves = languageOf(text, html, isPlain);
  return { needs: mayFetch(text) ? 'mixed' : leaves, leaves };
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

/** The text of a file that came with the page, in base64. Code counts as that of a script. */
function textOf(name: string, content: string): string {
  if (WITHOUT_TEXT.test(name)) return '';
  const text = decoded(content).replaceAll(SHIFTED, '\ufffd');
  return CODE.test(name) ? `<script>${text}</script>` : text;
}

/** @param isPlain true where the text is that of the HTML alone */
function languageOf(text: string, html: string, isPlain: boolean): FallbackLanguage {
  if (!hasUnusual(text)) return 'none';
  if (LANGUAGE_BY_OTHER_MEANS.test(text)) return 'mixed';
  const languages = new Set(
    Array.from(text.matchAll(LANGUAGE), ([, name = '']) => name.toLowerCase()),
  );
  const [language = '', another] = languages;
  // A text without a language may come before one that has a language, or after it.
  const isWhole = languages.size === 0 || /<html[^>]{0,200}\slang\s*=/i.test(html);
  if (another !== undefined || !isWhole || !isPlain) return 'mixed';
  return `lang ${language}`;
}

/** True if text may come over the network, of which nobody knows the characters. Links do not count. */
function mayFetch(text: string): boolean {
  const parts = text.replaceAll(/<a\s[^<>]*>/gi, '');
  return REMOTE.test(parts) || (/<script/i.test(parts) && REMOTE_ADDRESS.test(parts));
}

/** True if characters that need a fallback font may be in the text, or come of it. */
function hasUnusual(text: string): boolean {
  if (UNUSUAL.test(text) || MADE.test(text)) return true;
  if (LOCALIZED.test(text) && OTHER_SCRIPT.test(text)) return true;
  for (const [, decimal, ...hex] of text.matchAll(NUMBERED)) {
    const digits = hex.find((each) => each !== undefined) ?? '';
    const code = decimal === undefined ? Number.parseInt(digits, 16) : Number(decimal);
    if (code > 0x10ffff || UNUSUAL.test(String.fromCodePoint(code))) return true;
  }
  return NAMED_IN_SCRIPT.test(text) || NAMED.test(withoutScripts(text));
}

function withoutScripts(text: string): string {
  let kept = '';
  let from: number | undefined = 0;
  for (const { index, 1: slash } of text.matchAll(SCRIPT_TAG)) {
    if (slash === '' && from !== undefined) {
      kept += text.slice(from, index);
      from = undefined;
    } else if (slash === '/') from ??= index;
  }
  return from === undefined ? kept : kept + text.slice(from);
}
