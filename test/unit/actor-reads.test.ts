import { test } from 'tap';
import { accountAggregate } from '../../src/domain/account.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { grant, OPEN, sentBy, startNode, type TestNode } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import { accountId } from '../support/samples.ts';

/** Reads as a request does: as of the head that it has just looked at. */
async function look({ store, system }: TestNode) {
  return await system.read(accountAggregate, accountId(), await store.head());
}

void test('as of an unmoved head the stream is not read again', async (t) => {
  const node = startNode(t, testDirectory(t));
  await node.system.send(accountAggregate, accountId(), OPEN, sentBy('cmd_1'));
  await look(node);
  const stream = accountAggregate.stream(accountId());
  const before = node.store.reads.length;
  const reads = () =>
    node.store.reads.slice(before).filter((read) => read.stream === stream).length;
  t.equal((await look(node)).state.credits, 10);
  t.equal(reads(), 0);
  await node.system.send(
    accountAggregate,
    accountId(2),
    { ...OPEN, accountId: accountId(2) },
    sentBy('cmd_2'),
  );
  t.equal((await look(node)).state.credits, 10);
  t.equal(reads(), 1, 'another stream was appended to: it is read once');
  await look(node);
  t.equal(reads(), 1);
  await node.system.send(accountAggregate, accountId(), grant(5), sentBy('cmd_3'));
  t.equal((await look(node)).state.credits, 15);
  t.equal(reads(), 1, 'its own append says where the stream ends');
  await node.system.read(accountAggregate, accountId());
  t.equal(reads(), 2, 'without a position it is read as of now');
});

void test('what another node has appended is seen by the very next look', async (t) => {
  const dir = testDirectory(t);
  const [here, there] = [startNode(t, dir), startNode(t, dir)];
  await here.system.send(accountAggregate, accountId(), OPEN, sentBy('cmd_open'));
  for (let round = 1; round <= 50; round += 1) {
    const [writer, reader] = round % 2 === 0 ? [here, there] : [there, here];
    await look(reader);
    await writer.system.send(accountAggregate, accountId(), grant(1), sentBy(`cmd_${round}`));
    t.equal((await look(reader)).state.credits, 10 + round);
    t.equal((await look(writer)).state.credits, 10 + round);
  }
});

void test('readers that look while others append never see less than was there when they looked', async (t) => {
  const dir = testDirectory(t);
  const [here, there] = [startNode(t, dir), startNode(t, dir)];
  await here.system.send(accountAggregate, accountId(), OPEN, sentBy('cmd_open'));
  const progress = { granted: 0 };
  let tooLittle = 0;
  const writing = (async () => {
    for (let n = 1; n <= 100; n += 1) {
      await there.system.send(accountAggregate, accountId(), grant(1), sentBy(`cmd_${n}`));
      progress.granted = n;
    }
  })();
  const reading = async () => {
    while (progress.granted < 100) {
      const known = progress.granted;
      const { state } = await look(here);
      if (state.credits < 10 + known) tooLittle += 1;
      await new Promise(setImmediate);
    }
  };
  await Promise.all([writing, reading(), reading(), reading()]);
  t.equal(tooLittle, 0);
});

/** Has another node append to a stream that this one knows. Returns the count of events that this one reads afterwards. */
async function appendElsewhere(here: TestNode, there: TestNode, count: number) {
  await there.system.send(accountAggregate, accountId(), OPEN, sentBy('cmd_open'));
  await here.system.read(accountAggregate, accountId());
  const sent = Array.from({ length: count }, (_, n) =>
    there.system.send(accountAggregate, accountId(), grant(1), sentBy(`cmd_${n}`)),
  );
  await Promise.all(sent);
  const before = here.store.reads.length;
  return () => here.store.reads.slice(before).reduce((sum, { events }) => sum + events, 0);
}

void test('512 readers of 2,000 events that another node appended share their reads', async (t) => {
  const dir = testDirectory(t);
  const [here, there] = [startNode(t, dir), startNode(t, dir)];
  const eventsRead = await appendElsewhere(here, there, 2_000);
  // A server with a limit of time answers only so many reads at once.
  let underWay = 0;
  here.store.beforeRead = async () => {
    if (underWay >= 4) throw new EventStoreUnavailable('No answer in time.');
    underWay += 1;
    await new Promise(setImmediate);
    underWay -= 1;
  };
  const readers = Array.from({ length: 512 }, async (_, n) => {
    for (let turn = 0; turn < n % 8; turn += 1) await new Promise(setImmediate);
    return await here.system.read(accountAggregate, accountId());
  });
  const versions = await Promise.all(readers);
  t.strictSame(new Set(versions.map(({ state }) => state.credits)), new Set([2_010]));
  t.equal(eventsRead(), 2_000, 'each event is read once');
});

void test('a read that is cut off is resumed after the last page that came', async (t) => {
  const dir = testDirectory(t);
  const here = startNode(t, dir, { limits: { page: 100 } });
  const eventsRead = await appendElsewhere(here, startNode(t, dir), 1_000);
  let pages = 0;
  here.store.beforeRead = async () => {
    pages += 1;
    if (pages % 3 === 0) throw new EventStoreUnavailable('No answer in time.');
  };
  let cutOff = 0;
  for (;;) {
    const read = here.system.read(accountAggregate, accountId());
    const { state } = await read.catch(() => ({ state: undefined }));
    if (state?.credits === 1_010) break;
    t.equal(state, undefined, 'never a part of the stream as the whole');
    cutOff += 1;
    if (cutOff > 10) break;
  }
  t.equal(cutOff, 5);
  t.equal(eventsRead(), 1_000, 'no page is read twice');
});
