import { test } from 'tap';
import { mustBeSignedAsAsked } from '../../verifier/verify-evidence.mjs';

const signature = { level: 'B-B', certificate: 'c' };

const check = (asked: object, ended: object, made?: object) => () => {
  mustBeSignedAsAsked('events.jsonl', [
    { type: 'ConversionRequested', data: asked },
    ...(made === undefined ? [] : [{ type: 'SignatureMade', data: made }]),
    { type: 'ConversionCompleted', data: { attempt: 2, ...ended } },
  ]);
};

void test('evidence of a PDF has the signature that its request asks for, made for its try', (t) => {
  const asked = { signedBy: 'account' };
  const made = { attempt: 2, ...signature };
  t.doesNotThrow(check({}, {}));
  t.doesNotThrow(check(asked, { signature }, made));
  t.throws(check({}, { signature }, made), { message: /is signed/ }, 'nobody asked for it');
  t.throws(check(asked, {}, made), { message: /is signed/ }, 'it lacks');
  t.throws(check(asked, { signature }), { message: /made for its try/ }, 'nobody made it');
  for (const other of [{ attempt: 1 }, { level: 'B-T' }, { certificate: 'd' }]) {
    const wrong = check(asked, { signature }, { ...made, ...other });
    t.throws(wrong, { message: /made for its try/ }, JSON.stringify(other));
  }
  t.end();
});
