import { setImmediate } from 'node:timers/promises';
import { test } from 'tap';
import { StagedBlob } from '../../src/documents/port.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { ServiceError } from '../../src/errors/errors.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { grant, OPEN, request, sentBy, startNode } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import { accountId, blobRef, conversionId, sha256 } from '../support/samples.ts';

const ID = accountId();
const STREAM = accountAggregate.stream(ID);

const beginning = (commandId: string) => ({ ...sentBy(commandId), beginsStream: true });

void test('commands sent together are decided in order and appended together', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  const outcomes = await Promise.all([
    system.send(accountAggregate, ID, OPEN, sentBy('open')),
    ...Array.from({ length: 64 }, (_, n) =>
      system.send(accountAggregate, ID, request(n), sentBy(`request-${n}`)),
    ),
  ]);
  t.strictSame(store.appends, [22], 'opening, its grant and ten requests lie in one append');
  t.strictSame(
    outcomes.map((outcome) =>
      outcome.accepted ? outcome.state.credits : outcome.rejection.rejected,
    ),
    [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ...Array<string>(54).fill('insufficient_credits')],
    'each is answered with the state after itself',
  );
  const events = await store.readStream(STREAM);
  t.match(
    events.filter((event) => event.type === 'ConversionRequested'),
    Array.from({ length: 10 }, (_, n) => ({ data: { conversionId: conversionId(n) } })),
    'first come, first served',
  );
  t.equal(events[2]?.type, 'CreditDebited');
  const last = outcomes[10];
  t.match(last, { revision: 21, position: events.at(-1)?.position });
});

void test('what comes while an append is under way goes into the next one, whole', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  await system.send(accountAggregate, ID, OPEN, sentBy('open'));
  const more: Promise<unknown>[] = [];
  store.beforeAppend = async () => {
    store.beforeAppend = async () => {};
    for (let n = 0; n < 50; n += 1) {
      more.push(system.send(accountAggregate, ID, grant(1), sentBy(`grant-${n}`)));
    }
  };
  await system.send(accountAggregate, ID, grant(100), sentBy('first'));
  await Promise.all(more);
  t.strictSame(store.appends, [2, 1, 50]);
  t.match(await system.read(accountAggregate, ID), { state: { credits: 160 }, revision: 52 });
});

void test('no answer before the append: also no-ops and refusals wait for their neighbours', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  await system.send(accountAggregate, ID, { ...OPEN, credits: 1 }, sentBy('open'));
  const key = sha256(1);
  store.faults.push('unavailable');
  const sent = await Promise.allSettled([
    system.send(accountAggregate, ID, request(1, key), sentBy('a')),
    system.send(accountAggregate, ID, request(2, key), sentBy('b')),
    system.send(accountAggregate, ID, request(3), sentBy('c')),
  ]);
  for (const each of sent) {
    t.match(each, { status: 'rejected', reason: EventStoreUnavailable });
  }
  t.match(await system.read(accountAggregate, ID), { state: { credits: 1 }, revision: 1 });
});

void test('two systems that decide at once: conflicts are decided again, nothing is lost', async (t) => {
  const dir = testDirectory(t);
  const [one, two] = [startNode(t, dir), startNode(t, dir)];
  await one.system.send(accountAggregate, ID, OPEN, sentBy('open'));
  const send = async ({ system }: typeof one, from: number) => {
    const outcomes = [];
    for (let n = from; n < from + 20; n += 1) {
      outcomes.push(await system.send(accountAggregate, ID, request(n), sentBy(`request-${n}`)));
    }
    return outcomes;
  };
  const outcomes = (await Promise.all([send(one, 0), send(two, 100)])).flat();
  t.equal(outcomes.filter((outcome) => outcome.accepted).length, 10, 'ten credits, ten accepted');
  const events = await one.store.readStream(STREAM);
  t.strictSame(
    events.map((event) => event.revision),
    events.map((_, index) => index),
  );
  t.equal(events.length, 22);
});

void test('a conflict is decided again on what the other system appended', async (t) => {
  const dir = testDirectory(t);
  const [one, two] = [startNode(t, dir), startNode(t, dir)];
  await one.system.send(accountAggregate, ID, { ...OPEN, credits: 1 }, sentBy('open'));
  one.store.beforeAppend = async () => {
    one.store.beforeAppend = async () => {};
    await two.system.send(accountAggregate, ID, request(2), sentBy('two'));
  };
  const outcome = await one.system.send(accountAggregate, ID, request(1), sentBy('one'));
  t.match(outcome, { accepted: false, rejection: { rejected: 'insufficient_credits' } });
});

void test('conflicts without end give up with 503, and the next command finds its way', async (t) => {
  const { system, store } = startNode(t, testDirectory(t), { limits: { attempts: 7 } });
  await system.send(accountAggregate, ID, OPEN, sentBy('open'));
  store.faults.push(...Array<'conflict'>(7).fill('conflict'));
  const refused = system.send(accountAggregate, ID, grant(1), sentBy('unlucky'));
  await t.rejects(refused, { code: 'service_unavailable', retryAfter: 1 });
  t.match(await system.send(accountAggregate, ID, grant(2), sentBy('lucky')), {
    state: { credits: 12 },
  });
});

void test('a full mailbox refuses with 503 and answers what it took', async (t) => {
  const { system } = startNode(t, testDirectory(t), { limits: { mailbox: 3, batch: 2 } });
  const sent = await Promise.allSettled([
    system.send(accountAggregate, ID, OPEN, sentBy('open')),
    ...[1, 2, 3].map((n) => system.send(accountAggregate, ID, grant(n), sentBy(`grant-${n}`))),
  ]);
  t.strictSame(
    sent.map((each) => each.status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  );
  const last = sent[3];
  t.match(last, { reason: { code: 'service_unavailable', retryAfter: 1 } });
  t.ok(last?.status === 'rejected' && last.reason instanceof ServiceError);
  t.match(await system.read(accountAggregate, ID), { state: { credits: 13 } });
});

void test('refusals and no-ops rest on what other systems appended', async (t) => {
  const dir = testDirectory(t);
  const [one, two] = [startNode(t, dir), startNode(t, dir)];
  await one.system.send(accountAggregate, ID, { ...OPEN, credits: 0 }, sentBy('open'));
  const poor = await one.system.send(accountAggregate, ID, request(1), sentBy('poor'));
  t.match(poor, { rejection: { rejected: 'insufficient_credits' } });
  await two.system.send(accountAggregate, ID, grant(1), sentBy('grant'));
  const rich = await one.system.send(accountAggregate, ID, request(2), sentBy('rich'));
  t.match(rich, { accepted: true, state: { credits: 0 }, revision: 3 });

  await two.system.send(
    accountAggregate,
    ID,
    { type: 'ChangePlan', accountId: ID, plan: 'pro' },
    sentBy('pro'),
  );
  const back = { type: 'ChangePlan', accountId: ID, plan: 'free' } as const;
  t.match(await one.system.send(accountAggregate, ID, back, sentBy('free')), {
    events: [{ type: 'PlanChanged' }],
    revision: 5,
  });
});

void test('an answer without events says up to where its reader must have read', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  await system.send(accountAggregate, ID, { ...OPEN, credits: 1 }, sentBy('open'));
  const key = sha256(1);
  const [first, repeat] = await Promise.all([
    system.send(accountAggregate, ID, request(1, key), sentBy('a')),
    system.send(accountAggregate, ID, request(2, key), sentBy('b')),
  ]);
  const later = await system.send(accountAggregate, ID, request(3, key), sentBy('c'));
  const position = await store.head();
  for (const outcome of [repeat, later]) t.match(outcome, { events: [], revision: 3, position });
  t.match(first, { revision: 3, position });
  const nobody = { type: 'ChangePlan', accountId: ID, plan: 'free' } as const;
  t.match(await system.send(accountAggregate, 'nobody', nobody, sentBy('d')), {
    rejection: { rejected: 'not_found' },
  });
});

void test('blobs go with the commands that append something, and with no other', async (t) => {
  const { system } = startNode(t, testDirectory(t));
  const stored: string[] = [];
  const carrying = (id: string) => ({
    ...sentBy(id),
    blobs: [new StagedBlob(blobRef('request', 1), async () => void stored.push(id))],
  });
  await system.send(accountAggregate, ID, { ...OPEN, credits: 1 }, sentBy('open'));
  await Promise.all([
    system.send(accountAggregate, ID, request(1), carrying('accepted')),
    system.send(accountAggregate, ID, request(2), carrying('refused')),
  ]);
  t.strictSame(stored, ['accepted']);
});

void test('a command whose event is not of its shape fails alone', async (t) => {
  const { system } = startNode(t, testDirectory(t));
  await system.send(accountAggregate, ID, OPEN, sentBy('open'));
  const sent = await Promise.allSettled([
    system.send(accountAggregate, ID, grant(1), sentBy('a')),
    system.send(accountAggregate, ID, grant(0.5), sentBy('b')),
    system.send(accountAggregate, ID, grant(2), sentBy('c')),
  ]);
  t.match(sent, [
    { value: { state: { credits: 11 } } },
    { reason: TypeError },
    { value: { state: { credits: 13 } } },
  ]);
});

void test('a command that begins its stream looks for none, and finds one by its conflict', async (t) => {
  const dir = testDirectory(t);
  const [one, two] = [startNode(t, dir), startNode(t, dir)];
  const opened = await one.system.send(accountAggregate, ID, OPEN, beginning('open'));
  t.match(opened, { accepted: true, revision: 1 });
  t.strictSame(one.store.reads, []);
  const again = await two.system.send(accountAggregate, ID, OPEN, beginning('open again'));
  t.match(again, { accepted: true, events: [], revision: 1 }, 'it was opened before');
  t.strictSame(await one.store.readStream(STREAM, { from: 2 }), []);
});

void test('the state of a stream that has few events is not kept', async (t) => {
  const { system, store } = startNode(t, testDirectory(t));
  const brief = { ...accountAggregate, isBrief: true };
  store.faults.push('acknowledgement lost');
  await t.rejects(system.send(brief, ID, OPEN, beginning('open')), EventStoreUnavailable);
  t.match(await system.send(brief, ID, OPEN, beginning('open')), { accepted: true, events: [] });
  const grants = [1, 2, 3].map((n) => system.send(brief, ID, grant(n), sentBy(`grant-${n}`)));
  t.match(await Promise.all(grants), [{ revision: 2 }, { revision: 3 }, { revision: 4 }]);
  await setImmediate();
  t.equal(system.cached, 0);
});

void test('after close, commands that wait are answered and new ones refused', async (t) => {
  const { system } = startNode(t, testDirectory(t));
  const waiting = system.send(accountAggregate, ID, OPEN, sentBy('open'));
  await system.close();
  t.match(await waiting, { accepted: true });
  await t.rejects(system.send(accountAggregate, ID, grant(1), sentBy('late')), {
    code: 'service_unavailable',
  });
});
