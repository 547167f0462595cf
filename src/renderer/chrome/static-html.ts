/**
 * Judges HTML that can be written into a window that is there already: no script can run in it but inline ones that need
 * no origin, and nothing outside it can be fetched. Judged by its tags, and rather no than yes: a tag that is not written
 * plainly, an element or a function of CSS that is not known here is a no. The text is a stranger's, so that each pattern
 * here takes time in proportion to it.
 */
import { needsNoOrigin } from './inline-script.ts';
import { withoutData } from './own-data.ts';
import { judgeSheet, type WrittenCss } from './static-css.ts';

export interface WrittenHtml extends WrittenCss {
  /** The doctype, which sets the mode of layout; empty without one. */
  readonly doctype: string;
  /** True if it has scripts. */
  readonly runs: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

// Text, SVG and MathML. They leave nothing in their window.
const PLAIN_ELEMENTS = words(
  'html head title meta style body address article aside footer header h1 h2 h3 h4 h5 h6 hgroup main nav section ' +
    'search blockquote dd div dl dt figcaption figure hr li menu ol p pre ul a abbr b bdi bdo br cite code data ' +
    'dfn em i kbd mark q rp rt ruby s samp small span strong sub sup time u var wbr area map del ins caption col ' +
    'colgroup table tbody td tfoot th thead tr label legend fieldset details summary center font big tt strike ' +
    'dir acronym nobr svg g defs symbol path rect circle ellipse line polyline polygon text tspan textpath ' +
    'lineargradient radialgradient stop clippath mask pattern marker filter feblend fecolormatrix ' +
    'fecomponenttransfer fecomposite feconvolvematrix fediffuselighting fedisplacementmap fedistantlight ' +
    'fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur femerge femergenode femorphology ' +
    'feoffset fepointlight fespecularlighting fespotlight fetile feturbulence desc metadata view switch ' +
    'foreignobject math mi mo mn ms mtext mspace mrow msup msub msubsup mfrac msqrt mroot mover munder ' +
    'munderover mtable mtr mtd mpadded mphantom mstyle merror mmultiscripts mprescripts semantics annotation',
);
const OTHER_ELEMENTS = words(
  'img picture source input form button select option optgroup datalist textarea meter output progress ' +
    'image feimage use animate animatetransform animatemotion set mpath canvas script',
);
const ANIMATIONS = words('animate animatetransform animatemotion set');
/** Attributes of a script that runs where it stands. */
const SCRIPT_ATTRIBUTE = /^(?:type|id|class|data-.*)$/;
const SCRIPT_TYPES = words(' text/javascript application/javascript');
const SCRIPT_END = /<\/script/gi;
/** Elements whose text the parser does not read as tags, at least outside SVG. */
const RAW_TEXT = words('title style textarea');

/** Attributes of no effect but on text, links and forms. */
const INERT_ATTRIBUTE =
  /^(?:(?:aria|data)-.*|xmlns.*|xml:.*|alt|title|content|value|placeholder|label|summary|class|id|name|for|headers|datetime|cite|rel|target|type|lang|role|abbr|action|property|itemprop|accept|pattern)$/;
const FETCHED = words(
  'src srcset href xlink:href background poster data lowsrc dynsrc imagesrcset',
);
const NEVER_ATTRIBUTE =
  /^(?:on.*|srcdoc|ping|attributionsrc|manifest|is|autofocus|popover.*|contenteditable|shadowroot.*|xml:base|formaction|commandfor|command)$/;
const LEAVING_ATTRIBUTE = words('link alink vlink background');
/** A `meta` of another name leaves something in its window, or is a no where it acts as a header. */
const PLAIN_META = words('author description generator keywords robots viewport');
const HARMLESS_HEADER = words('content-type x-ua-compatible');

const DATA = /^[\t\n\f\r ]*data:image\//i;
const FRAGMENT = /^[\t\n\f\r ]*#/;
const SPACE = '[\\t\\n\\f\\r ]';
const TAG = /<([a-z][^\t\n\f\r />\0]*)/iy;
const END_TAG = new RegExp(`</([a-z][^\\t\\n\\f\\r />\\0]*)${SPACE}*>`, 'iy');
const TAG_END = new RegExp(`${SPACE}*/?>`, 'y');
// Names are in ASCII alone: to lower case, letters of other alphabets become ones of it.
const ATTRIBUTE = new RegExp(
  `${SPACE}*([^\\t\\n\\f\\r "'<>/=\`\\0\\x80-\\uffff]+)(${SPACE}*=${SPACE}*(["']?))?`,
  'y',
);
const UNQUOTED = /[^\t\n\f\r "'=<>`\0]+/y;
const DOCTYPE = /<!doctype[^>]{0,200}>/iy;
/** Begins a tag within raw text, for a parser that reads it as text no more. */
const MARKUP = /<[a-z/!?]/i;
const REFERRED_MARKUP = /&(?:lt|#0*60|#x0*3c);?[a-z/!?]/i;
const isMarkup = (text: string): boolean => MARKUP.test(text) || /&(?:#|[a-z])/i.test(text);

interface Found {
  leaves: boolean;
  loads: boolean;
  moves: boolean;
  runs: boolean;
  readonly drawnFirst: Set<string>;
}

/** @param css without its data @returns false if it may fetch something */
function judgeCss(css: string, found: Found): boolean {
  const judged = judgeSheet(css);
  if (judged === undefined) return false;
  found.leaves ||= judged.leaves;
  found.loads ||= judged.loads;
  found.moves ||= judged.moves;
  for (const each of judged.drawnFirst) found.drawnFirst.add(each);
  return true;
}

// A reference may be a space, which begins another URL.
const isDataSet = (value: string): boolean =>
  !value.includes('&') &&
  value.split(/[\t\n\f\r ]+/).every((each) => /^(?:data:image\/|[\d.]+[wxh],?$|,?$)/i.test(each));

function isOwnData(name: string, value: string): boolean {
  if (name === 'srcset') return isDataSet(value);
  return DATA.test(value) || (name.endsWith('href') && FRAGMENT.test(value));
}

const QUOTES = /&(?:quot|apos|#39);/g;
const AMPERSANDS = /&amp;/g;

/** @returns false if the attribute may run or fetch something */
function judgeAttribute(element: string, name: string, value: string, found: Found): boolean {
  if (NEVER_ATTRIBUTE.test(name)) return false;
  // Lazy images would keep the print waiting: `lazy-images.ts` ends that for pages that are loaded.
  if (name === 'loading') return value.toLowerCase() === 'eager';
  if (INERT_ATTRIBUTE.test(name)) return true;
  if (LEAVING_ATTRIBUTE.has(name)) found.leaves = true;
  if (name === 'href' && (element === 'a' || element === 'area')) return true;
  if (FETCHED.has(name)) {
    found.leaves = true;
    if (!FRAGMENT.test(value)) found.loads = true;
    return isOwnData(name, value);
  }
  // An animation sets an attribute to a value that was not looked at.
  if (name === 'attributename') return !/href|src|style|&/i.test(value);
  if (name !== 'style' && !/[(&]/.test(value)) return true;
  const quoted = value.replace(QUOTES, "'");
  const css = withoutData(name === 'style' ? quoted : quoted.replace(AMPERSANDS, "'"));
  return !css.includes('&') && judgeCss(name === 'style' ? css : `${name}:${css}`, found);
}

function judgeMeta(attributes: ReadonlyMap<string, string>, found: Found): boolean {
  const header = attributes.get('http-equiv')?.trim().toLowerCase();
  if (header !== undefined && !HARMLESS_HEADER.has(header)) return false;
  const name = attributes.get('name')?.trim().toLowerCase();
  if (!(name === undefined ? attributes.has('charset') : PLAIN_META.has(name))) found.leaves = true;
  return true;
}

function judgeScript(attributes: ReadonlyMap<string, string>): boolean {
  const isPlain = [...attributes.keys()].every((name) => SCRIPT_ATTRIBUTE.test(name));
  return isPlain && SCRIPT_TYPES.has((attributes.get('type') ?? '').toLowerCase());
}

function judgeElement(
  element: string,
  attributes: ReadonlyMap<string, string>,
  found: Found,
): boolean {
  if (OTHER_ELEMENTS.has(element)) found.leaves = true;
  else if (!PLAIN_ELEMENTS.has(element) && !/^[a-z][a-z0-9]*[-:][a-z0-9-]*$/.test(element))
    return false;
  const isTimed = element === 'progress' && !attributes.has('value');
  if (isTimed || ANIMATIONS.has(element)) found.moves = true;
  if (element === 'meta' && !judgeMeta(attributes, found)) return false;
  if (element === 'script') return judgeScript(attributes);
  if (element === 'style' && attributes.has('title')) found.leaves = true;
  for (const [name, value] of attributes) {
    if (!judgeAttribute(element, name, value, found)) return false;
  }
  return true;
}

/** Reads one text from its beginning to its end. Each method tells whether it could. */
class Reader {
  readonly #html: string;
  readonly #found: Found = {
    leaves: false,
    loads: false,
    moves: false,
    runs: false,
    drawnFirst: new Set(),
  };
  #at = 0;
  #doctype: string | undefined;
  /** True once a tag began SVG or MathML, where a parser reads tags and references in a script. */
  #isForeign = false;

  constructor(html: string) {
    this.#html = html;
  }

  judge(): WrittenHtml | undefined {
    const html = this.#html;
    for (let next = html.indexOf('<'); next >= 0; next = html.indexOf('<', this.#at)) {
      // Text before a doctype undoes it.
      if (this.#doctype === undefined && /[^\t\n\f\r ]/.test(html.slice(this.#at, next))) {
        this.#doctype = '';
      }
      this.#at = next;
      if (!this.#markup()) return undefined;
    }
    // A script may make markup of a text.
    if (this.#found.runs && REFERRED_MARKUP.test(html)) return undefined;
    return { ...this.#found, doctype: this.#doctype ?? '' };
  }

  #markup(): boolean {
    const html = this.#html;
    const second = html.charAt(this.#at + 1);
    if (second === '!') return this.#declaration();
    if (second === '?') return this.#skipPast('>');
    // A tag or a sign before a doctype undoes it, too.
    this.#doctype ??= '';
    if (second === '/') return this.#match(END_TAG) !== undefined;
    if (/[a-z]/i.test(second)) return this.#tag();
    // A single sign.
    this.#at += 1;
    return true;
  }

  #declaration(): boolean {
    const html = this.#html;
    if (html.startsWith('<!--', this.#at)) {
      this.#at += 4;
      return !/^-?>/.test(html.slice(this.#at, this.#at + 2)) && this.#comment();
    }
    const doctype = this.#match(DOCTYPE)?.[0];
    if (doctype !== undefined) {
      this.#doctype ??= doctype.toLowerCase();
      return true;
    }
    return (
      !/^<!(?:\[CDATA|doctype)/i.test(html.slice(this.#at, this.#at + 9)) && this.#skipPast('>')
    );
  }

  #comment(): boolean {
    const from = this.#at;
    return this.#skipPast('-->') && !this.#html.slice(from, this.#at).includes('--!>');
  }

  #tag(): boolean {
    const element = this.#match(TAG)?.[1]?.toLowerCase();
    if (element === undefined) return false;
    const attributes = new Map<string, string>();
    let end = this.#match(TAG_END);
    for (; end === undefined; end = this.#match(TAG_END)) {
      const [, name, hasValue, quote] = this.#match(ATTRIBUTE) ?? [];
      if (name === undefined) return false;
      const value = hasValue === undefined ? '' : this.#value(quote ?? '');
      if (value === undefined) return false;
      const lower = name.toLowerCase();
      // The first one counts.
      if (!attributes.has(lower)) attributes.set(lower, value);
    }
    if (!judgeElement(element, attributes, this.#found)) return false;
    this.#isForeign ||= element === 'svg' || element === 'math';
    // With a slash, a script is empty in SVG, and begins like any other in HTML.
    if (element === 'script') return !end[0].includes('/') && this.#script();
    return !RAW_TEXT.has(element) || this.#rawText(element);
  }

  #value(quote: string): string | undefined {
    if (quote === '') return this.#match(UNQUOTED)?.[0];
    const from = this.#at;
    return this.#skipPast(quote) ? this.#html.slice(from, this.#at - 1) : undefined;
  }

  #script(): boolean {
    const from = this.#at;
    SCRIPT_END.lastIndex = from;
    const end = SCRIPT_END.exec(this.#html)?.index;
    if (end === undefined) return false;
    this.#at = end;
    this.#found.runs = true;
    if (this.#match(END_TAG)?.[1]?.toLowerCase() !== 'script') return false;
    const script = this.#html.slice(from, end);
    return !(this.#isForeign && isMarkup(script)) && needsNoOrigin(script);
  }

  /** Text that is the same to a parser that reads tags in it and to one that does not. */
  #rawText(element: string): boolean {
    const from = this.#at;
    const end = this.#html.indexOf('</', from);
    if (end < 0) return false;
    const text = this.#html.slice(from, end);
    this.#at = end;
    if (this.#match(END_TAG)?.[1]?.toLowerCase() !== element) return false;
    if (element !== 'style') return !MARKUP.test(text);
    const css = withoutData(text);
    return !isMarkup(css) && judgeCss(css, this.#found);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#html) ?? undefined;
    if (match !== undefined) this.#at = pattern.lastIndex;
    return match;
  }

  #skipPast(end: string): boolean {
    const at = this.#html.indexOf(end, this.#at);
    if (at < 0) return false;
    this.#at = at + end.length;
    return true;
  }
}

/** @returns undefined where the HTML must be loaded like a page of the web */
export function judgeHtml(html: string): WrittenHtml | undefined {
  return html.includes('\0') ? undefined : new Reader(html).judge();
}
