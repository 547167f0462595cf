import { test } from 'tap';
import { type Letter, renderLetter } from '../../src/mail/letter.ts';

const EVIL = 'a<b>&"\'\r\nBcc: eve@example.com\u0000\u202Eevil</td><script>alert(1)</script>';

void test('what people gave is text alone, wherever it stands', (t) => {
  const letter: Letter = {
    subject: EVIL,
    paragraphs: [EVIL],
    facts: [[EVIL, EVIL]],
    action: { label: EVIL, url: `https://pdf.example.com/#"><img src=x>` },
    notes: [EVIL],
    why: EVIL,
  };
  const { subject, text, html } = renderLetter(letter);
  t.notMatch(subject, /[\r\n\0\u202E]/);
  t.notMatch(text, /[\r\0\u202E]/);
  t.notMatch(text, /^Bcc:/m);
  t.notMatch(html, /<script|<img|<b>|\0|\u202E|[\r]/);
  t.equal(html.match(/<a /g)?.length, 1);
  t.end();
});

void test('a mail asks for nothing from anywhere', (t) => {
  const { html, text } = renderLetter({
    subject: 'One',
    paragraphs: ['Two'],
    action: { label: 'Three', url: 'https://pdf.example.com/four' },
    why: 'Five',
  });
  t.notMatch(html, /<(img|link|script|iframe|object|form)\b|url\(|@import|@font-face/i);
  t.same([...new Set(html.match(/https?:[^"<\s]+/g))], ['https://pdf.example.com/four']);
  t.equal(text, 'Two\n\nThree:\nhttps://pdf.example.com/four\n\n--\nFive\n');
  t.match(html, '<meta name="color-scheme" content="light dark">');
  t.end();
});
