import { test } from 'tap';
import { conversionQueries } from '../../../projections/conversions.ts';
import { refundsDueQueries } from '../../../projections/refunds-due.ts';
import { storedBlobQueries } from '../../../projections/stored-blobs.ts';
import { type Priority, unfinishedQueries } from '../../../projections/unfinished-conversions.ts';
import {
  completion,
  expiry,
  failure,
  opening,
  refund,
  request,
  start,
} from '../../support/history.ts';
import { write } from '../../support/log.ts';
import { openProjected } from '../../support/projected.ts';
import { idsOf } from '../../support/render-queue.ts';
import {
  accountId,
  blobRef,
  conversionId,
  NOW,
  OPTIONS,
  PDF,
  sha256,
} from '../../support/samples.ts';

void test('a conversion through each of its states', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const row = () => readModel.query(conversionQueries).byId(conversionId(1));
  await runner.waitFor(await write(log, [opening(1, 10)]));
  t.equal(row(), undefined);

  const base = {
    id: conversionId(1),
    accountId: accountId(1),
    createdAt: NOW + 1,
    source: 'html',
    expired: false,
  };
  await runner.waitFor(await write(log, [request(1, 1)]));
  t.strictSame(row(), { ...base, status: 'pending' });
  await runner.waitFor(await write(log, [start(1, 1)]));
  t.strictSame(row(), { ...base, status: 'processing' });
  await runner.waitFor(await write(log, [completion(1, 1)]));
  const completed = {
    ...base,
    status: 'completed',
    completedAt: NOW + 901,
    document: blobRef('document', 1),
    pdf: PDF,
    pages: 2,
  };
  t.strictSame(row(), completed);
  await runner.waitFor(await write(log, [expiry(1, 1)]));
  t.strictSame(row(), { ...completed, expired: true });

  await runner.waitFor(await write(log, [request(2, 1), start(2, 1), failure(2, 1)]));
  t.strictSame(readModel.query(conversionQueries).byId(conversionId(2)), {
    id: conversionId(2),
    accountId: accountId(1),
    createdAt: NOW + 2,
    source: 'html',
    status: 'failed',
    failedAt: NOW + 902,
    failureCode: 'timeout',
    errorMessage: 'sealed reason',
    expired: false,
  });
});

void test('pages of an account, newest first, by status and without', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const steps = [opening(1, 100), opening(2, 100), request(99, 2)];
  for (let n = 1; n <= 10; n += 1) steps.push(request(n, 1));
  for (let n = 1; n <= 7; n += 1) steps.push(start(n, 1));
  for (const n of [1, 2, 5]) steps.push(completion(n, 1));
  for (const n of [3, 4]) steps.push(failure(n, 1));
  await runner.waitFor(await write(log, steps));
  const numbers = (page: Parameters<ReturnType<typeof conversionQueries>['page']>[1]) => {
    const { rows, total } = readModel.query(conversionQueries).page(accountId(1), page);
    return [rows.map((row) => Number(row.id.slice(-2))), total];
  };
  t.strictSame(numbers({ offset: 0, limit: 4 }), [[10, 9, 8, 7], 10]);
  t.strictSame(numbers({ offset: 8, limit: 4 }), [[2, 1], 10]);
  t.strictSame(numbers({ offset: 10, limit: 4 }), [[], 10]);
  t.strictSame(numbers({ offset: 50, limit: 4 }), [[], 10]);
  t.strictSame(numbers({ status: 'completed', offset: 0, limit: 2 }), [[5, 2], 3]);
  t.strictSame(numbers({ status: 'completed', offset: 2, limit: 2 }), [[1], 3]);
  t.strictSame(numbers({ status: 'failed', offset: 0, limit: 20 }), [[4, 3], 2]);
  t.strictSame(numbers({ status: 'processing', offset: 0, limit: 20 }), [[7, 6], 2]);
  t.strictSame(numbers({ status: 'pending', offset: 1, limit: 20 }), [[9, 8], 3]);
  const stranger = readModel.query(conversionQueries).page(accountId(3), { offset: 0, limit: 5 });
  t.strictSame(stranger, { rows: [], total: 0 });
});

const unfinishedRow = (n: number, position: bigint) => ({
  position,
  conversionId: conversionId(n),
  accountId: accountId(1),
  request: blobRef('request', n),
  options: OPTIONS,
  requestedAt: NOW + n,
  attempts: 0,
  priority: 'normal' as const,
});

void test('what is unfinished, by the position of its request', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const unfinished = () => readModel.query(unfinishedQueries);
  await write(log, [opening(1, 100)]);
  const first = await write(log, [request(1, 1)]);
  const second = await write(log, [request(2, 1)]);
  await runner.waitFor(await write(log, [request(3, 1), start(2, 1)]));
  const last = await write(log, [request(4, 2, { priority: 'low' })]);
  await runner.waitFor(last);
  const rows = (n: number, priority: Priority, after: bigint, limit: number) =>
    unfinished().ofAccount(accountId(n), priority, after, limit);
  t.strictSame(rows(1, 'normal', 0n, 2), [
    unfinishedRow(1, first),
    { ...unfinishedRow(2, second), attempts: 1, startedAt: NOW + 102 },
  ]);
  t.strictSame(idsOf(rows(1, 'normal', second, 2)), [3].map(conversionId));
  t.strictSame(idsOf(rows(2, 'low', 0n, 2)), [4].map(conversionId));
  t.strictSame([...rows(1, 'low', 0n, 2), ...rows(2, 'normal', 0n, 2)], []);
  t.strictSame(unfinished().after(0n, 1), [
    { position: first, conversionId: conversionId(1), accountId: accountId(1), priority: 'normal' },
  ]);
  t.strictSame(idsOf(unfinished().after(second, 3)), [3, 4].map(conversionId));
  t.strictSame(unfinished().byId(conversionId(1)), unfinishedRow(1, first));
  t.equal(unfinished().count(), 4);
  await runner.waitFor(await write(log, [completion(1, 1), failure(2, 1)]));
  t.equal(unfinished().count(), 2);
  t.equal(unfinished().byId(conversionId(1)), undefined);
  t.strictSame(
    [unfinished().has(conversionId(1)), unfinished().has(conversionId(3))],
    [false, true],
  );
});

void test('refunds due, in the order of the failures', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const due = (limit: number) => readModel.query(refundsDueQueries).next(limit);
  await write(log, [opening(1, 100), request(1, 1), request(2, 1), request(3, 1)]);
  const second = await write(log, [failure(2, 1)]);
  const first = await write(log, [failure(1, 1)]);
  await runner.waitFor(await write(log, [completion(3, 1)]));
  const events = await log.store.readAll({ after: second - 1n });
  const row = (n: number, position: bigint, number: number) => ({
    position,
    failure: number,
    conversionId: conversionId(n),
    accountId: accountId(1),
    failedEventId: events.find((event) => event.position === position)?.id,
  });
  t.strictSame(due(10), [row(2, second, 1), row(1, first, 2)]);
  t.strictSame(due(1), [row(2, second, 1)]);
  await runner.waitFor(await write(log, [refund(2, 1)]));
  t.strictSame(due(10), [row(1, first, 2)]);
});

void test('deletions due: what failed at once, what completed by the time of its end', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const due = (before: number, limit = 10) =>
    readModel
      .query(storedBlobQueries)
      .due(0, { completed: before, failed: Number.MAX_SAFE_INTEGER }, limit)
      .map(({ named, ...rest }) => {
        const kinds = named.map((key) => /^conv_\w+\/(\w+)-[0-9a-f]{64}$/.exec(key)?.[1]);
        t.ok(['request', 'request,document,manifest'].includes(kinds.join()), named.join());
        return rest;
      });
  const requests = [3, 1, 2, 4].map((n) => request(n, 1));
  await write(log, [opening(1, 100), ...requests, completion(3, 1), completion(1, 1)]);
  await runner.waitFor(await write(log, [failure(4, 1), failure(2, 1)]));
  const ends = new Map(
    (await log.store.readAll())
      .filter((event) => /Completed|Failed/.test(event.type))
      .map((event) => [event.stream, event.id]),
  );
  const row = (n: number) => ({
    conversionId: conversionId(n),
    accountId: accountId(1),
    endedEventId: ends.get(`conversion-${conversionId(n)}`),
    isAskedFor: false,
  });
  t.strictSame(due(0), [row(2), row(4)]);
  t.strictSame(due(NOW + 903), [row(2), row(4), row(1)]);
  t.strictSame(due(NOW + 904), [row(2), row(4), row(1), row(3)]);
  t.strictSame(due(NOW + 904, 3), [row(2), row(4), row(1)]);
  t.strictSame(due(NOW + 904, 1), [row(2)]);
  await runner.waitFor(await write(log, [expiry(1, 1), expiry(2, 1)]));
  t.strictSame(due(NOW + 904), [row(4), row(3)]);
});

void test('what is kept of a conversion, and the bytes of its account', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const kept = (n: number) => readModel.query(storedBlobQueries).of(conversionId(n));
  const bytes = (n = 1) => readModel.query(storedBlobQueries).bytesOf(accountId(n));
  await runner.waitFor(await write(log, [opening(1, 100), opening(2, 100)]));
  t.strictSame([kept(1), bytes()], [undefined, 0]);
  await runner.waitFor(await write(log, [request(1, 1), request(2, 1), request(3, 2)]));
  t.strictSame(kept(1), { hashes: [sha256(1)] });
  t.strictSame([bytes(), bytes(2)], [10 + 20, 30]);
  await runner.waitFor(await write(log, [completion(1, 1), failure(2, 1)]));
  const hashes = [sha256(1), sha256(1), sha256(1)];
  t.strictSame(kept(1), { hashes, endedAt: NOW + 901 }, 'request, document and manifest');
  t.strictSame(kept(2), { hashes: [sha256(2)], endedAt: NOW + 902 });
  t.equal(bytes(), 3 * 10 + 20);
  await runner.waitFor(await write(log, [expiry(2, 1)]));
  t.equal(bytes(), 3 * 10);
  await runner.waitFor(await write(log, [expiry(1, 1)]));
  t.strictSame([kept(1), kept(2), bytes(), bytes(2)], [undefined, undefined, 0, 30]);
});

void test('no refund is due to an erased account, for what failed before it or fails after', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  await write(log, [opening(1, 5), opening(2, 5), request(1, 1), request(2, 1), request(3, 2)]);
  await runner.waitFor(await write(log, [failure(1, 1), failure(3, 2)]));
  const due = () =>
    readModel
      .query(refundsDueQueries)
      .next(10)
      .map(({ conversionId: id }) => id);
  t.strictSame(due(), [conversionId(1), conversionId(3)]);
  await log.append(`account-${accountId(1)}`, {
    type: 'AccountErased',
    data: { accountId: accountId(1) },
  });
  await runner.waitFor(await write(log, [failure(2, 1)]));
  t.strictSame(due(), [conversionId(3)]);
});
