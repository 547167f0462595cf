import fc from 'fast-check';
import { test } from 'tap';
import { isBase64 } from '../../../src/requests/files.ts';

/** The form as RFC 4648 says it, however long a text takes. */
const hasForm = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

void test('base64 is told from all that decoding would pass over', (t) => {
  const character = fc.constantFrom(...'AZaz09+/-_= \n\u0141\u0441é\u{1f600}'.split(''));
  const almost = fc
    .tuple(fc.base64String({ minLength: 4, maxLength: 200 }), fc.nat(), character)
    .map(([text, at, put]) => {
      const place = at % text.length;
      return text.slice(0, place) + put + text.slice(place + 1);
    });
  const texts = fc.oneof(
    fc.base64String(),
    almost,
    fc.array(character, { maxLength: 12 }).map((each) => each.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => isBase64(text) === hasForm(text)),
    { numRuns: 5000 },
  );
  t.ok(isBase64(Buffer.alloc(100_000, 7).toString('base64')));
  t.end();
});
