import { test } from 'tap';
import type { PressledgerError } from '../../client/src/errors.ts';
import { eventually } from '../support/deadline.ts';
import { violations } from '../support/invariants.ts';
import { createServiceOnOwnMount, noOwnMounts } from '../support/own-mounts.ts';

const MOST_REQUESTS = 2000;
const REFUSALS_IN_A_ROW = 10;

void test('a full disk stops acceptance and nothing else', { skip: noOwnMounts }, async (t) => {
  const ballast = 'head -c 16M /dev/zero > "$DATA_DIR/ballast"';
  const { service, log, remove } = createServiceOnOwnMount(t, '40m', ballast, {
    FREE_CREDITS: '100000',
    RATE_LIMIT_PRO: '1000000',
    // To the last byte: what keeps some free is tested elsewhere.
    MIN_FREE_DISK_BYTES: '0',
  });
  await service.start();
  const { apiKey } = service.firstStart;
  const accepted: string[] = [];
  const post = async (html: string): Promise<Response> => {
    const answer = await fetch(`${service.url}/api/v1/pdf/`, {
      method: 'POST',
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ html }),
    });
    if (answer.status === 202) accepted.push(((await answer.json()) as { id: string }).id);
    return answer;
  };

  let refusals = 0;
  for (let n = 0; n < MOST_REQUESTS && refusals < REFUSALS_IN_A_ROW; n += 1) {
    // Large documents first, then ones that fit into the last free pages.
    const filling = refusals === 0 ? 'x'.repeat(400_000) : '';
    const answer = await post(`<p>Document ${n}</p><!--${filling}-->`);
    if (answer.status === 202) {
      refusals = Math.min(refusals, 1);
      continue;
    }
    refusals += 1;
    t.equal(answer.status, 503);
    t.match(answer.headers.get('retry-after'), /^[1-9][0-9]*$/);
    const body = await answer.json();
    t.match(body, { error: 'service_unavailable', message: /./ });
    t.notMatch(JSON.stringify(body), /SQLITE|ENOSPC|disk/i, 'nothing internal');
  }
  t.equal(refusals, REFUSALS_IN_A_ROW, `full after ${accepted.length} conversions`);
  const requested = () =>
    log()
      .filter(({ type }) => type === 'ConversionRequested')
      .map(({ data }) => (JSON.parse(data) as { conversionId: string }).conversionId);
  t.strictSame(requested().toSorted(), accepted.toSorted(), 'accepted is what is on disk');
  t.strictSame(violations(log(), { settled: false }), []);
  const client = service.client();
  // The read models cannot follow the log now, so a record may be refused, but not denied.
  const answer = await client.get(accepted[0] ?? '').then(
    ({ id }) => id,
    (error: PressledgerError) => error.code,
  );
  t.ok(answer === accepted[0] || answer === 'service_unavailable', answer);

  const readiness = async () => await fetch(`${service.url}/readyz`);
  // A conversion that fails frees the last pages, and a small write may fit again: fill those, too.
  const unready = await eventually('unreadiness', async () => {
    await post('<p>one more</p>');
    const ready = await readiness();
    return ready.status === 503 ? ready : undefined;
  });
  t.match(await unready.json(), { details: { missing: [/takes no writes: the disk is full/] } });

  remove('ballast');
  const again = async () => ((await post('<p>room again</p>')).status === 202 ? true : undefined);
  t.ok(await eventually('acceptance with room on the disk', again));
  await eventually('readiness', async () => (await readiness()).ok || undefined);
  for (const id of accepted) {
    const { status } = await client.wait(id);
    t.equal(status, 'completed', `${id}: what failed for want of room was tried again`);
  }
  const settled = () => violations(log(), { settled: true }).length === 0 || undefined;
  await eventually('everything to settle', settled).catch(() => {});
  t.strictSame(violations(log(), { settled: true }), []);
  t.match(await service.stop(), { code: 0, signal: null });
});

void test('a disk that fills while a page is rendered costs it no try', {
  skip: noOwnMounts,
}, async (t) => {
  const { service, log, fill, remove } = createServiceOnOwnMount(t, '40m', 'true', {
    MIN_FREE_DISK_BYTES: '0',
  });
  await service.start();
  const client = service.client();
  const { id } = await client.create({ html: '<p>slow</p>', wait_for: { delay_ms: 3000 } });
  await eventually('its start', async () =>
    (await client.get(id)).status === 'processing' ? true : undefined,
  );
  fill('ballast');
  const said = () => /nothing can be written/.test(service.output.stderr) || undefined;
  await eventually('the renderer to see why it failed', said);
  remove('ballast');
  t.match(await client.wait(id), { status: 'completed' });
  t.strictSame(violations(log(), { settled: true }), []);
  t.match(await service.stop(), { code: 0, signal: null });
});

void test('a data directory on a read-only disk', { skip: noOwnMounts }, async (t) => {
  const readOnly = 'mount -o remount,ro "$DATA_DIR"';
  const { service } = createServiceOnOwnMount(t, '1m', readOnly);
  t.match(await service.startInVain(), { code: 1 });
  t.match(service.output.stderr, /^pressledger: [^\n]*read-only[^\n]*\n$/i);
});
