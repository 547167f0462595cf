/** The binary form of DevTools messages. `test/renderer/connection.test.ts` has them pass through a real Chrome. */
import fc from 'fast-check';
import { test } from 'tap';
import {
  decodeMessage,
  encodeMessage,
  HEADER_BYTES,
  messageLength,
} from '../../src/renderer/chrome/cbor.ts';

const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 });
/** Texts whose length needs each size of a head, also with halves of pairs. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(23, 24, 255, 256, 65_536).map((length) => 'x'.repeat(length)),
  fc.constantFrom('\ud83d', '\ude00a', 'a\ud83d\ud83d'),
);

void test('a message comes out as it went in', (t) => {
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(json, text, fc.double(), fc.integer())), (message) => {
      const bytes = encodeMessage(message);
      t.equal(messageLength(bytes), bytes.length);
      const back = decodeMessage(bytes);
      t.strictSame(back, { ...message });
    }),
  );
  t.strictSame(decodeMessage(encodeMessage({ left: undefined, list: [] })), { list: [] });
  const named = decodeMessage(encodeMessage(JSON.parse('{"__proto__":{"polluted":1}}')));
  t.ok(Object.hasOwn(Object(named), '__proto__'));
  t.equal(Object(named).polluted, undefined);
  t.throws(() => encodeMessage({ id: 1n }), { message: /bigint/ });
  t.end();
});

void test('a message that ends early, or is none, is refused', (t) => {
  const bytes = encodeMessage({ id: 1, params: { text: 'é'.repeat(300), list: [1.5, -1, null] } });
  for (let end = HEADER_BYTES; end < bytes.length; end += 1) {
    t.throws(() => decodeMessage(bytes.subarray(0, end)), `${end} bytes`);
  }
  t.equal(messageLength(Buffer.from('{"id":1}')), undefined);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      // It ends, with a value or an error.
      try {
        decodeMessage(Buffer.from(noise));
      } catch {
        return;
      }
    }),
  );
  t.end();
});
