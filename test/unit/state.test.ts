/** The state of all accounts as of a moment is what each account's own answers say. */
import { type Test, test } from 'tap';
import { accountQueries, accounts } from '../../projections/accounts.ts';
import { conversionQueries, conversions } from '../../projections/conversions.ts';
import { LookBacks, operatorLimits } from '../../src/conversions/look-back.ts';
import type { Moment } from '../../src/conversions/moment.ts';
import { STATE_PROJECTIONS, stateDocument, withFoldedLog } from '../../src/conversions/state.ts';
import { KeyErased } from '../../src/documents/keys/port.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import { eventId } from '../../src/time/ids.ts';
import { appendNext } from '../support/events.ts';
import { history } from '../support/history.ts';
import { openProjected, type Projected } from '../support/projected.ts';
import { seededRandom } from '../support/random.ts';
import { accountId, NOW } from '../support/samples.ts';

const readable = { unseal: async (_: string, sealed: string) => `opened ${sealed}` };
const SKEW_MS = 20_000;

interface StateOfAccount {
  readonly id: string;
  readonly email?: string;
  readonly credits: number;
  readonly api_keys: readonly { readonly id: string; readonly name?: string }[];
  readonly conversions: readonly {
    readonly id: string;
    readonly status: string;
    readonly file_url?: string;
    readonly error_message?: string;
  }[];
  readonly ledger: readonly { readonly balance: number }[];
}

async function stateAt(
  { log }: Projected,
  moment: Moment,
  vault = readable,
): Promise<readonly StateOfAccount[]> {
  let text = '';
  await withFoldedLog(log.store, STATE_PROJECTIONS, moment, async (fold) => {
    for await (const piece of stateDocument(fold, vault, 'then')) text += piece;
  });
  const document = JSON.parse(text) as { as_of: string; accounts: StateOfAccount[] };
  return document.as_of === 'then' ? document.accounts : [];
}

/** A past whose events were stamped by clocks that differ. */
async function skewedPast(
  t: Test,
  seed = seededRandom(),
): Promise<Projected & { readonly times: readonly number[] }> {
  t.comment(`TEST_SEED=${seed.seed}`);
  const projected = openProjected(t);
  const { store } = projected.log;
  const times: number[] = [];
  let [count, failedAt] = [0, 0n];
  for (const { stream, events, failure } of history(3, 60)) {
    count += 1;
    const time = NOW + count * 1000 + seed.integer(-SKEW_MS, SKEW_MS);
    times.push(time);
    const metadata = {
      correlationId: 'c',
      causationId: 'c',
      actor: { kind: 'operator' },
      time,
    } as const;
    const encoded = events(failedAt).map((event, n) =>
      encodeEvent(eventId(`skewed_${count}_${n}`), event, metadata),
    );
    const { position } = await appendNext(store, stream, encoded);
    if (failure === true) failedAt = position;
  }
  await projected.runner.waitFor(await store.head());
  return { ...projected, times };
}

void test('the state at any time or position agrees with the answers to each account', async (t) => {
  const random = seededRandom();
  const projected = await skewedPast(t, random);
  const { log, readModel, runner, times } = projected;
  const head = await log.store.head();
  const deps = { store: log.store, streams: log.store, readModel, runner };
  const lookBacks = new LookBacks(deps, operatorLimits());
  const moments = Array.from(
    { length: 12 },
    (_, n): Moment =>
      n % 2 === 0
        ? { time: times[random.integer(0, times.length - 1)] ?? 0 }
        : { position: BigInt(random.integer(0, Number(head))) },
  );
  for (const moment of moments) {
    const state = await stateAt(projected, moment);
    for (const id of [1, 2, 3].map(accountId)) {
      const read = <Q, R>(
        of: Omit<Parameters<typeof lookBacks.read<Q, R>>[0], 'accountId'>,
        answer: (queries: Q) => R,
      ) => lookBacks.read({ ...of, accountId: id }, moment, { head }, answer);
      const own = await read({ projection: accounts, queries: accountQueries }, (queries) =>
        queries.byId(id),
      );
      const mine = await read(
        { projection: conversions, queries: conversionQueries },
        (queries) => queries.page(id, { offset: 0, limit: 1000 }).rows,
      );
      const found = state.find((each) => each.id === id);
      const told = JSON.stringify(moment, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      t.equal(found?.credits, own.answer?.credits, told);
      t.strictSame(
        found?.conversions.map((each) => [each.id, each.status]) ?? [],
        mine.answer.map((each) => [each.id, each.status]),
        told,
      );
      // A moment between an account's opening and its first grant has no entry yet.
      const balance = found && (found.ledger[0]?.balance ?? 0);
      t.equal(balance, found?.credits, 'the books are balanced at any moment');
    }
  }
});

void test('texts are opened, and left out where the account was erased since', async (t) => {
  const projected = await skewedPast(t);
  const head = await projected.log.store.head();
  const vault = {
    unseal: async (id: string, sealed: string) => {
      if (id === accountId(2)) throw new KeyErased('erased');
      return `opened ${sealed}`;
    },
  };
  const [first, second, third, ...others] = await stateAt(projected, { position: head }, vault);
  t.strictSame(others, []);
  t.match(first, { email: 'opened sealed 1', api_keys: [{ name: /^opened sealed/ }] });
  t.match(third, { email: 'opened sealed 3' });
  t.equal(second?.email, undefined);
  t.equal(second?.api_keys.length, 1);
  t.equal(second?.api_keys[0]?.name, undefined);
  t.ok((second?.conversions.length ?? 0) > 10, 'what is not personal is there');
  const all = [first, second, third].flatMap((each) => each?.conversions ?? []);
  t.ok(all.some(({ error_message: reason }) => reason === 'opened sealed reason'));
  t.notOk(
    all.some((each) => 'file_url' in each),
    'a link needs the service',
  );
  t.strictSame(await stateAt(projected, { position: 0n }), [], 'nothing before the first event');
});
