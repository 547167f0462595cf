import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'tap';
import { conversionQueries } from '../../../projections/conversions.ts';
import { storedBlobQueries } from '../../../projections/stored-blobs.ts';
import { unfinishedQueries } from '../../../projections/unfinished-conversions.ts';
import { fileKeyring } from '../../../src/documents/keys/file-records.ts';
import { KeyringUnavailable } from '../../../src/documents/keys/port.ts';
import { BlobStoreUnavailable } from '../../../src/documents/port.ts';
import { conversionAggregate } from '../../../src/domain/conversion.ts';
import { ServiceError } from '../../../src/errors/errors.ts';
import { Budgets } from '../../../src/limits/budgets.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { startRefunds } from '../../../src/process-managers/refunds.ts';
import type { RenderReport } from '../../../src/render-queue/messages.ts';
import { eventually } from '../../support/deadline.ts';
import { balanceOf, violations } from '../../support/invariants.ts';
import {
  completed,
  DEFAULT_LIMITS,
  failed,
  type ManagedNode,
  openManagedPlace,
  started,
} from '../../support/process-managers.ts';
import {
  accountId,
  conversionId as inventedId,
  DAY_MS,
  NOW,
  sha256,
} from '../../support/samples.ts';

async function accepted(node: ManagedNode) {
  await node.openAccount();
  const conversionId = await node.request();
  const document = await node.storeDocument(conversionId);
  const job = { conversionId, attempt: 1 };
  return { job, conversionId, document };
}

const LIFE = [
  'ConversionStarted',
  'ConversionRequeued',
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

void test('a try that is requeued is none, and the next has its number', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, conversionId, document } = await accepted(node);
  node.run(startOutcomes(node));
  const attempts = async (): Promise<number | undefined> => {
    await node.caughtUp();
    return node.readModel.query(unfinishedQueries).byId(conversionId)?.attempts;
  };
  await node.queue.report(started(job));
  t.equal(await attempts(), 1);
  for (let n = 0; n < 2; n += 1) {
    await node.queue.report({ ...started(job), kind: 'requeued', attempt: 1 });
    t.equal(await attempts(), 0);
  }
  await node.queue.report({ ...started(job), renderer: 'other', delivery: 'next' });
  t.equal(await attempts(), 1);
  await node.queue.report({ ...completed(job, document), renderer: 'other' });
  t.strictSame(
    place.log(...LIFE).map(({ type }) => type),
    ['ConversionStarted', 'ConversionRequeued', 'ConversionStarted', 'ConversionCompleted'],
  );
});

void test('the log numbers the tries, and fails what no renderer survives', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { conversionId } = await accepted(node);
  node.run(startOutcomes(node));
  const start = (attempt: number) => node.queue.report(started({ conversionId, attempt }));
  for (const attempt of [1, 2, 3]) {
    t.strictSame(await start(attempt), { ended: false, attempt });
    t.strictSame(await start(attempt), { ended: false, attempt }, 'said again');
  }
  t.match(await start(4), { ended: true });
  t.match(await start(5), { ended: true });
  const types = place.log(...LIFE).map(({ type }) => type);
  const starts = Array.from({ length: 3 }, () => 'ConversionStarted');
  t.strictSame(types, [...starts, 'ConversionFailed']);
  const [failure] = place.log('ConversionFailed');
  const { message, ...rest } = JSON.parse(failure?.data ?? '');
  t.match(rest, { renderer: 'service', attempt: 3, code: 'renderer_failed' });
  t.match(await node.vault.unseal(accountId(), message), /broke off on each of 3 tries/);
  t.match(JSON.parse(failure?.metadata ?? ''), { actor: { kind: 'service' } });
  t.strictSame(violations(place.log(), { settled: false }), []);
});

void test('what may be tried again fails with the third try', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { conversionId } = await accepted(node);
  node.run(startOutcomes(node));
  for (const attempt of [1, 2, 3]) {
    await node.queue.report(started({ conversionId, attempt }));
    const crashed = { ...failed({ conversionId, attempt }), retryable: true };
    t.strictSame(await node.queue.report(crashed), { ended: attempt === 3, attempt });
  }
  const [failure, ...more] = place.log('ConversionFailed');
  t.match(JSON.parse(failure?.data ?? ''), { renderer: 'test', attempt: 3, code: 'timeout' });
  t.strictSame(more, []);
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

void test('a report that comes again is not refused for the room that its own PDF takes', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, document } = await accepted(node);
  await node.caughtUp();
  const stored = node.readModel.query(storedBlobQueries).bytesOf(accountId());
  const limits = { ...DEFAULT_LIMITS, maxAccountStoredBytes: stored + document.bytes };
  const budgets = new Budgets(limits);
  node.run(startOutcomes({ ...node, budgets }));
  for (let n = 0; n < 3; n += 1) {
    await node.queue.report(completed(job, document));
    await node.caughtUp();
  }
  t.strictSame(
    place.log(...LIFE).map(({ type }) => type),
    ['ConversionCompleted'],
  );
  t.equal(budgets.get('maxAccountStoredBytes').count().refused, 0);
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
  await node.queue.report({ ...started(job), renderer: 'late', delivery: '3' });
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
  await node.openAccount(2);
  const second = await node.request(2);
  node.run(startOutcomes(node));
  const message = 'Nothing on the page matches #secret.';
  await node.queue.report({ ...failed(job), message });
  await fileKeyring(join(place.dataDir, 'keyring'), Buffer.alloc(32, 7)).erase(accountId(2));
  await node.queue.report({
    ...failed({ conversionId: second, attempt: 1, accountId: accountId(2) }),
    message,
  });
  const failures = place.log('ConversionFailed').map(({ data }) => JSON.parse(data));
  t.match(failures, [{ conversionId }, { conversionId: second, message: 'erased' }]);
  t.equal(await node.vault.unseal(accountId(), failures[0].message), message);
  t.notMatch(JSON.stringify(place.log()), 'secret');
});

/** A node's logger, and what it was told at that level or above. */
function listening(node: ManagedNode, level: 'info' | 'warn' | 'error') {
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  return { lines, deps: { ...node, logger: pino({ level }, { write }) } };
}

void test('a line says how a conversion ended, why, and where its time went', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, conversionId, document } = await accepted(node);
  const { lines, deps } = listening(node, 'info');
  node.run(startOutcomes(deps));
  const begun = { ...started(job), at: NOW + 40 };
  await node.queue.report(begun);
  t.strictSame(lines, [], 'its start is none');
  const end = { ...completed(job, document), at: NOW + 9_000 };
  for (let times = 0; times < 2; times += 1) await node.queue.report(end);
  const second = { conversionId: await node.request(), attempt: 1 };
  await node.queue.report({ ...failed(second), at: NOW + 10 });
  const { timings, pdf, pages } = end;
  const { queued, load, ready, print, store } = timings;
  const [rendered, stored] = [Math.round(queued + load + ready + print), Math.round(store)];
  t.match(lines, [
    {
      msg: `${conversionId} completed`,
      accountId: accountId(),
      pages,
      bytes: pdf.bytes,
      totalMs: 9_000,
      queuedMs: 9_000 - rendered - stored,
      renderMs: rendered,
      storeMs: stored,
    },
    {
      msg: `${second.conversionId} failed`,
      code: 'timeout',
      totalMs: 10,
    },
  ]);
  t.equal(lines.length, 2, 'a repeated report adds none');
});

void test('what was never accepted is dropped, told once for a time, and mints no credit', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount(1, 10);
  const { lines, deps } = listening(node, 'warn');
  node.run(startOutcomes(deps));
  node.run(startRefunds(node));
  for (const n of [1, 2, 3, 4, 5]) {
    const job = { conversionId: inventedId(n), attempt: 1 };
    await node.queue.report(started(job));
    await node.queue.report(failed(job));
  }
  await node.queue.report(failed({ conversionId: await node.request(), attempt: 1 }));
  await place.logged('CreditRefunded', 1);
  t.equal(balanceOf(place.log(), accountId()), 10);
  t.equal(place.log(...LIFE).length, 1);
  t.equal(lines.length, 1);
  t.match(lines[0], { msg: /never accepted/, conversionId: inventedId(1) });
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('whose a conversion is, its acceptance says, not the report', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount(1, 10);
  await node.openAccount(2, 10);
  node.run(startOutcomes(node));
  node.run(startRefunds(node));
  const conversionId = await node.request(1);
  const job = { conversionId, attempt: 1, accountId: accountId(2) };
  await node.queue.report(started(job));
  await node.queue.report(failed(job));
  await place.logged('CreditRefunded', 1);
  for (const { data } of place.log(...LIFE, 'CreditRefunded')) {
    t.match(JSON.parse(data), { accountId: accountId(1), conversionId });
  }
  for (const n of [1, 2]) t.equal(balanceOf(place.log(), accountId(n)), 10);
  const [failure] = place.log('ConversionFailed');
  const { message } = JSON.parse(failure?.data ?? '');
  t.equal(await node.vault.unseal(accountId(1), message), 'The page took too long.');
});

void test('a renderer that is taken over cannot say when a document is deleted', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  node.run(startOutcomes(node));
  const MINUTE_MS = 60_000;
  for (const [said, recorded] of [
    [0, NOW],
    [NOW - DAY_MS, NOW],
    [NOW + 6 * MINUTE_MS, NOW],
    [8.64e15, NOW],
    [NOW - 4 * MINUTE_MS, NOW - 4 * MINUTE_MS],
    [NOW + 4 * MINUTE_MS, NOW + 4 * MINUTE_MS],
  ] as const) {
    const conversionId = await node.request();
    await node.queue.report({ ...failed({ conversionId, attempt: 1 }), at: said });
    const end = place.log('ConversionFailed').at(-1);
    t.match(JSON.parse(end?.data ?? ''), { conversionId, failedAt: recorded }, `${said}`);
    t.match(JSON.parse(end?.metadata ?? ''), { time: recorded });
  }
});

void test('a PDF of another length than what is stored fails its conversion', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, conversionId, document } = await accepted(node);
  node.run(startOutcomes(node));
  const report = completed(job, document);
  await node.queue.report({ ...report, pdf: { ...report.pdf, bytes: report.pdf.bytes + 1 } });
  const [end] = place.log(...LIFE);
  t.match(end, { type: 'ConversionFailed' });
  const { message } = JSON.parse(end?.data ?? '');
  t.match(await node.vault.unseal(accountId(), message), /another document/);
  t.equal(node.readModel.query(conversionQueries).byId(conversionId)?.pdf, undefined);
});

void test('a PDF of an account that was erased meanwhile fails its conversion', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, document } = await accepted(node);
  node.run(startOutcomes(node));
  await node.keyring.erase(accountId());
  await node.queue.report(completed(job, document));
  const [end] = place.log(...LIFE);
  t.match(end, { type: 'ConversionFailed' });
  t.match(JSON.parse(end?.data ?? ''), { message: 'erased' });
});

void test('what can never be recorded is dropped with one line', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { job, document } = await accepted(node);
  const { lines, deps } = listening(node, 'warn');
  node.run(startOutcomes(deps));
  const broken = { ...completed(job, document), pages: 0.5 };
  t.match(await node.queue.report(broken), { ended: false }, 'it may be tried again');
  await node.queue.report({ ...failed(job), attempt: 1e300 });
  t.strictSame(place.log(...LIFE), []);
  t.match(lines, [
    { level: 50, msg: /never/ },
    { level: 50, msg: /never/ },
  ]);
  await node.queue.report(completed(job, document));
  t.equal(place.log('ConversionCompleted').length, 1, 'and holds up nothing');
});

for (const fault of [
  new BlobStoreUnavailable('away'),
  new KeyringUnavailable('away'),
  new ServiceError('service_unavailable'),
]) {
  void test(`a report comes again after ${fault.name}`, async (t) => {
    const place = openManagedPlace(t);
    const node = await place.node();
    const { job } = await accepted(node);
    const { lines, deps } = listening(node, 'warn');
    let faults = 1;
    const seal = async (account: string, text: string): Promise<string> => {
      if (faults-- > 0) throw fault;
      return await node.vault.seal(account, text);
    };
    node.run(startOutcomes({ ...deps, vault: { ...node.vault, seal } }));
    await node.queue.report(failed(job));
    t.equal(place.log('ConversionFailed').length, 1);
    t.match(lines, [{ level: 40, msg: /not be recorded yet/ }]);
  });
}

void test('a report comes again while the read model cannot catch up', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  await node.caughtUp();
  await node.runner.stop();
  const { lines, deps } = listening(node, 'warn');
  const outcomes = startOutcomes(deps);
  const conversionId = await node.request();
  const reported = node.queue.report(failed({ conversionId, attempt: 1 }));
  await eventually('a try', () => lines.length > 0 || undefined);
  await outcomes.stop();
  const other = await place.node('other');
  node.run(startOutcomes({ ...deps, readModel: other.readModel, runner: other.runner }));
  await reported;
  t.equal(place.log('ConversionFailed').length, 1);
});

void test('a PDF is taken with the signature that was made for its try, and with no other', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  node.run(startOutcomes(node));
  const signature = { level: 'B-B', certificate: sha256(1) } as const;
  /** @param made the deliveries that the service signed for */
  const endOf = async (
    signedBy: 'account' | undefined,
    made: readonly string[],
    told?: typeof signature,
  ): Promise<unknown> => {
    const conversionId = await node.request(1, '<p>one</p>', signedBy ? { signedBy } : {});
    const job = { conversionId, attempt: 1 };
    await node.queue.report(started(job));
    await node.queue.report({ ...started(job), delivery: 'other' });
    for (const delivery of made) {
      const about = { accountId: accountId(), conversionId, delivery, digest: sha256(2) };
      const command = { type: 'RecordSignature', ...about, ...signature, at: NOW } as const;
      const metadata = {
        correlationId: 'c',
        causationId: 'c',
        actor: { kind: 'service' },
        time: NOW,
      } as const;
      const context = { commandId: `${conversionId}/${delivery}`, metadata };
      await node.actors.send(conversionAggregate, conversionId, command, context);
    }
    const report = completed(job, await node.storeDocument(conversionId));
    await node.queue.report({ ...report, ...(told && { signature: told }) });
    const ends = place.log('ConversionCompleted', 'ConversionFailed');
    const { type, data } = ends.at(-1) ?? {};
    return type === 'ConversionFailed' ? JSON.parse(data ?? '').code : type;
  };
  const { delivery } = started({ conversionId: '', attempt: 1 });
  t.equal(await endOf('account', [delivery], signature), 'ConversionCompleted');
  const other = { ...signature, certificate: sha256(3) };
  t.equal(await endOf('account', [delivery], other), 'not_signed', 'another certificate');
  t.equal(await endOf('account', [delivery]), 'not_signed', 'the renderer left it out');
  t.equal(await endOf('account', ['other'], signature), 'not_signed', 'that of another try');
  t.equal(await endOf('account', [], signature), 'not_signed', 'nobody signed');
  t.equal(await endOf(undefined, [], signature), 'not_signed', 'nobody asked for it');
});
