import { test } from 'tap';
import { failureQueries, KEPT_FAILURES } from '../../../projections/failures.ts';
import type { RecordedEvent } from '../../../src/event-store/port.ts';
import { openProjected } from '../../support/projected.ts';
import { accountId, conversionId, NOW } from '../../support/samples.ts';

const failed = (n: number): RecordedEvent => ({
  id: `${n}`,
  stream: `conversion-${conversionId(n)}`,
  revision: 0,
  position: BigInt(n),
  type: 'ConversionFailed',
  data: {
    accountId: accountId(),
    conversionId: conversionId(n),
    code: 'timeout',
    message: 'sealed',
    renderer: 'r1',
    attempt: 2,
    failedAt: NOW + n,
  },
  metadata: {
    correlationId: '',
    causationId: '',
    actor: { kind: 'service' },
    time: NOW,
    schemaVersion: 1,
  },
});

void test('the latest failures are kept, newest first', (t) => {
  const { readModel } = openProjected(t);
  const page = (offset: number, limit: number) =>
    readModel.query(failureQueries).page({ offset, limit });
  const idsOf = (offset: number, limit: number) =>
    page(offset, limit).rows.map((row) => row.conversionId);
  t.strictSame(page(0, 10), { rows: [], total: 0 });
  const events = Array.from({ length: KEPT_FAILURES + 3 }, (_, n) => failed(n + 1));
  readModel.writer().apply(0n, events.slice(0, 2));
  t.strictSame(page(1, 9), {
    rows: [
      {
        conversionId: conversionId(1),
        accountId: accountId(),
        code: 'timeout',
        source: null,
        attempt: 2,
        renderer: 'r1',
        failedAt: NOW + 1,
      },
    ],
    total: 2,
  });
  readModel.writer().apply(2n, events.slice(2));
  t.equal(page(0, 1).total, KEPT_FAILURES);
  t.strictSame(idsOf(0, 2), [conversionId(KEPT_FAILURES + 3), conversionId(KEPT_FAILURES + 2)]);
  t.strictSame(idsOf(KEPT_FAILURES - 1, 5), [conversionId(4)], 'older ones are gone');
  t.end();
});
