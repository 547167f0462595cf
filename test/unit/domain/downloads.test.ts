import { test } from 'tap';
import {
  type Downloads,
  noDownloads,
  recordable,
  recordDownload,
  withDownload,
} from '../../../src/domain/downloads.ts';
import { accountId, conversionId, sha256 } from '../../support/samples.ts';

const MINUTE_MS = 60_000;
const START = 1000 * MINUTE_MS;

const after = (...seen: readonly (readonly [network: string, at: number])[]): Downloads =>
  seen.reduce(
    (state, [network, downloadedAt]) => withDownload(state, { network, downloadedAt }),
    noDownloads,
  );

void test('a download is recorded once for each network and minute', (t) => {
  t.equal(recordable(noDownloads, 'a', START), 'one of many');
  const once = after(['a', START]);
  t.equal(recordable(once, 'a', START), undefined);
  t.equal(recordable(once, 'a', START + MINUTE_MS - 1), undefined, 'the same minute');
  t.equal(recordable(once, 'a', START + MINUTE_MS), 'one of many', 'the next one');
  t.equal(recordable(once, 'a', START - 1), undefined, 'a node whose clock lags');
  t.equal(recordable(once, 'b', START), 'one of many');
  const both = after(['a', START], ['b', START + 1]);
  t.equal(recordable(both, 'a', START), undefined);
  t.equal(recordable(both, 'b', START), undefined);
  const late = after(['a', START + MINUTE_MS], ['b', START]);
  t.strictSame(late.lastDownloads, { minute: 1001, networks: ['a', 'b'] });
  t.strictSame(after(['a', START], ['b', START + MINUTE_MS]).lastDownloads, {
    minute: 1001,
    networks: ['b'],
  });
  t.end();
});

const of = (downloads: number): Downloads => ({ ...noDownloads, downloads });

void test('the hundredth download says that no more are recorded', (t) => {
  t.equal(recordable(of(98), 'a', START), 'one of many');
  t.equal(recordable(of(99), 'a', START), 'last');
  t.equal(recordable(of(100), 'a', START), undefined);
  t.equal(withDownload(of(99), { network: 'a', downloadedAt: START }).downloads, 100);
  t.end();
});

void test('the history says whether a link was used', (t) => {
  const ids = { accountId: accountId(), conversionId: conversionId(), network: sha256(1) };
  const command = { type: 'RecordDownload', ...ids, at: START } as const;
  const data = { ...ids, downloadedAt: START };
  const decide = (more: { readonly link?: string }) =>
    recordDownload({ ...command, ...more }, noDownloads);
  t.strictSame(decide({}), [{ type: 'DocumentDownloaded', data }]);
  const link = sha256(2);
  t.strictSame(decide({ link }), [{ type: 'DocumentDownloaded', data: { ...data, link } }]);
  t.end();
});
