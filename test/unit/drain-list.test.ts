import { test } from 'tap';
import { drainList } from '../../src/async/drain-list.ts';
import { conversionId } from '../support/samples.ts';

const going = new AbortController().signal;

const due = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ conversionId: conversionId(from + n) }));

/** A list whose rows go when it has caught up with what was done. */
function listOf(count: number, stuck: readonly string[] = []) {
  let rows = due(1, count);
  const done: string[] = [];
  return {
    done,
    next: (limit: number) => rows.slice(0, limit),
    handle: async ({ conversionId: id }: { conversionId: string }) => {
      done.push(id);
    },
    caughtUp: async () => {
      const gone = new Set(done.filter((id) => !stuck.includes(id)));
      rows = rows.filter(({ conversionId: id }) => !gone.has(id));
    },
  };
}

void test('all of a long list is done once, in order', async (t) => {
  for (const count of [0, 1, 199, 200, 201, 400, 555]) {
    const list = listOf(count);
    await drainList(list.next, list.handle, going, list.caughtUp);
    t.strictSame(
      list.done,
      due(1, count).map(({ conversionId: id }) => id),
      `${count}`,
    );
  }
});

void test('a row that stays does not keep it going for ever, and the others are done', async (t) => {
  const list = listOf(500, [conversionId(7)]);
  await t.rejects(drainList(list.next, list.handle, going, list.caughtUp), {
    message: `What is due was done and is still due: { conversionId: '${conversionId(7)}' }`,
  });
  t.ok(list.done.includes(conversionId(399)));
});

const fail = () => Promise.reject(new Error('the store is away'));

void test('a row that fails does not hold up those behind it, and is told', async (t) => {
  const list = listOf(30);
  const failing = new Set([1, 2, 9].map(conversionId));
  const handle: typeof list.handle = (row) =>
    failing.has(row.conversionId)
      ? Promise.reject(new Error(`no ${row.conversionId}`))
      : list.handle(row);
  await t.rejects(drainList(list.next, handle, going, list.caughtUp), {
    message: `no ${conversionId(1)}`,
  });
  t.equal(list.done.length, 27);
});

void test('where all fail, it ends soon', async (t) => {
  const list = listOf(500);
  let tries = 0;
  const handle = () => {
    tries += 1;
    return fail();
  };
  await t.rejects(drainList(list.next, handle, going, list.caughtUp), {
    message: 'the store is away',
  });
  t.equal(tries, 10);
});

void test('a stop lets what is under way end and leaves the rest', async (t) => {
  const list = listOf(555);
  const stopping = new AbortController();
  const handle: typeof list.handle = async (row) => {
    if (list.done.length === 2) stopping.abort();
    return list.handle(row);
  };
  await drainList(list.next, handle, stopping.signal, list.caughtUp);
  t.equal(list.done.length, 3);
});
