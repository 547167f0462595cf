import { test } from 'tap';
import {
  endOf,
  LONGEST_WAIT_FOR_DOWNLOAD_MS,
  requestedRetentionMs,
} from '../../../src/domain/retention.ts';
import { NOW } from '../../support/samples.ts';

void test('a conversion has completed, was cancelled or has failed', (t) => {
  t.equal(endOf({ completedAt: NOW }), 'completed');
  t.equal(endOf({ completedAt: 0 }), 'completed');
  t.equal(endOf({ failureCode: 'cancelled' }), 'cancelled');
  t.equal(endOf({ failureCode: 'timeout' }), 'failed');
  t.equal(endOf({}), 'failed');
  t.end();
});

void test('what is kept as long as its client asked, and what waits for a download', (t) => {
  for (const seconds of [undefined, 0, 60]) t.equal(requestedRetentionMs(seconds, 'cancelled'), 0);
  for (const end of ['completed', 'failed'] as const) {
    t.equal(requestedRetentionMs(undefined, end), Number.POSITIVE_INFINITY);
    t.equal(requestedRetentionMs(60, end), 60_000);
  }
  t.equal(LONGEST_WAIT_FOR_DOWNLOAD_MS, 60 * 60 * 1000);
  t.equal(requestedRetentionMs(0, 'completed'), LONGEST_WAIT_FOR_DOWNLOAD_MS);
  t.equal(requestedRetentionMs(0, 'failed'), 0);
  t.end();
});
