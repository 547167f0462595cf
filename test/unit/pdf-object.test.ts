import { test } from 'tap';
import { objectEnd } from '../../src/pdf/reader.ts';

void test('an object ends at its own endobj, whatever its strings hold', (t) => {
  const objects = [
    '<</Count 1>>\n',
    '<</Title (endobj)>>\n',
    '<</Title (a \\) endobj \\( \\\\)>>\n',
    '<</Title (a (b (endobj)) endobj)>>\n',
    '<</Title (% endobj)/A <</B (<< endobj)>>>>\n',
    '<</Title <FEFF 0065>/ID [<00> <01>]>>\n',
    '[1 0 R 2 0 R]\n',
    '(endobj)\n',
  ];
  for (const object of objects) {
    t.equal(objectEnd(`${object}endobj\n7 0 obj\n(endobj)\nendobj`), object.length, object);
    for (let cut = 0; cut < object.length; cut += 1) {
      if (objectEnd(object.slice(0, cut)) !== undefined) t.fail(`${object} cut at ${cut}`);
    }
  }
  t.end();
});

void test('a string of millions of characters is read over', (t) => {
  const object = `<</Title (${'\\(a'.repeat(1_000_000)})>>\n`;
  t.equal(objectEnd(`${object}endobj`), object.length);
  t.end();
});
