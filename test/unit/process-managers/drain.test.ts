import { test } from 'tap';
import { drainList } from '../../../src/process-managers/drain.ts';
import { conversionId } from '../../support/samples.ts';

const going = new AbortController().signal;

const due = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ conversionId: conversionId(from + n) }));

/** A list whose rows go when the read model has got to the position that took them off. */
function listOf(count: number, stuck: readonly string[] = []) {
  let rows = due(1, count);
  const done: string[] = [];
  const gone = new Map<string, bigint>();
  return {
    done,
    next: (limit: number) => rows.slice(0, limit),
    handle: async ({ conversionId: id }: { conversionId: string }) => {
      done.push(id);
      if (stuck.includes(id)) return undefined;
      gone.set(id, BigInt(done.length));
      return BigInt(done.length);
    },
    runner: {
      waitFor: async (position: bigint) => {
        rows = rows.filter(({ conversionId: id }) => (gone.get(id) ?? position + 1n) > position);
      },
    },
  };
}

void test('all of a long list is done once, in order', async (t) => {
  for (const count of [0, 1, 199, 200, 201, 400, 555]) {
    const list = listOf(count);
    await drainList(list.runner, list.next, list.handle, going);
    t.strictSame(
      list.done,
      due(1, count).map(({ conversionId: id }) => id),
      `${count}`,
    );
  }
});

void test('a row that stays does not keep it going for ever, and the others are done', async (t) => {
  const list = listOf(500, [conversionId(7)]);
  await t.rejects(drainList(list.runner, list.next, list.handle, going), {
    message: `What is due for ${conversionId(7)} was done and is still due.`,
  });
  t.ok(list.done.includes(conversionId(399)));
});

const fail = () => Promise.reject(new Error('the store is away'));

void test('a fault ends it', async (t) => {
  const list = listOf(500);
  await t.rejects(drainList(list.runner, list.next, fail, going), { message: 'the store is away' });
});

void test('a stop lets what is under way end and leaves the rest', async (t) => {
  const list = listOf(555);
  const stopping = new AbortController();
  const handle: typeof list.handle = async (row) => {
    if (list.done.length === 2) stopping.abort();
    return list.handle(row);
  };
  await drainList(list.runner, list.next, handle, stopping.signal);
  t.equal(list.done.length, 3);
});
