import { test } from 'tap';
import { FixedMarks } from '../../src/pdf/fixed-marks.ts';

const PRINTED =
  "%PDF-1.4\n1 0 obj\n<</Title (of \\(D:20261126235906\\))\n/CreationDate (D:20261126235906+01'00')\n" +
  "/ModDate (D:20261126235906+01'00')>>\nendobj\n2 0 obj\n<</ID (node00000734)>>\nendobj\n" +
  '3 0 obj\n[(node00000731) (node00000734)]\nendobj\n';
const FIXED =
  "%PDF-1.4\n1 0 obj\n<</Title (of \\(D:20261126235906\\))\n/CreationDate (D:20000101000000+00'00')\n" +
  "/ModDate (D:20000101000000+00'00')>>\nendobj\n2 0 obj\n<</ID (node00000001)>>\nendobj\n" +
  '3 0 obj\n[(node00000002) (node00000001)]\nendobj\n';

const written = (parts: readonly string[]): string => {
  const marks = new FixedMarks(Date.UTC(2000, 0, 1));
  const passed = parts.map((part, n) =>
    marks.push(Buffer.from(part, 'latin1'), n === parts.length - 1),
  );
  return Buffer.concat(passed).toString('latin1');
};

void test('dates and names of elements are the same each time, wherever the bytes are cut', (t) => {
  t.equal(written([PRINTED]), FIXED);
  for (let cut = 0; cut < PRINTED.length; cut += 1) {
    const found = written([PRINTED.slice(0, cut), PRINTED.slice(cut)]);
    if (found !== FIXED) t.equal(found, FIXED, `cut at ${cut}`);
  }
  t.equal(written(PRINTED.split('')), FIXED, 'byte by byte');
  t.equal(FIXED.length, PRINTED.length, 'nothing moves');
  t.end();
});

void test('other bytes stay', (t) => {
  const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 7) % 256)).toString(
    'latin1',
  );
  t.equal(written([bytes.slice(0, 100), bytes.slice(100, 101), bytes.slice(101)]), bytes);
  t.end();
});
