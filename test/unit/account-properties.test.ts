/** Invariants 3, 4, 5 and 8 of `violations`, whatever two nodes do to one account at once. */
import fc from 'fast-check';
import { type Test, test } from 'tap';
import {
  type AccountCommand,
  type AccountEvent,
  accountAggregate,
} from '../../src/domain/account.ts';
import { decodeEvent } from '../../src/event-store/codec.ts';
import { EventStoreUnavailable, type RecordedEvent } from '../../src/event-store/port.ts';
import { grant, OPEN, request, sentBy, startNode, type TestNode } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import type { Fault } from '../support/faulty-store.ts';
import { accountId, conversionId, HOUR_MS, NOW, sha256 } from '../support/samples.ts';

interface Step {
  readonly node: 0 | 1;
  /** Hours that pass before it, when all before it is answered. */
  readonly later: number;
  readonly command: (now: number) => AccountCommand;
  /** Answer this one before the next is sent. */
  readonly wait: boolean;
  readonly fault: Fault | undefined;
}

const id = accountId();
const DAY_MS = 24 * HOUR_MS;
/** How far the clocks of the nodes are apart. */
const SKEW_MS = 10 * 60_000;

const command: fc.Arbitrary<Step['command']> = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }).map((amount) => () => grant(amount)) },
  {
    weight: 8,
    arbitrary: fc
      .record({
        conversion: fc.nat({ max: 1_000_000 }),
        key: fc.option(fc.integer({ min: 1, max: 4 }).map(sha256), { nil: undefined }),
        skew: fc.integer({ min: -SKEW_MS, max: SKEW_MS }),
      })
      .map(
        ({ conversion, key, skew }) =>
          (now: number) =>
            request(conversion, key, now + skew),
      ),
  },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: 12 }).map((failure) => () => ({
      type: 'RefundConversion' as const,
      accountId: id,
      conversionId: conversionId(failure),
      failure,
      failedAt: BigInt(failure),
    })),
  },
  fc.constantFrom('free' as const, 'pro' as const).map((plan) => () => ({
    type: 'ChangePlan' as const,
    accountId: id,
    plan,
  })),
);

const step: fc.Arbitrary<Step> = fc.record({
  node: fc.constantFrom(0 as const, 1 as const),
  later: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 30 })),
  command,
  wait: fc.boolean(),
  fault: fc.option(fc.constantFrom<Fault>('conflict', 'unavailable', 'acknowledgement lost'), {
    nil: undefined,
    freq: 8,
  }),
});

/** The account's state tells a repetition of it. */
const isIdempotent = (sent: AccountCommand): boolean =>
  sent.type === 'RequestConversion'
    ? sent.idempotencyKey !== undefined
    : sent.type !== 'GrantCredits';

/** Sends again what the state knows, as callers do; of the rest the outcome stays unknown: undefined. */
async function sendUntilAnswered(
  node: TestNode,
  account: string,
  sent: AccountCommand,
  name: string,
) {
  for (;;) {
    try {
      return await node.system.send(accountAggregate, account, sent, sentBy(name));
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      if (!isIdempotent(sent)) return undefined;
    }
  }
}

function must(holds: boolean, what: string, revision: number): void {
  if (!holds) throw new Error(`${what}, at revision ${revision}.`);
}

/** Throws at the first version of the stream that breaks an invariant; gives the events it saw. */
function check(recorded: readonly RecordedEvent[]): readonly AccountEvent[] {
  const events = recorded.map((each) => decodeEvent(each) as AccountEvent);
  const debited = new Set<string>();
  const refunded = new Set<string>();
  const keys = new Map<string, number[]>();
  let balance = 0;
  for (const [revision, event] of events.entries()) {
    must(recorded[revision]?.revision === revision, 'A revision is missing', revision);
    const next = events[revision + 1];
    if (event.type === 'CreditGranted') balance += event.data.amount;
    if (event.type === 'CreditDebited') {
      balance -= event.data.amount;
      const its = next?.type === 'ConversionRequested' ? next.data.conversionId : undefined;
      must(its === event.data.conversionId, 'A debit has no request', revision);
      debited.add(`${event.data.conversionId} ${revision + 1}`);
    }
    if (event.type === 'ConversionRequested') {
      const { conversionId: its, idempotencyKey, requestedAt } = event.data;
      must(debited.has(`${its} ${revision}`), 'A request has no debit', revision);
      if (idempotencyKey !== undefined) {
        const times = keys.get(idempotencyKey) ?? [];
        const apart = times.every((time) => Math.abs(requestedAt - time) >= DAY_MS);
        must(apart, 'One key made two conversions in a day', revision);
        keys.set(idempotencyKey, [...times, requestedAt]);
      }
    }
    if (event.type === 'CreditRefunded') {
      balance += event.data.amount;
      must(!refunded.has(event.data.failedAt), 'A failure was refunded twice', revision);
      refunded.add(event.data.failedAt);
    }
    must(balance >= 0, 'The balance is below 0', revision);
  }
  return events;
}

let run = 0;

async function runSteps(t: Test, nodes: readonly [TestNode, TestNode], steps: readonly Step[]) {
  run += 1;
  const account = `run-${run}`;
  await nodes[0].system.send(
    accountAggregate,
    account,
    { ...OPEN, credits: 3 },
    sentBy(`${run}-open`),
  );
  const answers: Promise<unknown>[] = [];
  let granted = 3;
  let asked = 3;
  let now = NOW;
  for (const [index, each] of steps.entries()) {
    const node = nodes[each.node];
    if (each.later > 0) await Promise.all(answers);
    now += each.later * HOUR_MS;
    if (each.fault) node.store.faults.push(each.fault);
    const sent = each.command(now);
    const answered = sendUntilAnswered(node, account, sent, `${run}-${index}`);
    const noted = answered.then((outcome) => {
      if (sent.type === 'GrantCredits' && outcome?.accepted) granted += sent.amount;
      return outcome;
    });
    answers.push(noted);
    if (each.wait) await noted;
    if (sent.type === 'GrantCredits') asked += sent.amount;
  }
  await Promise.all(answers);
  for (const { store } of nodes) store.faults.length = 0;

  const recorded = await nodes[0].store.readStream(accountAggregate.stream(account));
  const events = check(recorded);
  const stored = events
    .filter((event) => event.type === 'CreditGranted')
    .reduce((sum, event) => sum + event.data.amount, 0);
  if (stored < granted || stored > asked) {
    throw new Error(`${granted} of ${asked} credits were granted, ${stored} are stored.`);
  }
  const [one, two] = await Promise.all(
    nodes.map((node) => node.system.read(accountAggregate, account)),
  );
  t.strictSame(one?.state.credits, two?.state.credits);
  t.equal(one?.revision, recorded.length - 1);
}

void test('random commands through two nodes keep the invariants', async (t) => {
  const dir = testDirectory(t);
  const nodes = [startNode(t, dir), startNode(t, dir)] as const;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) =>
      runSteps(t, nodes, steps),
    ),
    { numRuns: 150 },
  );
});
