import { test } from 'tap';
import { accountAggregate } from '../../src/domain/account.ts';
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
