import { join } from 'node:path';
import { test } from 'tap';
import { FileKeyring } from '../../../src/keyring/file.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import type { RenderReport } from '../../../src/render-queue/messages.ts';
import { violations } from '../../support/invariants.ts';
import {
  completed,
  failed,
  type ManagedNode,
  openManagedPlace,
  started,
} from '../../support/process-managers.ts';
import { accountId, NOW } from '../../support/samples.ts';

async function accepted(node: ManagedNode) {
  await node.openAccount();
  const conversionId = await node.request();
  const document = await node.storeDocument(conversionId);
  const job = { conversionId, attempt: 1 };
  return { job, conversionId, document };
}

const LIFE = [
  'ConversionStarted',
  'ConversionCompleted',
  'ConversionFailed',
  'ConversionOutcomeIgnored',
];

void test('a report becomes an event that says who reported and what caused it', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, conversionId, document } = await accepted(node);
  node.run(startOutcomes(node));
  await node.queue.report(started(job));
  await node.queue.report({ ...completed(job, document), at: NOW + 5 });
  const [start, end] = place.log(...LIFE);
  t.match(JSON.parse(start?.data ?? ''), { conversionId, renderer: 'test', startedAt: NOW });
  t.match(JSON.parse(end?.data ?? ''), { conversionId, document, pages: 1, completedAt: NOW + 5 });
  t.match(JSON.parse(end?.metadata ?? ''), {
    correlationId: conversionId,
    causationId: `${conversionId}/test/1/completed`,
    actor: { kind: 'renderer', id: 'test' },
    time: NOW + 5,
  });
});

void test('a report is recorded once, however often and wherever it comes', async (t) => {
  const place = openManagedPlace(t);
  const nodes = [await place.node('one'), await place.node('two')] as const;
  const { job, document } = await accepted(nodes[0]);
  for (const node of nodes) node.run(startOutcomes(node));
  const everywhere = async (report: RenderReport): Promise<void> => {
    await Promise.all([...nodes, ...nodes].map(({ queue }) => queue.report(report)));
    await nodes[1].queue.report(report);
  };
  await everywhere(started(job));
  await everywhere(completed(job, document));
  await everywhere(started(job));
  t.strictSame(
    place.log(...LIFE).map(({ type }) => type),
    ['ConversionStarted', 'ConversionCompleted'],
  );
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('late and second outcomes are recorded as ignored, each once', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, document } = await accepted(node);
  node.run(startOutcomes(node));
  const other = { ...failed(job), renderer: 'other', attempt: 2 };
  await node.queue.report(completed(job, document));
  for (const late of [other, failed(job), other, failed(job), other]) {
    await node.queue.report(late);
  }
  await node.queue.report({ ...started(job), renderer: 'late', attempt: 3 });
  const ignored = place.log('ConversionOutcomeIgnored').map(({ data }) => JSON.parse(data));
  t.match(ignored, [
    { renderer: 'other', attempt: 2, outcome: 'failed' },
    { renderer: 'test', attempt: 1, outcome: 'failed' },
  ]);
  t.equal(ignored.length, 2);
  t.equal(place.log('ConversionStarted').length, 0, 'nothing starts after the end');
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('of two outcomes at once one counts', async (t) => {
  const place = openManagedPlace(t);
  const [one, two] = [await place.node('one'), await place.node('two')];
  const { job, document } = await accepted(one);
  for (const node of [one, two]) node.run(startOutcomes(node));
  await Promise.all([
    one.queue.report(completed(job, document)),
    two.queue.report({ ...failed(job), renderer: 'other' }),
  ]);
  const [end, ignored, ...more] = place.log(...LIFE).map(({ type }) => type);
  t.match(end, /^Conversion(Completed|Failed)$/);
  t.equal(ignored, 'ConversionOutcomeIgnored');
  t.strictSame(more, []);
});

for (const fault of ['unavailable', 'acknowledgement lost'] as const) {
  void test(`a report is kept while the store fails: ${fault}`, async (t) => {
    const place = openManagedPlace(t);
    const node = await place.node();
    const { job, document } = await accepted(node);
    node.run(startOutcomes(node));
    node.store.faults.push(fault);
    await node.queue.report(completed(job, document));
    t.strictSame(node.store.faults, []);
    t.strictSame(
      place.log(...LIFE).map(({ type }) => type),
      ['ConversionCompleted'],
    );
  });
}

void test('why a conversion failed is sealed, also when its account is erased by then', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, conversionId } = await accepted(node);
  const second = await node.request();
  node.run(startOutcomes(node));
  const message = 'Nothing on the page matches #secret.';
  await node.queue.report({ ...failed(job), message });
  await new FileKeyring(join(place.dataDir, 'keyring'), Buffer.alloc(32, 7)).erase(accountId(2));
  await node.queue.report({
    ...failed({ conversionId: second, attempt: 1, accountId: accountId(2) }),
    message,
  });
  const failures = place.log('ConversionFailed').map(({ data }) => JSON.parse(data));
  t.match(failures, [{ conversionId }, { conversionId: second }]);
  t.equal(await node.vault.unseal(accountId(), failures[0].message), message);
  t.notMatch(JSON.stringify(place.log()), 'secret');
});
