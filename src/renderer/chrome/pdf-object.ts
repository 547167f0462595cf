/**
 * Where an object of a PDF ends. Strings and streams may hold any bytes, also `endobj`, so they are
 * read over as such (ISO 32000-1, 7.2 and 7.3).
 */

/** Each but the first kind begins a stretch that its own end alone ends. */
const TOKEN = /endobj|stream\r?\n|<<|>>|[(<%]/g;
/** What decides where a literal string ends; an escaped character never does. */
const IN_STRING = /\\[\s\S]|[()]/g;

/**
 * @param text from the object's content on, a byte for each character
 * @returns the place of its `endobj`; undefined where the text ends before it does
 */
export function objectEnd(text: string): number | undefined {
  let at: number | undefined = 0;
  while (at !== undefined) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text);
    if (!token) return undefined;
    if (token[0] === 'endobj') return token.index;
    at = after(text, token[0], TOKEN.lastIndex);
  }
  return undefined;
}

function after(text: string, token: string, at: number): number | undefined {
  switch (token) {
    case '<<':
    case '>>':
      return at;
    case '(':
      return afterString(text, at);
    case '<':
      return past(text, /[^>]*>/y, at);
    case '%':
      return past(text, /[^\r\n]*[\r\n]/y, at);
    default:
      return past(text, /[\s\S]*?endstream/y, at);
  }
}

function past(text: string, pattern: RegExp, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Parentheses in balance are part of the string; there is no other end to it. */
function afterString(text: string, start: number): number | undefined {
  IN_STRING.lastIndex = start;
  for (let depth = 1; depth > 0; ) {
    const [found] = IN_STRING.exec(text) ?? [];
    if (found === undefined) return undefined;
    if (found === '(') depth += 1;
    else if (found === ')') depth -= 1;
  }
  return IN_STRING.lastIndex;
}
