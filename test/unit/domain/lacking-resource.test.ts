import { test } from 'tap';
import { lackingIn, lackingInWords } from '../../../src/domain/lacking-resource.ts';

void test('the sentence about a resource says what it was made of', (t) => {
  for (const lacking of [
    { url: 'style.css', reason: 'No file of this name came with the page' },
    { url: 'https://example.com/y.png', reason: 404 },
    { url: 'http://no.example/', reason: 'The server has said: "No. Never"' },
    { url: `https://example.com/${'x'.repeat(130)}…`, reason: 'ERR_FAILED' },
  ]) {
    t.strictSame(lackingIn(lackingInWords(lacking)), lacking);
  }
  const cut = `a.css could not be loaded: ${'x'.repeat(900)}…`;
  t.strictSame(
    lackingIn(cut),
    { url: 'a.css', reason: 'x'.repeat(900) },
    'also where it was cut off',
  );
  for (const other of [
    'The page reported an error: a.css could not be loaded: no.',
    'The network was not quiet after 5 s.',
  ]) {
    t.equal(lackingIn(other), undefined);
  }
  t.end();
});
