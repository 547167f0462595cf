/** Finding 1: a page whose tag, name or comment never ends costs no memory while it is checked. */
import { test } from 'tap';
import { BASE } from '../support/api.ts';
import { ApiProcess } from '../support/api-process.ts';

const MIB = 2 ** 20;
/** One such body took a tokenizer up to 239 MiB; 20 within what is left of this ended the process. */
const HEAP_MIB = 192;
/** The 20 bodies, two of them parsed, over the process as it is without them. */
const MOST_GROWTH = 320 * MIB;
const ACCOUNTS = 4;
const PER_ACCOUNT = 5;

const times = (text: string): string =>
  text.repeat(Math.floor((4.9 * MIB) / Buffer.byteLength(text)));

const PAGES: readonly [name: string, html: string][] = [
  ['character references in a tag', `<a ${times('&#x1F600;')}`],
  ['a tag name', `<${times('a')}`],
  ['an attribute name', `<a ${times('x')}`],
  ['attributes', `<a${times(' a')}`],
  ['a comment', `<!--${times('x')}`],
  ['a comment of dashes', `<!--${times('-!')}`],
  ['a doctype', `<!doctype ${times('x')}`],
  ['a quoted doctype', `<!doctype a PUBLIC "${times('é')}`],
  ['a value', `<a b="${times('x')}`],
  ['values', `<a${times(` b='>'`)}`],
  ['astral characters', `<a ${times('\u{1f600}')}`],
  ['an instruction', `<?${times('x')}`],
  ['an end tag', `</a${times(' x')}`],
  ['end tags', times('</a x>')],
  ['tags that begin and begin', times('<')],
  ['comments', times('<!-->')],
  ['CDATA', `<![CDATA[${times(']')}`],
  ['NUL', `<a ${times('\0')}`.slice(0, MIB)],
  ['references in text', times('&amp;')],
  ['line ends', `<a ${times('\r\n')}`.slice(0, 2 * MIB)],
];

void test('20 pages without an element, at once', async (t) => {
  const api = await ApiProcess.start(t, { accounts: ACCOUNTS, heapMiB: HEAP_MIB });
  t.equal(PAGES.length, ACCOUNTS * PER_ACCOUNT);
  const before = api.peakRss();
  const answers = await Promise.all(
    PAGES.map(async ([name, html], n) => {
      const response = await fetch(`${api.origin}${BASE}/pdf/`, {
        method: 'POST',
        headers: { 'X-API-Key': api.keys[n % ACCOUNTS] ?? '', 'Content-Type': 'application/json' },
        body: JSON.stringify({ html }),
      });
      return [name, response.status, (await response.json()) as { details?: object }] as const;
    }),
  );
  for (const [name, status, { details }] of answers) {
    t.equal(status, 400, name);
    t.strictSame(Object.keys(details ?? {}), ['html'], name);
  }
  t.ok(api.running);
  const growth = api.peakRss() - before;
  t.ok(growth < MOST_GROWTH, `${Math.round(growth / MIB)} MiB more`);
});
