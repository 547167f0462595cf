/**
 * Judges the inline scripts of HTML that may be written into a window, where a document has no origin of its own. Judged by
 * the words in their text, and rather no than yes: a word that may lead to the origin, to an address, to storage, to the
 * network or to the window's age is a no.
 */

// A name with `\w*` at its beginning takes `$` at its end, too. Else each part of a long name would be tried: the text is a
// stranger's, and a pattern is to take time in proportion to it.
const words = (text: string): string => text.replaceAll(' ', '|');

const ADDRESSES = words(
  'location origin\\w* URL\\w* \\w*URI referrer domain links src\\w* href url action formAction poster object embed ' +
    'protocol host hostname pathname search hash',
);
const KEPT = words('cookie\\w* \\w*[sS]torage[\\w$]* indexedDB caches history navigat\\w+ locks');
const NETWORK = words(
  'fetch\\w* XMLHttp\\w* import \\w*Worker[\\w$]* EventSource WebSocket\\w* \\w*RTC[\\w$]+ BroadcastChannel postMessage ' +
    'Audio image-set clientInformation',
);
const ACTS = words(
  'open\\w* close stop write\\w* submit requestSubmit reload click dispatchEvent http-?[eE]quiv',
);
/** Names that tell of a load, or of the time when the window was made. */
const AGE = words(
  'timing timeOrigin timeStamp timeline measure getEntries\\w* PerformanceObserver currentTime startTime toJSON lastModified ' +
    '(?:on)?page(?:show|hide|reveal|swap) (?:on)?(?:before)?unload',
);
const SETTINGS = words(
  'isSecureContext subtle credentials permissions queryLocalFonts c\\w*[sS]et inputEncoding contentType',
);
/** Names by which a script reaches what its text does not name. */
const HIDES = words(
  'eval Function constructor Reflect Proxy with self globalThis frames opener defaultView ownerDocument stack filename onerror',
);
const NAMED = new RegExp(
  `(?<![\\w$])(?:${[ADDRESSES, KEPT, NETWORK, ACTS, AGE, SETTINGS, HIDES].join('|')})(?![\\w$])`,
);
// The window and the document by another name, or their properties by a text.
const UNNAMED =
  /(?<![\w$])(?:window(?![\w$]|\s*\.\s*[A-Za-z_$])|document(?![\w$]|\s*\??\.\s*[A-Za-z_$])|this(?![\w$]|\s*\??\.\s*[A-Za-z_$#])|window\s*\.\s*(?:top|parent|window)\b)|(?<![.\w$'"`-])(?:top|parent)(?!\s*[:\w$-])/;
// Markup and style sheets that fetch, in small letters or capitals, and an attribute whose name the text does not give: it may
// be one that fetches.
const FETCHES =
  /\bsrc\w*\s*=|\bhref\s*=|(?<![.\w$-])background=|image-set\(|\burl\(|\bdataset\b|\bsetAttribute\w*\s*\(\s*(?!['"])/i;
// Makes another script, which nobody judged.
const MAKES_SCRIPT = /['"`]script['"`]/i;
// Asks to print. Chrome puts that off while a document loads, and tells the listeners once more.
const PRINTS = /(?<![\w$])print\s*\(/;
// An ASCII character by its number may be one of a name.
const ESCAPED = /\\u00[0-7]|\\u\{0*[0-7]?[0-9a-f]\}|\\x[0-7]/i;
/** A text in which a parser may read another script. */
const NESTED = /<!--|<script/i;

/** True if a script may run as it would at an address of its own, where there is none. */
export const needsNoOrigin = (script: string): boolean =>
  ![NAMED, UNNAMED, FETCHES, MAKES_SCRIPT, PRINTS, ESCAPED, NESTED].some((each) =>
    each.test(script),
  );
