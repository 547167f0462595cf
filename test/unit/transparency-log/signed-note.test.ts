import { test } from 'tap';
import {
  cosignedMessage,
  openNote,
  parseVerifierKey,
  signatureLine,
  signNote,
  verifiedBy,
  verifierKey,
} from '../../../src/transparency-log/signed-note.ts';
import { newSigner } from '../../support/note-signer.ts';

/** The example of c2sp.org/signed-note. */
const EXAMPLE_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const EXAMPLE =
  'This is an example message.\n\n' +
  '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';

const flipped = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

void test('the example of the standard', (t) => {
  t.strictSame(verifiedBy(EXAMPLE, [EXAMPLE_KEY]), [EXAMPLE_KEY]);
  const { name, keyId, publicKey } = parseVerifierKey(EXAMPLE_KEY);
  t.strictSame([name, keyId], ['example.com/foo', '530d903a']);
  t.equal(verifierKey(name, publicKey), EXAMPLE_KEY);
  const { text, signatures } = openNote(EXAMPLE);
  t.equal(text, 'This is an example message.\n');
  t.strictSame(
    signatures.map((each) => [each.name, each.keyId, `${each.line}\n`]),
    [[name, keyId, EXAMPLE.slice(text.length + 1)]],
  );
  t.end();
});

void test('several keys sign, and those that are asked for are found', (t) => {
  const [first, second, stranger] = ['pressledger/a', 'pressledger/a', 'other'].map(newSigner);
  if (!first || !second || !stranger) throw new Error('three signers');
  const keys = [first, second, stranger].map((each) => verifierKey(each.name, each.publicKey));
  const note = signNote('a text\n\nwith an empty line: é\n', [first, second]);
  t.strictSame(verifiedBy(note, keys), keys.slice(0, 2));
  t.strictSame(verifiedBy(note, keys.slice(1)), keys.slice(1, 2));
  t.strictSame(verifiedBy(note, keys.slice(2)), []);
  t.strictSame(verifiedBy(note, []), []);
  t.equal(openNote(note).text, 'a text\n\nwith an empty line: é\n');

  const changed = note.replace('a text', 'A text');
  t.strictSame(verifiedBy(changed, keys), []);
  const lines = note.split('\n');
  const half = [...lines.slice(0, -2), flipped(lines.at(-2) ?? '', 40), ''].join('\n');
  t.strictSame(verifiedBy(half, keys), [], 'one signature that does not hold spoils the note');
  t.strictSame(verifiedBy(half, keys.slice(0, 1)), keys.slice(0, 1), 'but for who knows its key');
  t.end();
});

void test('the cosignature of a witness covers its time and the text', (t) => {
  const log = newSigner('pressledger/a');
  const witness = newSigner('witness.example/w1');
  const key = verifierKey(witness.name, witness.publicKey, 0x04);
  const { keyId } = parseVerifierKey(key);
  const text = 'pressledger/a\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n';
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(1_679_315_147n);
  t.equal(
    cosignedMessage(text, 1_679_315_147n).toString(),
    `cosignature/v1\ntime 1679315147\n${text}`,
  );
  const signature = witness.sign(cosignedMessage(text, 1_679_315_147n));
  const cosigned = (timestamp: Buffer): string =>
    `${signNote(text, [log])}${signatureLine(witness.name, keyId, Buffer.concat([timestamp, signature]))}\n`;
  t.strictSame(verifiedBy(cosigned(time), [key]), [key]);
  const plainKey = verifierKey(witness.name, witness.publicKey);
  t.strictSame(verifiedBy(cosigned(time), [plainKey]), [], 'the key of another type of signature');
  time[7] = 0;
  t.strictSame(verifiedBy(cosigned(time), [key]), []);
  t.strictSame(verifiedBy(cosigned(Buffer.alloc(0)), [key]), [], 'without a time');
  t.end();
});

void test('malformed notes are refused', (t) => {
  const lines = Array.from({ length: 101 }, () => EXAMPLE.split('\n')[2]).join('\n');
  for (const note of [
    '',
    'text\n',
    'text\n\n',
    EXAMPLE.slice(0, -1),
    EXAMPLE.replace('\n\n', '\n'),
    EXAMPLE.replace('message.', 'mess\tage.'),
    EXAMPLE.replace('message.', 'message.\r'),
    EXAMPLE.replace('message.', '\ud800'),
    EXAMPLE.replace('—', '--'),
    EXAMPLE.replace('— ', '—'),
    EXAMPLE.replace('foo Uw', 'foo  Uw'),
    EXAMPLE.replace('example.com/foo', 'example.com/f+o'),
    EXAMPLE.replace('example.com/foo', 'example.com/f\u00a0o'),
    EXAMPLE.replace('QM=', 'QN='),
    EXAMPLE.replace('QM=', 'QM'),
    EXAMPLE.replace(/Uw.*/, 'Uw2QOg=='),
    `${EXAMPLE}x\n`,
    `text\n\n${lines}\n`,
  ]) {
    t.throws(
      () => openNote(note),
      { message: /^The note|^A line/ },
      JSON.stringify(note.slice(0, 60)),
    );
  }
  t.throws(() => signNote('no line feed', []));
  t.throws(() => signNote('a\ttab\n', []));
  t.throws(() => signNote('a\n', [newSigner('a name')]));
  t.end();
});

void test('malformed verifier keys are refused', (t) => {
  const other = EXAMPLE_KEY.slice(0, -4);
  for (const key of [
    '',
    'name',
    EXAMPLE_KEY.replace('530d903a', '530d903b'),
    EXAMPLE_KEY.replace('530d903a', '530D903A'),
    EXAMPLE_KEY.replace('example.com/foo', 'example.com/bar'),
    EXAMPLE_KEY.replace('example.com/foo', 'example.com/ foo'),
    EXAMPLE_KEY.replace('+Ae', '+Be'),
    flipped(EXAMPLE_KEY, 50),
    other,
    `${EXAMPLE_KEY}\n`,
  ]) {
    t.throws(() => parseVerifierKey(key), { message: /verifier key/i }, key);
  }
  t.throws(() => verifierKey('a+b', Buffer.alloc(32)));
  t.throws(() => verifierKey('a', Buffer.alloc(31)));
  t.end();
});
