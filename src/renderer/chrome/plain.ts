/**
 * Which HTML can do nothing but lie there: no script can run in it, nothing is fetched or decoded for it,
 * nothing in it moves. Such a document leaves nothing in its window, so that another one can follow it
 * there, and it is complete when it has been parsed.
 *
 * Judged by the text, and rather no than yes: the names of elements and attributes cannot be written in
 * any other way, and an escape in a style is a no. Every repetition is bounded or cannot be retried, for
 * the text is a stranger's.
 */
const NOT_PLAIN = new RegExp(
  [
    // Scripts, and whatever has a document of its own.
    '</?(?:script|i?frame|fencedframe|portal|object|embed|applet|template|noscript)',
    '(?<![a-z0-9-])on[a-z]+\\s*=',
    'javascript\\s*:',
    // What is fetched, decoded, typed into or shown later.
    '<(?:img|image|picture|source|video|audio|track|link|base|use|feimage|input|form|marquee)',
    '<(?:animate|set|mpath|dialog|canvas|select|button|textarea|plaintext|xmp|!\\[cdata|\\?)',
    '\\b(?:src|srcset|background|poster|ping|manifest)\\s*=|autofocus|popover|contenteditable',
    'url\\s*\\((?!\\s{0,9}["\']?#)|image-set|paint\\s*\\(|@(?:import|font-face|view|property)|\\\\',
    // What moves, and what the document remembers rather than an element of it.
    'animation|transition|@keyframes|http-equiv',
    '<style(?!\\s{0,9}(?:(?:type|media)\\s?=\\s?["\']?[a-z/]{1,9}["\']?)?\\s{0,9}>)',
    '<meta(?![^>]{0,99}\\b(?:charset|name\\s?=\\s?["\']?(?:author|description|generator|keywords|robots|viewport)["\'\\s]))',
    // Links relative to a place that is not there.
    '\\bhref\\s*=(?!\\s{0,9}["\']?\\s{0,9}(?:https?:|mailto:|tel:|sms:|#))',
  ].join('|'),
  'i',
);

/** Longer ones are not worth looking through. */
const MAX_LENGTH = 256 * 1024;

export function isPlain(html: string): boolean {
  return html.length <= MAX_LENGTH && !NOT_PLAIN.test(html);
}
