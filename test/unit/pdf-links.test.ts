import { test } from 'tap';
import { LinkRemover } from '../../src/pdf/links.ts';

const OWN = 'http://abc.invalid/';

/** A PDF in the form that Skia gives it: a page with these links, its content and its structure. */
function pdf(targets: readonly string[], { text = '' } = {}): string {
  const links = targets.map((_, index) => index + 10);
  const objects: readonly (readonly [number, string])[] = [
    [1, `<</Title (7 0 R /Annots [10 0 R])>>`],
    ...targets.map((target, index): [number, string] => [
      index + 10,
      '<</Type /Annot\n/Subtype /Link\n/F 4\n/Border [0 0 0]\n/Rect [1.5 2 -3 4]\n' +
        `${target.startsWith('/') ? `/Dest ${target}` : `/A <</Type /Action\n/S /URI\n/URI ${target}>>`}\n` +
        `/StructParent ${index}>>`,
    ]),
    [2, `<</Filter /DCTDecode\n/Length ${text.length}>> stream\n${text}\nendstream`],
    [
      3,
      `<</Type /Page\n/Annots [${links.map((each) => `${each} 0 R`).join(' ')}]\n/Contents 2 0 R>>`,
    ],
    [4, `<</Type /StructElem\n/S /Link\n/P 5 0 R\n/K 9 0 R>>`],
    ...links.map((link): [number, string] => [
      link + links.length,
      `<</Type /StructElem\n/S /Link\n/P 5 0 R\n/K [9 0 R <</Type /OBJR\n/Obj ${link} 0 R\n/Pg 3 0 R>>]>>`,
    ]),
    ...links.map((link): [number, string] => [
      link + 2 * links.length,
      `<</Type /StructElem\n/S /Link\n/P 5 0 R\n/K <</Type /OBJR\n/Obj ${link} 0 R\n/Pg 3 0 R>>>>`,
    ]),
  ];
  let body = '%PDF-1.4\n';
  const offsets = new Map<number, number>();
  for (const [number, content] of objects) {
    offsets.set(number, body.length);
    body += `${number} 0 obj\n${content}\nendobj\n`;
  }
  const size = 10 + 3 * links.length;
  const rows = Array.from({ length: size - 1 }, (_, index) => {
    const offset = offsets.get(index + 1);
    return offset === undefined
      ? '0000000000 65535 f \n'
      : `${`${offset}`.padStart(10, '0')} 00000 n \n`;
  });
  return (
    `${body}xref\n0 ${size}\n0000000000 65535 f \n${rows.join('')}` +
    `trailer\n<</Size ${size}>>\nstartxref\n${body.length}\n%%EOF\n`
  );
}

function cleaned(file: string, chunkBytes = file.length): string {
  const remover = new LinkRemover(OWN);
  const parts: Buffer[] = [];
  for (let at = 0; at < file.length; at += chunkBytes) {
    parts.push(remover.push(Buffer.from(file.slice(at, at + chunkBytes), 'latin1')));
  }
  return Buffer.concat([...parts, remover.end()]).toString('latin1');
}

/** The objects, by number, that the cross-reference table leads to; throws where it leads elsewhere. */
function objectsOf(file: string): Map<number, string> {
  const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)?.[1]);
  const [header = '', count] = /^xref\n0 (\d+)\n/.exec(file.slice(table)) ?? [];
  const objects = new Map<number, string>();
  for (let number = 0; number < Number(count); number += 1) {
    const row = file.slice(
      table + header.length + 20 * number,
      table + header.length + 20 * (number + 1),
    );
    const [, offset, isFree] = /^(\d{10}) (?:00000 n|65535 (f)) \n$/.exec(row) ?? [];
    if (offset === undefined) throw new Error(`${row} is not a row of a table`);
    if (isFree === undefined) {
      const [, start, content] =
        /^(\d+) 0 obj\n([^]*?)\nendobj\n/.exec(file.slice(Number(offset))) ?? [];
      if (start !== `${number}`) throw new Error(`object ${number} is not at ${offset}`);
      objects.set(number, content ?? '');
    }
  }
  return objects;
}

void test('only links to the web, to mail, to telephones and within the document stay', (t) => {
  const good = [
    '(https://a.example/b\\(c\\))',
    '(HTTP://a)',
    '(mailto:a@b)',
    '(tel:1)',
    '(sms:1)',
    '/id',
  ];
  t.equal(cleaned(pdf(good)), pdf(good));
  const bad = [
    '(javascript:a)',
    '(file:///a)',
    '(data:,a)',
    '(smb://a)',
    '(a)',
    '<66696C65>',
    '()',
  ];
  for (const target of [...bad, `(${OWN}x)`, `(data:,${'x'.repeat(5000)})`]) {
    const objects = objectsOf(cleaned(pdf(['(http://abd.invalid/)', target, '/id'])));
    t.notOk(objects.has(11), target.slice(0, 20));
    t.match(objects.get(10), '(http://abd.invalid/)');
    t.match(objects.get(12), '/Dest /id');
    t.match(objects.get(3), /\/Annots \[10 0 R\s+12 0 R\]/);
  }
  t.end();
});

void test('what stood for a removed link in the structure keeps its content and is not a link', (t) => {
  const objects = objectsOf(cleaned(pdf(['(https://a.example/)', '(file:///a)'])));
  t.match(objects.get(4), '/S /Link', 'Chrome itself writes one without a target');
  t.match(objects.get(12), '/S /Link\n/P 5 0 R\n/K [9 0 R <</Type /OBJR\n/Obj 10 0 R');
  t.match(objects.get(13), /\/S \/NonStruct\n\/P 5 0 R\n\/K \[9 0 R ?\]/);
  t.match(objects.get(15), '/S /NonStruct\n/P 5 0 R\n>>', 'one without content');
  t.end();
});

void test('a picture that looks like links, and strings, are left alone', (t) => {
  const file = pdf(['(file:///a)', '(https://a.example/)'], { text: pdf(['(file:///b)']) });
  const objects = objectsOf(cleaned(file));
  t.match(objects.get(1), '(7 0 R /Annots [10 0 R])');
  t.ok(cleaned(file).includes(`stream\n${pdf(['(file:///b)'])}\nendstream`));
  t.notOk(objects.has(10));
  t.ok(objects.has(11));
  t.end();
});

void test('wherever the stream is cut, the result is the same', (t) => {
  const targets = [
    '(file:///etc/passwd)',
    '(https://a.example/)',
    '/id',
    `(${OWN}x)`,
    `(data:,${'y'.repeat(5000)})`,
  ];
  const file = pdf(targets, { text: 'x'.repeat(5000) });
  const whole = cleaned(file);
  t.equal(objectsOf(whole).size, objectsOf(file).size - 3);
  for (const bytes of [1, 2, 7, 100, 2047, 2048, 2049, 4000])
    t.equal(cleaned(file, bytes), whole, `${bytes}`);
  t.end();
});

void test('many links, good and bad in turn', (t) => {
  const targets = Array.from({ length: 3000 }, (_, index) =>
    index % 3 === 0 ? `(https://a.example/${index})` : `(${OWN}${index})`,
  );
  const file = pdf(targets);
  const left = cleaned(file, 65_536);
  t.equal(objectsOf(left).size, objectsOf(file).size - 2000);
  t.equal(left.match(/\/Type \/OBJR/g)?.length, 2000);
  t.end();
});
