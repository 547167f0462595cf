import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { cliJson } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { type LogEvent, readLog, violations } from '../support/invariants.ts';
import { startReceiver } from '../support/receiver.ts';
import { createService, Service, startService } from '../support/service.ts';

/** Long enough for a test to come in between, on a busy machine too. */
const SLOW = { html: '<h1>Slow</h1>', wait_for: { delay_ms: 8000 } };

const opened = async (url: string): Promise<number> => (await fetch(url)).status;

/** Waits for a line of its log: lines are written in the background. */
const says = ({ output }: Service, line: RegExp) =>
  eventually('its line', () => line.test(output.stderr) || undefined);

/** A second process on the same directories; ended with the test. */
function beside(t: Test, { place }: Service): Service {
  const other = new Service(place);
  t.teardown(() => other.kill());
  return other;
}

const dataOf = ({ data }: LogEvent): Readonly<Record<string, unknown>> => JSON.parse(data);

/** What renderers began, in order. */
const startsOf = (dataDir: string, conversionId?: string) =>
  readLog(dataDir)
    .filter(({ type }) => type === 'ConversionStarted')
    .map(dataOf)
    .filter((data) => conversionId === undefined || data['conversionId'] === conversionId);

const renderersOf = (dataDir: string): number =>
  new Set(startsOf(dataDir).map(({ renderer }) => renderer)).size;

void test('one of two processes renders, and the other takes over when it is killed', async (t) => {
  const first = await startService(t, { RENDER_CONCURRENCY: '2' });
  const { dataDir } = first.place;
  const second = beside(t, first);
  await second.start();
  t.not(second.url, first.url);
  await says(second, /the renderer runs in another process/);
  t.notMatch(second.output.stdout, /pk_live_/, 'the first account is opened once');
  const { apiKey } = first.firstStart;
  const [here, there] = [first.client(), second.client(apiKey)];

  const { id } = await there.create({ html: '<h1>Asked of the one that stands by</h1>' });
  t.equal((await there.wait(id)).status, 'completed');
  t.equal((await here.get(id)).status, 'completed');
  t.equal(renderersOf(dataDir), 1);

  // The name of a document, and the name under which each finds it at once.
  const find = (client: typeof here, word: string) => client.listConversions({ q: word });
  for (const [n, asked] of [here, there, here].entries()) {
    const named = await asked.create({ html: '<p>x</p>', filename: `Reminder ${n}.pdf` });
    for (const each of [here, there]) {
      t.strictSame(
        (await find(each, `remind ${n}`)).items.map((item) => item.id),
        [named.id],
      );
    }
    t.equal((await asked.wait(named.id)).status, 'completed');
  }

  const shared = await here.links.create(id, { expiresIn: 3600 });
  const elsewhere = shared.url.replace(first.url, second.url);
  t.strictSame([await opened(elsewhere), await opened(shared.url)], [200, 200]);
  t.match((await there.links.list(id)).items, [{ id: shared.id, downloads: 1 }]);
  await there.links.revoke(id, shared.id);
  t.strictSame([await opened(shared.url), await opened(elsewhere)], [403, 403]);

  const slow = await Promise.all(
    Array.from({ length: 4 }, async (_, n) => (await (n % 2 ? here : there).create(SLOW)).id),
  );
  await eventually('two to be under way', () => startsOf(dataDir).length === 6 || undefined);
  t.match(await first.kill(), { signal: 'SIGKILL' });
  for (const each of slow) t.equal((await there.wait(each)).status, 'completed', each);
  await says(second, /this one takes over/);
  t.equal(renderersOf(dataDir), 2);
  const attempts = slow.map((each) => startsOf(dataDir, each).length);
  t.strictSame(
    attempts.toSorted((a, b) => a - b),
    [1, 1, 2, 2],
    'what was cut off is begun again',
  );
  t.equal((await fetch(`${second.url}/readyz`)).status, 200);
  t.strictSame(violations(readLog(dataDir), { settled: true }), []);

  // The one that was killed comes back and stands by in its turn; a stop hands over too.
  await first.start();
  await says(first, /the renderer runs in another process/);
  t.match(await second.stop(), { code: 0, signal: null });
  const last = await first.client().create({ html: '<p>after the stop</p>' });
  t.equal((await first.client().wait(last.id)).status, 'completed');
  t.equal(renderersOf(dataDir), 3);
  t.match(await first.stop(), { code: 0, signal: null });
  t.strictSame(await first.leftovers(), []);
  t.strictSame(await second.leftovers(), []);
  t.strictSame(violations(readLog(dataDir), { settled: true }), []);
});

void test('webhooks that a killed process had under way are sent by the other, under the same ids', async (t) => {
  const receiver = await startReceiver(t);
  const first = await startService(t, { ALLOW_PRIVATE_NETWORK: 'true' });
  const second = beside(t, first);
  await second.start();
  const { webhooks } = second.client(first.firstStart.apiKey);
  const { id } = await webhooks.create({ url: receiver.url });
  const recorded = await webhooks.test(id);
  const inState = (delivery: string) =>
    eventually(`${delivery} to be delivered`, async () => {
      const found = await webhooks.delivery(delivery);
      return found.status === 'delivered' ? found : undefined;
    });
  await inState(recorded.id);
  receiver.answerWith(() => {});
  const cutOff = [(await webhooks.test(id)).id, (await webhooks.test(id)).id];
  await receiver.count(3);
  receiver.answerWith((response) => response.writeHead(204).end());
  t.match(await first.kill(), { signal: 'SIGKILL' });
  const received = (await receiver.count(5)).map((each) => each.id);
  t.strictSame(received.slice(1, 3).toSorted(), cutOff.toSorted());
  t.strictSame(received.slice(3).toSorted(), cutOff.toSorted(), 'what was recorded is not sent');
  for (const each of cutOff) t.equal((await inState(each)).attempts.length, 1);
  const tried = readLog(first.place.dataDir)
    .filter(({ type }) => type === 'DeliveryAttempted')
    .map((each) => dataOf(each)['deliveryId']);
  t.strictSame(new Set(tried), new Set(received));
  t.equal(tried.length, 3, 'the log has one try of each');
  await says(second, /this one takes over/);
});

void test('two processes start at once on an empty store', async (t) => {
  const service = createService(t);
  const other = beside(t, service);
  await Promise.all([service.start(), other.start()]);
  const welcomed = [service, other].filter(({ output }) => output.stdout.includes('Sign-in:'));
  t.equal(welcomed.length, 1, 'one of them opened the first account');
  const [{ firstStart } = service] = welcomed;
  for (const each of [service, other]) {
    const client = each.client(firstStart.apiKey);
    const { id } = await client.create({ html: '<p>one</p>' });
    t.equal((await client.wait(id)).status, 'completed');
  }
  for (const each of [service, other]) t.match(await each.stop(), { code: 0, signal: null });
  const { dataDir } = service.place;
  t.equal(readLog(dataDir).filter(({ type }) => type === 'AccountOpened').length, 1);
  t.equal(renderersOf(dataDir), 1);
  t.strictSame(violations(readLog(dataDir), { settled: true }), []);
  t.strictSame(await service.leftovers(), []);
});

void test('convert on the command line uses the renderer of the service beside it', async (t) => {
  const service = await startService(t);
  const { place } = service;
  const { dataDir } = place;
  const { id } = await service.client().create({ html: '<p>by the service</p>' });
  await service.client().wait(id);
  const source = join(place.tmpDir, '..', 'letter.html');
  const target = join(place.tmpDir, '..', 'letter.pdf');
  writeFileSync(source, '<h1>A letter</h1>');
  t.match(await cliJson(place, ['convert', source, '-o', target]), { status: 'completed' });
  t.ok(existsSync(target));
  t.equal(startsOf(dataDir).length, 2);
  t.equal(renderersOf(dataDir), 1);

  // The service goes while the command waits: then the command renders it itself.
  writeFileSync(source, SLOW.html);
  const delay = String(SLOW.wait_for.delay_ms);
  const convert = ['convert', source, '-o', target, '--wait-for-delay-ms', delay];
  const converting = cliJson(place, convert);
  await eventually('its start', () => startsOf(dataDir).length === 3 || undefined);
  await service.kill();
  t.match(await converting, { status: 'completed' });
  t.equal(renderersOf(dataDir), 2);
  t.strictSame(violations(readLog(dataDir), { settled: true }), []);
  t.strictSame(await service.leftovers(), []);
});

void test('files and requests go when their retention ends', async (t) => {
  const service = await startService(t, {
    // Long enough for the client to see the link.
    RETENTION_SECONDS: '8',
    FAILED_RETENTION_SECONDS: '1',
    FILE_URL_TTL_SECONDS: '3600',
  });
  const { dataDir } = service.place;
  const client = service.client();
  const [good, large, bad] = await Promise.all([
    client.create({ html: '<p>kept for some seconds</p>' }),
    client.create({ html: `<p>large</p><!--${'x'.repeat(300_000)}-->` }),
    client.create({ html: '<p>one page</p>', page_ranges: '7' }),
  ]);
  const record = await client.wait(good.id);
  t.equal(record.status, 'completed');
  const events = (): LogEvent[] => readLog(dataDir);
  const expired = (): Set<unknown> =>
    new Set(
      events()
        .filter(({ type }) => type === 'ConversionExpired')
        .map((event) => dataOf(event)['conversionId']),
    );
  await eventually('three expirations', () => expired().size === 3 || undefined);
  for (const { id } of [good, large, bad]) t.ok(expired().has(id), id);

  const gone = await fetch(record.file_url ?? '');
  t.equal(gone.status, 410);
  t.match(await gone.json(), { error: 'gone' });
  t.match(await client.get(good.id), { status: 'completed' }, 'its record stays');
  await t.rejects(client.download(await client.get(good.id)), { code: 'gone' });
  const files = readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true });
  t.strictSame(
    files.filter((entry) => entry.isFile()).map(({ name }) => name),
    ['log'],
    'no blob is left but for the mark of the log that owns the store',
  );
  t.strictSame(violations(events(), { settled: true }), []);
});
