import fc from 'fast-check';
import { test } from 'tap';
import { type AccountCommand, type AccountEvent, account } from '../../../src/domain/account.ts';
import { type ConversionEvent, conversion } from '../../../src/domain/conversion.ts';
import { isRejection } from '../../../src/domain/decider.ts';
import { fold, throughStore } from '../../support/given.ts';
import {
  accountId,
  blobRef,
  conversionId,
  DAY_MS,
  HOUR_MS,
  NOW,
  OPTIONS,
  PDF,
  REQUEST_HMAC,
  sha256,
  TIMINGS,
} from '../../support/samples.ts';

const who = { accountId: accountId() };

/** What may happen next in a random history: a request, an outcome of any conversion, a grant. */
type Step =
  | { readonly kind: 'request'; readonly key: number | null; readonly later: number }
  | {
      readonly kind: 'outcome';
      readonly of: number;
      readonly good: boolean;
      readonly attempt: number;
    }
  | { readonly kind: 'refund'; readonly upTo: number }
  | { readonly kind: 'grant'; readonly amount: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('request' as const),
    key: fc.option(fc.integer({ min: 1, max: 4 })),
    later: fc.integer({ min: 0, max: 9 * HOUR_MS }),
  }),
  fc.record({
    kind: fc.constant('outcome' as const),
    of: fc.nat(20),
    good: fc.boolean(),
    attempt: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ kind: fc.constant('refund' as const), upTo: fc.nat(20) }),
  fc.record({ kind: fc.constant('grant' as const), amount: fc.integer({ min: 1, max: 3 }) }),
);

interface History {
  readonly account: readonly AccountEvent[];
  /** Events of each conversion, in the order of acceptance. */
  readonly conversions: readonly (readonly ConversionEvent[])[];
}

/** Lives through the steps as the service would, refunds redelivered at random. */
function live(history: readonly Step[]): History {
  const events: AccountEvent[] = [];
  const conversions: ConversionEvent[][] = [];
  const failures: { readonly n: number; readonly position: bigint }[] = [];
  let state = account.initialState;
  let now = NOW;
  let position = 0n;
  const send = (command: AccountCommand): void => {
    const decision = account.decide(command, state);
    if (isRejection(decision)) return;
    for (const event of decision.map((each) => throughStore(each))) {
      events.push(event);
      position += 1n;
      state = account.evolve(state, event);
      if (event.type === 'ConversionRequested') conversions.push([]);
    }
  };
  const end = (n: number, good: boolean, attempt: number): void => {
    const life = conversions[n];
    if (!life) return;
    const by = { ...who, conversionId: conversionId(n), renderer: 'r', attempt, at: now };
    const decision = conversion.decide(
      good
        ? {
            type: 'CompleteConversion',
            ...by,
            document: blobRef('document'),
            pdf: PDF,
            manifest: blobRef('manifest'),
            pages: 1,
            timings: TIMINGS,
            chrome: 'c',
          }
        : { type: 'FailConversion', ...by, code: 'timeout', message: 'm', retryable: false },
      fold(conversion, life),
    );
    if (isRejection(decision)) return;
    for (const event of decision) {
      life.push(throughStore(event));
      position += 1n;
      if (event.type === 'ConversionFailed') failures.push({ n, position });
    }
  };
  const refundAll = (some: readonly (typeof failures)[number][]): void => {
    for (const [index, { n, position: failedAt }] of some.entries()) {
      const failure = index + 1;
      send({ type: 'RefundConversion', ...who, conversionId: conversionId(n), failure, failedAt });
    }
  };
  send({
    type: 'OpenAccount',
    ...who,
    email: 'e',
    passwordHash: 'p',
    plan: 'free',
    credits: 3,
  });
  for (const step of history) {
    switch (step.kind) {
      case 'request':
        now += step.later;
        send({
          type: 'RequestConversion',
          ...who,
          conversionId: conversionId(conversions.length),
          source: 'html',
          request: blobRef('request'),
          requestHmac: REQUEST_HMAC,
          options: OPTIONS,
          now,
          ...(step.key === null ? {} : { idempotencyKey: sha256(step.key) }),
        });
        break;
      case 'outcome':
        end(step.of, step.good, step.attempt);
        break;
      case 'refund':
        refundAll(failures.slice(0, step.upTo));
        break;
      case 'grant':
        send({ type: 'GrantCredits', ...who, amount: step.amount, now: NOW });
        break;
    }
  }
  refundAll(failures);
  return { account: events, conversions };
}

const histories = fc.array(steps, { maxLength: 60 });
const holds = (check: (history: History) => boolean) => (): void =>
  fc.assert(fc.property(histories, (history) => check(live(history))));

void test('whatever happens, in whatever order', (t) => {
  t.doesNotThrow(
    holds(({ account: events }) => {
      let balance = 0;
      return events.every((event) => {
        if (event.type === 'CreditGranted' || event.type === 'CreditRefunded') {
          balance += event.data.amount;
        }
        if (event.type === 'CreditDebited') balance -= event.data.amount;
        return balance >= 0;
      });
    }),
    'the balance is never below nothing',
  );
  t.doesNotThrow(
    holds(({ account: events }) =>
      events.every((event, at) => {
        const next = events[at + 1];
        if (event.type !== 'CreditDebited') return true;
        return (
          next?.type === 'ConversionRequested' && next.data.conversionId === event.data.conversionId
        );
      }),
    ),
    'each debit comes with its request',
  );
  t.doesNotThrow(
    holds(({ conversions }) =>
      conversions.every(
        (life) =>
          life.filter(({ type }) => type === 'ConversionCompleted' || type === 'ConversionFailed')
            .length <= 1,
      ),
    ),
    'a conversion ends once',
  );
  t.doesNotThrow(
    holds(({ account: events, conversions }) =>
      conversions.every((life, n) => {
        const refunds = events.filter(
          (event) => event.type === 'CreditRefunded' && event.data.conversionId === conversionId(n),
        );
        const failed = life.some(({ type }) => type === 'ConversionFailed');
        return refunds.length === (failed ? 1 : 0);
      }),
    ),
    'one refund, exactly when it failed',
  );
  t.doesNotThrow(
    holds(({ account: events }) => {
      const last = new Map<string, number>();
      return events.every((event) => {
        if (event.type !== 'ConversionRequested') return true;
        const { idempotencyKey, requestedAt } = event.data;
        if (idempotencyKey === undefined) return true;
        const before = last.get(idempotencyKey);
        last.set(idempotencyKey, requestedAt);
        return before === undefined || requestedAt - before >= DAY_MS;
      });
    }),
    'one conversion for a key in 24 hours',
  );
  t.end();
});
