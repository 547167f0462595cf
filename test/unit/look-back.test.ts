/** The bounds of answers as of an earlier moment: how many at a time, how long, from how many events. */
import { type Test, test } from 'tap';
import { conversionQueries, conversions } from '../../projections/conversions.ts';
import { ledger, ledgerQueries } from '../../projections/ledger.ts';
import {
  type Asker,
  type LookBackLimits,
  LookBacks,
  operatorLimits,
} from '../../src/conversions/look-back.ts';
import type { Moment } from '../../src/conversions/moment.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { Budget, BudgetExceeded } from '../../src/limits/budgets.ts';
import { history, opening, request } from '../support/history.ts';
import { write } from '../support/log.ts';
import { openProjected } from '../support/projected.ts';
import { accountId, conversionId, NOW } from '../support/samples.ts';

const FIRST_PAGE = { offset: 0, limit: 100 };

/** A look-back over a past, with a log that can be kept from answering. */
async function open(t: Test, limits: Partial<LookBackLimits> = {}, steps = history(2, 12)) {
  const { log, readModel, runner } = openProjected(t);
  const head = await write(log, steps);
  await runner.waitFor(head);
  const reads: string[] = [];
  let until: Promise<void> | undefined;
  const readStream: EventStore['readStream'] = async (stream, options) => {
    reads.push(stream);
    await until;
    return await log.store.readStream(stream, options);
  };
  const deps = { store: log.store, streams: { readStream }, readModel, runner };
  const lookBacks = new LookBacks(deps, { ...operatorLimits(), ...limits });
  return {
    head,
    reads,
    /** Keeps the log from answering until the function is called. */
    block: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      until = promise;
      return resolve;
    },
    lookBacks,
    balances: async (
      account: number,
      moment: Moment = { position: head },
      more: Pick<Asker, 'gone' | 'hold'> = {},
    ) => {
      const view = {
        accountId: accountId(account),
        projection: ledger,
        queries: ledgerQueries,
      };
      const asker = { head, ...more };
      const { answer } = await lookBacks.read(view, moment, asker, (queries) =>
        queries.page(view.accountId, FIRST_PAGE).rows.map(({ balance }) => balance),
      );
      return answer;
    },
    statusOf: async (account: number, conversion: number) => {
      const view = {
        accountId: accountId(account),
        conversionId: conversionId(conversion),
        projection: conversions,
        queries: conversionQueries,
      };
      const now = { position: head };
      const read = await lookBacks.read(view, now, { head }, (queries) =>
        queries.byId(view.conversionId),
      );
      return read.answer?.status;
    },
  };
}

const slots = (limit: number) => new Budget('maxLookBacks', limit);

/** Resolves when whatever can go on without an answer of the log has done so. */
async function settle(reads: readonly string[]): Promise<void> {
  for (let seen = -1; seen !== reads.length; ) {
    seen = reads.length;
    for (let turn = 0; turn < 10; turn += 1) await new Promise((go) => setImmediate(go));
  }
}

void test('one that takes too long is refused, and says how the operator can answer it', async (t) => {
  const events = new Budget('maxLookBackEvents', 1e6);
  const { balances } = await open(t, { ms: 0, events });
  await t.rejects(balances(1, { position: 20n }), {
    code: 'validation_error',
    message: /^as_of: It would take too long .*: pressledger state --as-of 20 -o state\.json$/,
    details: { as_of: [/pressledger state/] },
  });
  t.equal(events.count().refused, 1);
});

void test('an account takes turns with itself, and keeps nobody else waiting', async (t) => {
  const { block, balances, reads } = await open(t, { atOnce: slots(2) });
  const answer = block();
  const own = [balances(1), balances(1), balances(1)];
  await settle(reads);
  const ofOne = reads.length;
  t.ok(ofOne > 0);
  const other = balances(2);
  await settle(reads);
  t.equal(reads.length, 2 * ofOne, 'the first of each account is under way, and no other');
  answer();
  const [first, ...others] = await Promise.all(own);
  t.strictSame(others, [first, first]);
  t.ok((await other).length > 0);
});

void test('where all slots are taken for long, another is put off', async (t) => {
  const atOnce = slots(1);
  const { block, balances, reads } = await open(t, { atOnce, ms: 1 });
  const answer = block();
  const slow = balances(1).catch((error: unknown) => error);
  await settle(reads);
  // The time limit alone does not keep a process alive.
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(alive));
  const refused = await balances(2).catch((error: unknown) => error);
  t.ok(refused instanceof BudgetExceeded);
  t.match(refused, { scope: 'service', retryAfter: 5 });
  t.match(atOnce.count(), { used: 1, refused: 1 });
  answer();
  await slow;
  t.equal(atOnce.count().used, 0);
});

void test('nothing more is read for a client that has gone', async (t) => {
  const { block, balances, reads } = await open(t);
  const answer = block();
  const gone = new AbortController();
  const waiting = balances(1, undefined, { gone: gone.signal });
  await settle(reads);
  gone.abort();
  answer();
  await t.rejects(waiting, { message: 'The client hung up before its answer.' });
  t.ok((await balances(1)).length > 0, 'the next of the account has its turn');
});

void test('the latest folds are kept, and the others made again', async (t) => {
  const { balances, reads, head } = await open(t, {}, history(1, 40));
  const moments = Array.from({ length: 7 }, (_, n) => ({
    time: NOW + 1000 * (Number(head) - 30 - n * 10),
  }));
  const first: number[][] = [];
  for (const moment of moments) first.push(await balances(1, moment));
  t.ok(new Set(first.map(String)).size > 5, 'they differ');
  const answered = async (moment: Moment | undefined) => {
    reads.length = 0;
    const answer = await balances(1, moment);
    return { answer, reads: reads.length };
  };
  const latest = await answered(moments[6]);
  const oldest = await answered(moments[0]);
  t.strictSame([latest.answer, oldest.answer], [first[6], first[0]]);
  t.equal(latest.reads, 0, 'no event is read for it');
  t.ok(oldest.reads > 0);
});

void test('what is asked several times stays, however many others ask meanwhile', async (t) => {
  const { balances, reads, lookBacks } = await open(t, {}, history(8, 40));
  const readsOf = async (ask: () => Promise<unknown>) => {
    reads.length = 0;
    await ask();
    return reads.length;
  };
  const askOthers = async () => {
    for (let account = 2; account <= 8; account += 1) await balances(account);
  };
  await lookBacks.holding(async (hold) => {
    t.ok((await readsOf(() => balances(1, undefined, { hold }))) > 0);
    await askOthers();
    t.equal(await readsOf(() => balances(1, undefined, { hold })), 0);
  });
  await askOthers();
  t.ok((await readsOf(() => balances(1))) > 0, 'and no longer than that');
});

/** Debits with requests between them, all in one stream. */
function* requests() {
  yield opening(1, 1000);
  for (let n = 1; n <= 150; n += 1) yield request(n, 1);
}

void test('near events of a stream are read at once, and a conversion by its own events alone', async (t) => {
  const { balances, statusOf, reads } = await open(t, {}, requests());
  t.equal((await balances(1)).length, 100);
  t.ok(reads.length < 20, `${reads.length} reads for 151 events with others between them`);
  reads.length = 0;
  t.equal(await statusOf(1, 70), 'pending');
  t.ok(reads.length < 20);
  t.equal(await statusOf(2, 70), undefined, "another account's");
});
