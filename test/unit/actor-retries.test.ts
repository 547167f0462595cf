import { test } from 'tap';
import { accountActor } from '../../src/application/kinds.ts';
import { grant, OPEN, request, sentBy, startNode } from '../support/actors.ts';
import { accountId } from '../support/samples.ts';

const ID = accountId();

void test('not stored, sent again: done once', async (t) => {
  const { system, store } = startNode(t, t.testdir());
  await system.send(accountActor, ID, OPEN, sentBy('open'));
  store.faults.push('unavailable');
  await t.rejects(system.send(accountActor, ID, grant(5), sentBy('grant')), {
    name: 'EventStoreUnavailable',
  });
  store.reads.length = 0;
  t.match(await system.send(accountActor, ID, grant(5), sentBy('grant')), {
    state: { credits: 15 },
    revision: 2,
  });
  t.match(store.reads, [{ from: 2, events: 0 }], 'it is decided on what the store holds now');
});

void test('stored, acknowledgement lost, sent again: not doubled, and answered as accepted', async (t) => {
  const { system, store } = startNode(t, t.testdir());
  await system.send(accountActor, ID, OPEN, sentBy('open'));
  store.faults.push('acknowledgement lost');
  const lost = await Promise.allSettled([
    system.send(accountActor, ID, grant(5), sentBy('grant')),
    system.send(accountActor, ID, request(1), sentBy('request')),
  ]);
  t.match(lost, [{ status: 'rejected' }, { status: 'rejected' }]);
  const again = await Promise.all([
    system.send(accountActor, ID, request(1), sentBy('request')),
    system.send(accountActor, ID, grant(7), sentBy('another')),
    system.send(accountActor, ID, grant(5), sentBy('grant')),
  ]);
  t.match(again, [
    {
      state: { credits: 14 },
      revision: 4,
      events: [{ type: 'CreditDebited' }, { type: 'ConversionRequested' }],
    },
    { state: { credits: 21 }, revision: 5 },
    { state: { credits: 15 }, revision: 2, events: [{ type: 'CreditGranted' }] },
  ]);
  t.match(await system.read(accountActor, ID), { state: { credits: 21 }, revision: 5 });
});

void test('a retry that comes after others have moved the stream on is still known', async (t) => {
  const { system, store } = startNode(t, t.testdir());
  await system.send(accountActor, ID, OPEN, sentBy('open'));
  store.faults.push('acknowledgement lost');
  await t.rejects(system.send(accountActor, ID, grant(5), sentBy('grant')));
  await system.send(accountActor, ID, grant(1), sentBy('other'));
  await system.read(accountActor, ID);
  t.match(await system.send(accountActor, ID, grant(5), sentBy('grant')), {
    state: { credits: 15 },
  });
  t.match(await system.read(accountActor, ID), { state: { credits: 16 }, revision: 3 });
});

void test('a command that another process has stored is not doubled, alone or among others', async (t) => {
  const dir = t.testdir();
  const [one, two] = [startNode(t, dir), startNode(t, dir)];
  await one.system.send(accountActor, ID, OPEN, sentBy('open'));
  await one.system.send(accountActor, ID, grant(5), sentBy('grant'));
  const alone = await two.system.send(accountActor, ID, grant(5), sentBy('grant'));
  t.match(alone, { accepted: true, state: { credits: 15 }, revision: 2 });
  const among = await Promise.all([
    two.system.send(accountActor, ID, grant(1), sentBy('new')),
    two.system.send(accountActor, ID, grant(5), sentBy('grant')),
    two.system.send(accountActor, ID, grant(2), sentBy('newer')),
  ]);
  t.match(among, [{ accepted: true }, { accepted: true }, { accepted: true }]);
  t.match(await one.system.read(accountActor, ID), { state: { credits: 18 }, revision: 4 });
});

void test('the same command twice at once is done once and answered twice', async (t) => {
  const { system, store } = startNode(t, t.testdir());
  await system.send(accountActor, ID, OPEN, sentBy('open'));
  const twice = await Promise.all([
    system.send(accountActor, ID, grant(5), sentBy('grant')),
    system.send(accountActor, ID, grant(5), sentBy('grant')),
  ]);
  t.match(twice, [{ state: { credits: 15 } }, { state: { credits: 15 } }]);
  t.equal((await store.readStream(accountActor.stream(ID))).length, 3);
});
