import { test } from 'tap';
import { type AccountCommand, type AccountEvent, account } from '../../../src/domain/account.ts';
import { type ConversionEvent, conversion } from '../../../src/domain/conversion.ts';
import { email } from '../../../src/domain/email.ts';
import { holdInForce } from '../../../src/domain/hold.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, conversionId, DAY_MS, NOW } from '../../support/samples.ts';

const ID = accountId();
const opened: AccountEvent = {
  type: 'AccountOpened',
  data: { accountId: ID, email: 'v1.email', passwordHash: 'v1.hash', plan: 'free' },
};
const held = (until?: number): AccountEvent => ({
  type: 'HoldPlaced',
  data: { accountId: ID, ...(until === undefined ? {} : { until }), placedAt: NOW },
});
const released: AccountEvent = { type: 'HoldReleased', data: { accountId: ID } };
const erased: AccountEvent = { type: 'AccountErased', data: { accountId: ID } };
const completed: AccountEvent = { type: 'ErasureCompleted', data: { accountId: ID } };

const place = (until?: number, now = NOW): AccountCommand => ({
  type: 'PlaceHold',
  accountId: ID,
  ...(until === undefined ? {} : { until }),
  now,
});
const release = (now = NOW): AccountCommand => ({ type: 'ReleaseHold', accountId: ID, now });
const erase = (now = NOW): AccountCommand => ({ type: 'EraseAccount', accountId: ID, now });
const complete: AccountCommand = { type: 'CompleteErasure', accountId: ID };

void test('a hold is placed, replaced and released', (t) => {
  const until = NOW + DAY_MS;
  given(t, account, opened).when(place()).thenEvents(held());
  given(t, account, opened).when(place(until)).thenEvents(held(until));
  given(t, account, opened, held()).when(place()).thenNothing();
  given(t, account, opened, held(until)).when(place(until)).thenNothing();
  given(t, account, opened, held()).when(place(until)).thenEvents(held(until));
  given(t, account, opened)
    .when(place(NOW))
    .thenRejected('validation_error', /in the future/);
  given(t, account, opened, held()).when(release()).thenEvents(released);
  given(t, account, opened, held(until)).when(release()).thenEvents(released);
  given(t, account, opened)
    .when(release())
    .thenRejected('not_found', /under no hold/);
  given(t, account, opened, held(), released).when(release()).thenRejected('not_found');
  given(t, account, opened, held(until))
    .when(release(until))
    .thenRejected('not_found', /no hold/);
  given(t, account).when(place()).thenRejected('not_found');
  t.end();
});

void test('a hold ends by itself, without an event', (t) => {
  const state = fold(account, [opened, held(NOW + 10)]);
  t.match(holdInForce(state, NOW + 9), { placedAt: NOW, until: NOW + 10 });
  t.equal(holdInForce(state, NOW + 10), undefined);
  t.match(holdInForce(fold(account, [opened, held()]), NOW + 1000 * DAY_MS), { placedAt: NOW });
  t.end();
});

void test('an account under a hold is not erased', (t) => {
  given(t, account, opened).when(erase()).thenEvents(erased);
  given(t, account, opened, held())
    .when(erase())
    .thenRejected('forbidden', /has no end/);
  given(t, account, opened, held(NOW + 10))
    .when(erase(NOW + 9))
    .thenRejected('forbidden', /under a hold, which was placed 20.*ends 20/);
  given(t, account, opened, held(NOW + 10))
    .when(erase(NOW + 10))
    .thenEvents(erased);
  given(t, account, opened, held(), released).when(erase()).thenEvents(erased);
  given(t, account).when(erase()).thenRejected('not_found');
  t.end();
});

void test('an erased account accepts nothing but the end of its erasure, once', (t) => {
  given(t, account, opened, erased).when(erase()).thenNothing();
  given(t, account, opened, erased).when(complete).thenEvents(completed);
  given(t, account, opened, erased, completed).when(complete).thenNothing();
  given(t, account, opened, erased, completed).when(erase()).thenNothing();
  given(t, account, opened)
    .when(complete)
    .thenRejected('not_found', /not erased/);
  given(t, account).when(complete).thenRejected('not_found');
  for (const command of [place(), release()]) {
    given(t, account, opened, held(), released, erased).when(command).thenRejected('not_found');
  }
  const state = fold(account, [opened, held(NOW + 1), erased, completed]);
  t.strictSame(state, { ...account.initialState, status: 'erased', erasureCompleted: true });
  t.end();
});

void test('what an erased account had under way ends, whatever its renderer reports later', (t) => {
  const of = { accountId: ID, conversionId: conversionId() };
  const ended = { code: 'account_erased', message: 'erased' } as const;
  const abandon = { type: 'AbandonConversion', ...of, ...ended, at: NOW } as const;
  const started: ConversionEvent = {
    type: 'ConversionStarted',
    data: { ...of, renderer: 'r', delivery: 'd', attempt: 1, startedAt: NOW },
  };
  const failed: ConversionEvent = {
    type: 'ConversionFailed',
    data: {
      ...of,
      code: 'account_erased',
      message: 'erased',
      renderer: 'service',
      attempt: 1,
      failedAt: NOW,
    },
  };
  given(t, conversion).when(abandon).thenEvents(failed);
  given(t, conversion, started).when(abandon).thenEvents(failed);
  given(t, conversion, started, failed).when(abandon).thenNothing();
  const late = { ...of, renderer: 'r', attempt: 1 };
  given(t, conversion, started, failed)
    .when({
      type: 'FailConversion',
      ...late,
      code: 'timeout',
      message: 'm',
      retryable: false,
      at: NOW,
    })
    .thenEvents({ type: 'ConversionOutcomeIgnored', data: { ...late, outcome: 'failed' } });
  t.end();
});

const reserved = (id: string) => ({ type: 'EmailReserved', data: { accountId: id } }) as const;

void test('an address goes over to another account after the erasure of its own', (t) => {
  const [one, two] = [accountId(1), accountId(2)];
  const reserve = { type: 'ReserveEmail', accountId: two } as const;
  given(t, email, reserved(one)).when(reserve).thenNothing();
  given(t, email, reserved(one))
    .when({ ...reserve, insteadOf: 1 })
    .thenEvents(reserved(two));
  given(t, email, reserved(one), reserved(two))
    .when({ ...reserve, insteadOf: 1 })
    .thenNothing();
  t.end();
});
