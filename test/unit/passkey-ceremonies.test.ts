import { test } from 'tap';
import {
  challengeIn,
  judgeChallenge,
  newChallenge,
  PURPOSES,
  relyingParty,
} from '../../src/accounts/passkey-ceremonies.ts';
import { NOW } from '../support/samples.ts';

const KEY = Buffer.alloc(32, 1);
const MINUTES_5 = 5 * 60_000;

void test('passkeys are bound to the host that clients see', (t) => {
  for (const [url, id, origin = url] of [
    ['https://pdf.example.com', 'pdf.example.com'],
    ['https://pdf.example.com:8443', 'pdf.example.com'],
    ['http://localhost:3000', 'localhost'],
    ['http://pdf.localhost', 'pdf.localhost'],
    ['http://127.0.0.1:3000', 'localhost', 'http://localhost:3000'],
    ['http://[::1]:3000', 'localhost', 'http://localhost:3000'],
  ] as const) {
    t.strictSame(relyingParty(url, ''), { id, origin });
    t.strictSame(relyingParty(url, origin), { id, origin });
    const elsewhere = new RegExp(`at ${origin.replaceAll(/[.[\]]/g, '\\$&')} alone`);
    t.throws(() => relyingParty(url, 'http://other.example.com'), { message: elsewhere });
    t.throws(() => relyingParty(url, `${origin}.evil.example.com`), { code: 'forbidden' });
  }
  t.throws(() => relyingParty('http://127.0.0.1:3000', 'http://127.0.0.1:3000'), {
    message: /at http:\/\/localhost:3000 alone/,
  });
  t.end();
});

void test('where no browser takes a passkey, that is said with what to do', (t) => {
  for (const url of [
    'http://pdf.example.com',
    'http://192.0.2.1:3000',
    'https://192.0.2.1',
    'https://[2001:db8::1]',
    'http://notlocalhost',
  ]) {
    t.throws(() => relyingParty(url, ''), {
      code: 'forbidden',
      message: /need HTTPS .*PUBLIC_URL/,
    });
  }
  t.end();
});

void test('a challenge is good for its act, on any node with the key, for five minutes', (t) => {
  const purpose = PURPOSES.add('sess_1');
  const challenge = newChallenge(KEY, purpose, NOW);
  const judge = (now: number, act: string = purpose, key = KEY, text = challenge) =>
    judgeChallenge(key, act, text, now);
  t.equal(judge(NOW), 'good');
  t.equal(judge(NOW + MINUTES_5 - 1), 'good');
  t.equal(judge(NOW + MINUTES_5), 'expired');
  const others = [PURPOSES.add('sess_2'), PURPOSES.confirm('sess_1'), PURPOSES.signIn];
  for (const other of others) t.equal(judge(NOW, other), 'other');
  t.equal(judge(NOW, purpose, Buffer.alloc(32, 2)), 'other');
  t.not(newChallenge(KEY, purpose, NOW), challenge);
  t.end();
});

void test('no altered challenge is good, nor is its time', (t) => {
  const challenge = newChallenge(KEY, PURPOSES.signIn, NOW);
  const bytes = Buffer.from(challenge, 'base64url');
  for (let at = 0; at < bytes.length; at += 1) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(altered.readUInt8(at) ^ 1, at);
    t.equal(judgeChallenge(KEY, PURPOSES.signIn, altered.toString('base64url'), NOW), 'other');
  }
  for (const text of ['', 'x', `${challenge}AA`, challenge.slice(0, -2), '%%%']) {
    t.equal(judgeChallenge(KEY, PURPOSES.signIn, text, NOW), 'other');
  }
  t.end();
});

const answer = (text: string) => ({
  id: 'x',
  response: { clientDataJSON: Buffer.from(text).toString('base64url'), attestationObject: '' },
});

void test('what is not an answer of a browser has no challenge', (t) => {
  t.equal(challengeIn(answer('{"challenge":"abc"}')), 'abc');
  for (const text of ['', 'null', '[]', '{}', '{"challenge":1}', '{']) {
    t.equal(challengeIn(answer(text)), undefined);
  }
  t.end();
});
