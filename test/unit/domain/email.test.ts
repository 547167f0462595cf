import { test } from 'tap';
import {
  type EmailCommand,
  type EmailEvent,
  email,
  emailStream,
  isEmailAddress,
  personOf,
} from '../../../src/domain/email.ts';
import { founderOf } from '../../../src/domain/members.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, personId, sha256 } from '../../support/samples.ts';

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

const reserve = (n: number, more: Partial<EmailCommand> = {}): EmailCommand => ({
  type: 'ReserveEmail',
  accountId: accountId(n),
  ...more,
});

void test('an address that is free again goes to the first who read that', (t) => {
  given(t, email, reserved(1))
    .when(reserve(2, { insteadOf: 1 }))
    .thenEvents(reserved(2));
  given(t, email, reserved(1))
    .when(reserve(2, { insteadOf: 0 }))
    .thenNothing();
  given(t, email, reserved(1), reserved(2))
    .when(reserve(3, { insteadOf: 1 }))
    .thenNothing();
  given(t, email, reserved(1), reserved(2))
    .when(reserve(3, { insteadOf: 2 }))
    .thenEvents(reserved(3));
  t.match(fold(email, [reserved(1), reserved(2)]), { holder: accountId(2), reservations: 2 });
  t.end();
});

void test('only its own holder takes back an address that they left', (t) => {
  const change = { forChange: true } as const;
  const back = (n: number, more = {}): EmailEvent => ({
    type: 'EmailReserved',
    data: { accountId: accountId(n), ...more, ...change },
  });
  given(t, email, reserved(1)).when(reserve(1, change)).thenEvents(back(1));
  given(t, email, reserved(1)).when(reserve(2, change)).thenNothing();
  given(t, email, reserved(1)).when(reserve(1)).thenNothing();
  const bob = { personId: personId(2) };
  const bobs: EmailEvent = { type: 'EmailReserved', data: { accountId: accountId(1), ...bob } };
  given(t, email, bobs)
    .when(reserve(1, { ...bob, ...change }))
    .thenEvents(back(1, bob));
  given(t, email, bobs).when(reserve(1, change)).thenNothing();
  given(t, email, reserved(1))
    .when(reserve(1, { ...bob, ...change }))
    .thenNothing();
  t.strictSame(
    [fold(email, [bobs]), fold(email, [back(1)])].map(({ holder, isForChange }) => [
      holder,
      isForChange,
    ]),
    [
      [personId(2), false],
      [accountId(1), true],
    ],
  );
  t.end();
});

void test('an account’s address is that of its founder, and a person’s their own', (t) => {
  t.equal(personOf(accountId(1)), founderOf(accountId(1)));
  t.equal(personOf(personId(2)), personId(2));
  t.end();
});
