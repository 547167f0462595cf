/** Commands that are sent again: what is stored of them is told by the state, not by their ids. */
import { test } from 'tap';
import { acceptedWithKey, accountAggregate } from '../../src/domain/account.ts';
import { grant, OPEN, request, sentBy, startNode } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import { accountId, conversionId, NOW, sha256 } from '../support/samples.ts';

const ID = accountId();

void test('not stored, sent again: done once', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  await system.send(accountAggregate, ID, OPEN, sentBy('open'));
  store.faults.push('unavailable');
  await t.rejects(system.send(accountAggregate, ID, grant(5), sentBy('grant')), {
    name: 'EventStoreUnavailable',
  });
  store.reads.length = 0;
  t.match(await system.send(accountAggregate, ID, grant(5), sentBy('grant')), {
    state: { credits: 15 },
    revision: 2,
  });
  t.match(store.reads, [{ from: 2, events: 0 }], 'it is decided on what the store holds now');
});

void test('stored, acknowledgement lost, sent again with its key: the first answer', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  await system.send(accountAggregate, ID, OPEN, sentBy('open'));
  const key = sha256(1);
  store.faults.push('acknowledgement lost');
  await t.rejects(system.send(accountAggregate, ID, request(1, key), sentBy('first')), {
    name: 'EventStoreUnavailable',
  });
  const [again, next] = await Promise.all([
    system.send(accountAggregate, ID, request(2, key), sentBy('second')),
    system.send(accountAggregate, ID, request(3), sentBy('next')),
  ]);
  t.match(again, { accepted: true, events: [], state: { credits: 9 } });
  t.match(next, { accepted: true, state: { credits: 8 } });
  if (again.accepted) {
    t.match(acceptedWithKey(again.state, key, NOW), { conversionId: conversionId(1) });
  }
  t.match(await system.read(accountAggregate, ID), { state: { credits: 8 }, revision: 5 });
});

void test('what an append without an answer has stored is read before the next decision', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  await system.send(accountAggregate, ID, { ...OPEN, credits: 1 }, sentBy('open'));
  store.faults.push('acknowledgement lost');
  await t.rejects(system.send(accountAggregate, ID, request(1), sentBy('first')));
  t.match(await system.send(accountAggregate, ID, request(2), sentBy('second')), {
    rejection: { rejected: 'insufficient_credits' },
  });
  t.match(await system.read(accountAggregate, ID), { state: { credits: 0 }, revision: 3 });
});

void test('the same request twice at once, on two nodes: one conversion, one debit', async (t) => {
  const dir = testDirectory(t);
  const [one, two] = [startNode(t, dir), startNode(t, dir)];
  await one.system.send(accountAggregate, ID, OPEN, sentBy('open'));
  const key = sha256(1);
  const outcomes = await Promise.all(
    [one, one, two, two].map(({ system }, n) =>
      system.send(accountAggregate, ID, request(n, key), sentBy(`request-${n}`)),
    ),
  );
  t.equal(outcomes.filter((each) => each.accepted && each.events.length > 0).length, 1);
  t.ok(outcomes.every((each) => each.accepted && each.state.credits === 9));
  t.equal((await two.store.readStream(accountAggregate.stream(ID))).length, 4);
});
