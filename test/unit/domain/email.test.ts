import { test } from 'tap';
import { email, type EmailEvent, emailStream } from '../../../src/domain/email.ts';
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
  t.equal(fold(email, [reserved(1)]).accountId, accountId(1));
  t.equal(email.initialState.accountId, undefined);
  t.end();
});
