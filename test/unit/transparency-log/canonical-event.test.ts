import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'tap';
import { canonicalEvent, canonicalJson } from '../../../src/transparency-log/canonical-event.ts';
import { leafHash } from '../../../src/transparency-log/merkle-tree.ts';

void test('the samples of RFC 8785', (t) => {
  const sample = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`) as unknown;
  t.equal(
    canonicalJson(sample),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6'];
  t.strictSame(
    canonicalJson(Object.fromEntries(names.map((name) => [name, 0]))).match(/"[^"]+"/g),
    ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'].map((name) =>
      JSON.stringify(name),
    ),
    'names are in the order of UTF-16 code units',
  );
  t.equal(canonicalJson([-0, 1e21, 5e-324, 2 ** 53]), '[0,1e+21,5e-324,9007199254740992]');
  t.end();
});

void test('the order of names in a stored event makes no difference, its position is left out', (t) => {
  const event = {
    id: '018f',
    stream: 'account-1',
    revision: 3,
    position: 99n,
    type: 'CreditsGranted',
    data: { reason: 'é', credits: 10, 10: 'b', 9: 'a' },
    metadata: { schemaVersion: 1, actor: { kind: 'key', id: 'k' } },
  };
  const canonical =
    '{"data":{"10":"b","9":"a","credits":10,"reason":"é"},"id":"018f",' +
    '"metadata":{"actor":{"id":"k","kind":"key"},"schemaVersion":1},' +
    '"revision":3,"stream":"account-1","type":"CreditsGranted"}';
  t.equal(canonicalEvent(event), canonical);
  const elsewhere = {
    ...event,
    position: 1n,
    metadata: { actor: { id: 'k', kind: 'key' }, schemaVersion: 1 },
  };
  t.equal(canonicalEvent(elsewhere), canonical);
  t.end();
});

void test('whatever JSON says is kept, in one form', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      t.strictSame(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      t.equal(canonicalJson(JSON.parse(text)), text);
    }),
  );
  t.equal(canonicalJson('\ud800'), String.raw`"\ud800"`, 'half a character is an escape');
  t.equal(canonicalJson({ b: undefined, a: [undefined] }), '{"a":[null]}', 'as when it is stored');
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('x')]) {
    t.throws(() => canonicalJson({ value: [value] }), TypeError);
  }
  t.end();
});

void test('the leaf of the documentation', (t) => {
  const page = join(import.meta.dirname, '../../../docs/audit.md');
  const { canonical = '', leaf } =
    /```json\n(?<canonical>.+)\n```[^]*?`(?<leaf>[0-9a-f]{64})`/.exec(readFileSync(page, 'utf8'))
      ?.groups ?? {};
  t.equal(canonicalJson(JSON.parse(canonical)), canonical);
  t.equal(leafHash(canonical).toString('hex'), leaf);
  t.end();
});
