import { test } from 'tap';
import { parseJob } from '../../src/render-queue/job-schema.ts';
import { renderJob } from '../support/render-queue.ts';

const parsed = (job: unknown) => parseJob(Buffer.from(JSON.stringify(job)));

void test('a job is taken as it was offered, and nothing that only looks like one', (t) => {
  const job = renderJob(1);
  t.strictSame(parsed(job), job);
  const { key } = renderJob(2).request;
  const bad: unknown[] = [
    null,
    [],
    'job',
    { ...job, conversionId: '../../../../tmp/victim' },
    { ...job, accountId: 'acct_1' },
    { ...job, attempt: 0 },
    { ...job, attempt: 5 },
    { ...job, attempt: 1e300 },
    { ...job, attempt: 1.5 },
    { ...job, request: { ...job.request, key } },
    { ...job, request: { ...job.request, sha256: 'x' } },
    { ...job, options: { ...job.options, scale: '1' } },
    { ...job, more: true },
    { ...job, contentKey: undefined },
    { ...job, contentKey: `${job.contentKey}A` },
    { ...job, contentKey: Buffer.alloc(32, 0xff).toString('base64') },
  ];
  for (const each of bad) t.equal(parsed(each), undefined, JSON.stringify(each)?.slice(0, 80));
  t.equal(parseJob(Buffer.from('{')), undefined);
  t.equal(parseJob(Buffer.from([0xff, 0xfe])), undefined);
  t.end();
});
