/**
 * Text from outside (clients, pages, web servers) for terminals, logs and messages. Left as it is, it
 * could steer a terminal, forge a line, or show itself in another order than it is stored in.
 */

const LINE_BREAKS_AND_TABS = /[\t\n\v\f\r\x85\u2028\u2029]+/g;

/** The other control characters, and those that turn the direction of text. */
const CONTROL = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

const escapeOf = (control: string): string =>
  `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Makes text safe to show in one line: line breaks and tabs become one space, other control characters
 * and direction marks visible escapes, such as `\u001b`. Safe to apply twice.
 */
export function plainText(text: string): string {
  return text.replace(LINE_BREAKS_AND_TABS, ' ').replace(CONTROL, escapeOf);
}

/** Spaces, controls, marks of format such as the zero-width space, fillers and the blank of Braille. */
const UNSEEN = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** True if nothing of a text can be seen: it names nothing. */
export const isBlank = (text: string): boolean => UNSEEN.test(text);

/** What makes mail programs see a link in a word: of `https://x`, `www.x`, `x.com`, `a@b` or `\\\\host`. */
const LINKING = /(?:[.:@\u3002]|\/\/|\\\\)+(?=\S)/g;

/** A longer name could be a message. */
const MOST_OF_NAME = 60;

/** Makes a person's name safe to show in a mail to strangers: nothing in it becomes a link, and a long one is cut. */
export function unlinkedName(name: string): string {
  // Link finders read the wide forms of these characters, too.
  const words = name.normalize('NFKC').replace(LINKING, ' ').trim().split(/\s+/);
  const letters = Array.from(words.join(' '));
  return letters.length > MOST_OF_NAME
    ? `${letters.slice(0, MOST_OF_NAME - 1).join('')}…`
    : letters.join('');
}

/** Makes text safe to show in a page of HTML, between tags and in attributes. */
export function htmlText(text: string): string {
  return plainText(text).replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
}

/** The same characters in JSON text, but for the line feeds of its layout. */
const CONTROL_IN_JSON = /[^\P{Cc}\n]|[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** Makes JSON text safe to show: the same document, with such characters of its strings as `\u` escapes. */
export function plainJson(json: string): string {
  return json.replace(CONTROL_IN_JSON, escapeOf);
}
