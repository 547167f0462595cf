import { test } from 'tap';
import { type EmailEvent, email, emailStream, isEmailAddress } from '../../../src/domain/email.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, sha256 } from '../../support/samples.ts';

const reserved = (n: number): EmailEvent => ({
  type: 'EmailReserved',
  data: { accountId: accountId(n) },
});

void test('an address belongs to the first account that reserves it', (t) => {
  t.equal(emailStream(sha256()), `email-${sha256()}`);
  const reserve = { type: 'ReserveEmail', accountId: accountId(2) } as const;
  given(t, email).when(reserve).thenEvents(reserved(2));
  given(t, email, reserved(1)).when(reserve).thenNothing();
  given(t, email, reserved(2)).when(reserve).thenNothing();
  t.equal(fold(email, [reserved(1)]).holder, accountId(1));
  t.equal(email.initialState.holder, undefined);
  t.end();
});

void test('an address shows all that is in it', (t) => {
  for (const text of ['a@b', 'grüße@例え.jp', "o'neil+x@mail.example.com"])
    t.ok(isEmailAddress(text));
  for (const code of [0x0, 0xa, 0x1b, 0x9b, 0x200b, 0x2028, 0x202e, 0xd800]) {
    const hidden = String.fromCharCode(code);
    t.notOk(isEmailAddress(`a${hidden}@b`), `in its name: ${code}`);
    t.notOk(isEmailAddress(`a@b${hidden}`), `in its domain: ${code}`);
  }
  t.end();
});

void test('what separates or encloses addresses is not part of one', (t) => {
  for (const mark of '<>()[]\\,;:" @') {
    t.notOk(isEmailAddress(`${mark}x@example.com`), `before: ${mark}`);
    t.notOk(isEmailAddress(`x@example.com${mark}`), `after: ${mark}`);
    t.notOk(isEmailAddress(`x${mark}y@example.com`), `in its name: ${mark}`);
    t.notOk(isEmailAddress(`x@example${mark}com`), `in its domain: ${mark}`);
  }
  for (const domain of ['', '.', '.com', 'example.', 'a..b', 'a/b', "a'", 'a?b', 'b'.repeat(256)])
    t.notOk(isEmailAddress(`x@${domain}`), `domain ${domain}`);
  t.ok(isEmailAddress(`x@${'b'.repeat(255)}`));
  t.end();
});
